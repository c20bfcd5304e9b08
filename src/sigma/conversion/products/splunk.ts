import { type Column, column, type Events, isOneOf, type Places } from '../columns.ts';
import { ANY, both, constant, type Expression, type Pattern } from '../expression.ts';
import { own } from '../own.ts';
import { isFieldName } from './field-names.ts';
import { type LogSource, windowsCondition, windowsOrigin } from './windows.ts';

const isAt = (name: string, value: string) => isOneOf(column(name), value);
const tagged = (...tags: string[]) => both(tags.map((tag) => isAt('tag', tag)));
const patternIs = (name: string, pattern: Pattern): Expression<Column> => ({
  kind: 'comparison',
  field: column(name),
  test: { kind: 'pattern', pattern, isCased: false },
});

/** The fields of the Common Information Model, and the tags of its events. */
const CIM: Readonly<
  Record<string, { condition: Expression<Column>; names: Readonly<Record<string, string>> } | undefined>
> = {
  proxy: {
    condition: tagged('web', 'proxy'),
    names: {
      'c-uri': 'url',
      'c-uri-query': 'uri_query',
      'c-uri-stem': 'uri_path',
      'c-useragent': 'http_user_agent',
      'cs-cookie': 'cookie',
      'cs-host': 'url_domain',
      'cs-method': 'http_method',
      'cs-referer': 'http_referrer',
      'cs-referrer': 'http_referrer',
      'cs-user-agent': 'http_user_agent',
      'sc-status': 'status',
      'cs-bytes': 'bytes_out',
      'sc-bytes': 'bytes_in',
      dst_ip: 'dest_ip',
      src_ip: 'src_ip',
    },
  },
  webserver: {
    condition: tagged('web'),
    names: {
      'c-ip': 'src_ip',
      'c-uri': 'url',
      'cs-cookie': 'cookie',
      'cs-host': 'url_domain',
      'cs-method': 'http_method',
      'cs-referer': 'http_referrer',
      'cs-referrer': 'http_referrer',
      'cs-uri': 'url',
      'cs-uri-query': 'uri_query',
      'cs-uri-stem': 'uri_path',
      'cs-user-agent': 'http_user_agent',
      'sc-status': 'status',
    },
  },
  firewall: {
    condition: tagged('network', 'communicate'),
    names: {
      action: 'action',
      dst_ip: 'dest_ip',
      dst_port: 'dest_port',
      src_ip: 'src_ip',
      src_port: 'src_port',
    },
  },
  dns: {
    condition: tagged('network', 'resolution', 'dns'),
    names: { answer: 'answer', query: 'query', record_type: 'record_type', src_ip: 'src_ip' },
  },
};

/** The source types of Splunk's add-ons, whose fields have the names of the records. */
const SOURCE_TYPES: Readonly<Record<string, string | undefined>> = {
  'aws/cloudtrail': 'aws:cloudtrail',
  'gcp/gcp.audit': 'google:gcp:pubsub:message',
  'gcp/google_workspace.admin': 'gws:reports:admin',
  'm365/audit': 'o365:management:activity',
  'm365/exchange': 'o365:management:activity',
  'okta/okta': 'OktaIM2:log',
};
/** Lists in CloudTrail's records; Splunk names their elements with braces: `items{}.group`. */
const LISTS = new Set(['items', 'policyArns', 'valuesToAdd', 'eventSelectors', 'Grant']);

const asWritten = (field: string) => (isFieldName(field) ? column(field) : undefined);

function named(names: Readonly<Record<string, string>>): Events['place'] {
  const places: Places = Object.fromEntries(
    Object.entries(names).map(([field, name]) => [field, column(name)]),
  );
  return (field) => own(places, field);
}

const LINUX: Readonly<Record<string, string>> = {
  process_creation: '1',
  network_connection: '3',
  file_event: '11',
  file_delete: '23',
};

/** Returns the events of a log source in Splunk: of its add-ons for Windows, Sysmon and others, or of the Common Information Model. */
export function splunkEvents(source: LogSource): Events {
  return { ...eventsOf(source), text: column('_raw') };
}

function eventsOf(source: LogSource): Events {
  const { product, category, service } = source;
  const cim = own(CIM, category);
  if (cim && service === '')
    return { table: '', isMapped: true, condition: cim.condition, place: named(cim.names) };
  const origin = product === 'windows' ? windowsOrigin(source) : undefined;
  if (origin) {
    const columns = { channel: column('source'), id: column('EventCode'), type: column('EventType') };
    const others = windowsCondition({ ...origin, channels: [] }, columns, isOneOf);
    // Events in XML have sources that begin with XmlWinEventLog.
    const channels = origin.channels.map((channel) => patternIs('source', [ANY, `WinEventLog:${channel}`]));
    const place = (field: string) =>
      field === 'EventID' ? columns.id : field === 'Provider_Name' ? column('SourceName') : asWritten(field);
    const from: Expression<Column> =
      channels.length === 1 && channels[0] ? channels[0] : { kind: 'or', parts: channels };
    return { table: '', isMapped: true, condition: both([from, others]), place };
  }
  const id = product === 'linux' && service === '' ? own(LINUX, category) : undefined;
  if (id !== undefined) {
    const condition = both([isAt('sourcetype', 'sysmon:linux'), isAt('EventCode', id)]);
    return { table: '', isMapped: true, condition, place: asWritten };
  }
  const sourceType = own(SOURCE_TYPES, `${product}/${service}`);
  if (sourceType === undefined)
    return { table: '', isMapped: false, condition: constant(true), place: asWritten };
  const braced = (field: string) =>
    product === 'aws'
      ? field
          .split('.')
          .map((part) => (LISTS.has(part) ? `${part}{}` : part))
          .join('.')
      : field;
  return {
    table: '',
    isMapped: true,
    condition: isAt('sourcetype', sourceType),
    place: (field) => (isFieldName(field) ? column(braced(field)) : undefined),
  };
}
