import {
  addressOrText,
  type Column,
  column,
  decimalRegistryData,
  type Events,
  hash,
  hashes,
  isExactly,
  type Places,
  REGISTRY_NUMBER,
  renamed,
  rewritten,
  user,
} from '../columns.ts';
import { both, constant, type Expression, either } from '../expression.ts';
import { own } from '../own.ts';
import { Unconvertible } from '../unconvertible.ts';
import { isFieldName } from './field-names.ts';
import { type LogSource, windowsCondition, windowsOrigin } from './windows.ts';

const truth = (name: string) => column(name, 'truth');
const number = (name: string) => column(name, 'number');
const address = (name: string) => column(name, 'address');
const isAt = (name: string, ...values: string[]) => isExactly(column(name, 'list'), ...values);

const hashesOf = (prefix: string): Places => ({
  Hashes: hashes({
    MD5: column(`${prefix}.hash.md5`),
    SHA1: column(`${prefix}.hash.sha1`),
    SHA256: column(`${prefix}.hash.sha256`),
    IMPHASH: column(`${prefix}.pe.imphash`),
  }),
  md5: hash(column(`${prefix}.hash.md5`)),
  sha1: hash(column(`${prefix}.hash.sha1`)),
  sha256: hash(column(`${prefix}.hash.sha256`)),
  Imphash: hash(column(`${prefix}.pe.imphash`)),
});
const programOf = (prefix: string): Places => ({
  ...hashesOf(prefix),
  OriginalFileName: column(`${prefix}.pe.original_file_name`),
  Description: column(`${prefix}.pe.description`),
  Product: column(`${prefix}.pe.product`),
  Company: column(`${prefix}.pe.company`),
  FileVersion: column(`${prefix}.pe.file_version`),
});
const PROCESS: Places = {
  EventID: column('event.code'),
  Image: column('process.executable'),
  CommandLine: column('process.command_line'),
  ProcessId: number('process.pid'),
  User: user(column('user.domain'), column('user.name')),
};
const SIGNATURE: Places = {
  Signed: truth('file.code_signature.signed'),
  SignatureStatus: column('file.code_signature.status'),
  Signature: column('file.code_signature.subject_name'),
};
const FILE: Places = { ...PROCESS, ...hashesOf('file'), TargetFilename: column('file.path') };
const REGISTRY: Places = {
  ...PROCESS,
  TargetObject: column('registry.path'),
  Details: rewritten(column('registry.data.strings'), decimalRegistryData, REGISTRY_NUMBER),
};

interface Kind {
  /** The fields of ECS that select the events, whatever collects them; undefined: those of Sysmon. */
  condition?: Expression<Column>;
  places: Places;
}

const kinds = (category: string, ...types: string[]) =>
  both([
    isAt('event.category', category),
    types.length === 0 ? constant(true) : isAt('event.type', ...types),
  ]);

const CATEGORIES: Readonly<Record<string, Kind | undefined>> = {
  process_creation: {
    condition: kinds('process', 'start'),
    places: {
      ...PROCESS,
      ...programOf('process'),
      CurrentDirectory: column('process.working_directory'),
      ParentImage: column('process.parent.executable'),
      ParentCommandLine: column('process.parent.command_line'),
      ParentProcessId: number('process.parent.pid'),
    },
  },
  network_connection: {
    condition: kinds('network', 'start', 'connection'),
    places: {
      ...PROCESS,
      Initiated: renamed(column('network.direction'), {
        true: ['egress', 'outbound'],
        false: ['ingress', 'inbound'],
      }),
      Protocol: column('network.transport'),
      SourceIp: address('source.ip'),
      SourcePort: number('source.port'),
      DestinationIp: address('destination.ip'),
      DestinationPort: number('destination.port'),
      DestinationHostname: column('destination.domain'),
    },
  },
  file_event: { condition: kinds('file', 'creation'), places: FILE },
  file_delete: { condition: kinds('file', 'deletion'), places: FILE },
  registry_set: {
    condition: either([
      both([isAt('event.category', 'registry'), isExactly(column('event.code'), '13')]),
      both([isAt('event.category', 'registry'), isExactly(column('event.action'), 'modification')]),
    ]),
    places: REGISTRY,
  },
  dns_query: {
    condition: both([isAt('event.category', 'network')]),
    places: { ...PROCESS, QueryName: column('dns.question.name') },
  },
  registry_add: { places: REGISTRY },
  registry_delete: { places: REGISTRY },
  registry_event: { places: REGISTRY },
  registry_rename: { places: REGISTRY },
  image_load: {
    places: { ...PROCESS, ...programOf('file'), ...SIGNATURE, ImageLoaded: column('file.path') },
  },
  driver_load: {
    places: { ...PROCESS, ...hashesOf('file'), ...SIGNATURE, ImageLoaded: column('file.path') },
  },
  pipe_created: { places: { ...PROCESS, PipeName: column('file.name') } },
  create_stream_hash: { places: FILE },
  file_change: { places: FILE },
  create_remote_thread: { places: { ...PROCESS, SourceImage: column('process.executable') } },
  process_access: { places: { ...PROCESS, SourceImage: column('process.executable') } },
  ps_script: {
    places: {
      EventID: column('event.code'),
      ScriptBlockText: column('powershell.file.script_block_text'),
      Path: column('file.path'),
    },
  },
  ps_module: { places: { EventID: column('event.code'), Payload: undefined, ContextInfo: undefined } },
  ps_classic_start: { places: { EventID: column('event.code'), Data: undefined } },
};

/** Log sources that are no product's own. */
const GENERIC: Readonly<Record<string, Places | undefined>> = {
  proxy: {
    'c-uri': column('url.original'),
    'c-uri-query': column('url.query'),
    'c-uri-stem': column('url.path'),
    'c-uri-extension': column('url.extension'),
    'c-useragent': column('user_agent.original'),
    'cs-user-agent': column('user_agent.original'),
    'cs-host': column('url.domain'),
    'cs-method': column('http.request.method'),
    'cs-referer': column('http.request.referrer'),
    'cs-referrer': column('http.request.referrer'),
    'sc-status': number('http.response.status_code'),
    src_ip: address('source.ip'),
    dst_ip: address('destination.ip'),
  },
  webserver: {
    'c-ip': address('source.ip'),
    'cs-host': column('url.domain'),
    'cs-method': column('http.request.method'),
    'cs-referer': column('http.request.referrer'),
    'cs-uri': column('url.original'),
    'cs-uri-query': column('url.query'),
    'cs-uri-stem': column('url.path'),
    'cs-user-agent': column('user_agent.original'),
    'sc-status': number('http.response.status_code'),
  },
  firewall: {
    src_ip: address('source.ip'),
    src_port: number('source.port'),
    dst_ip: address('destination.ip'),
    dst_port: number('destination.port'),
  },
  dns: {
    query: column('dns.question.name'),
    record_type: column('dns.question.type'),
    src_ip: address('source.ip'),
  },
};

/** Elastic's integrations of cloud services. */
const DATA_SETS: Readonly<Record<string, { name: string; indices: string; places: Places } | undefined>> = {
  'aws/cloudtrail': {
    name: 'aws.cloudtrail',
    indices: 'logs-aws.cloudtrail-*',
    places: {
      awsRegion: column('cloud.region'),
      errorCode: column('aws.cloudtrail.error_code'),
      errorMessage: column('aws.cloudtrail.error_message'),
      eventName: column('event.action'),
      eventSource: column('event.provider'),
      eventType: column('aws.cloudtrail.event_type'),
      sourceIPAddress: addressOrText(column('source.address'), address('source.ip')),
      userAgent: column('user_agent.original'),
      'userIdentity.accessKeyId': column('aws.cloudtrail.user_identity.access_key_id'),
      'userIdentity.accountId': column('cloud.account.id'),
      'userIdentity.arn': column('aws.cloudtrail.user_identity.arn'),
      'userIdentity.invokedBy': column('aws.cloudtrail.user_identity.invoked_by'),
      'userIdentity.principalId': column('user.id'),
      'userIdentity.sessionContext.sessionIssuer.arn': column(
        'aws.cloudtrail.user_identity.session_context.session_issuer.arn',
      ),
      'userIdentity.sessionContext.sessionIssuer.type': column(
        'aws.cloudtrail.user_identity.session_context.session_issuer.type',
      ),
      'userIdentity.type': column('aws.cloudtrail.user_identity.type'),
      'userIdentity.userName': column('user.name'),
    },
  },
  'okta/okta': {
    name: 'okta.system',
    indices: 'logs-okta.system-*',
    places: {
      'actor.alternateId': column('okta.actor.alternate_id'),
      'actor.displayName': column('okta.actor.display_name'),
      'actor.type': column('okta.actor.type'),
      'client.ipAddress': address('okta.client.ip'),
      'debugContext.debugData.threatSuspected': column('okta.debug_context.debug_data.threat_suspected'),
      displayMessage: column('okta.display_message'),
      eventType: column('event.action'),
      'outcome.reason': column('okta.outcome.reason'),
      'outcome.result': column('okta.outcome.result'),
      'securityContext.asOrg': column('okta.security_context.as.organization.name'),
      'securityContext.domain': column('okta.security_context.domain'),
      'securityContext.isProxy': truth('okta.security_context.is_proxy'),
      'securityContext.isp': column('okta.security_context.isp'),
    },
  },
  'm365/audit': office(),
  'm365/exchange': office(),
};

function office() {
  const places: Places = {
    Operation: column('event.action'),
    ResultStatus: column('o365.audit.ResultStatus'),
    UserAgent: column('user_agent.original'),
    UserId: column('o365.audit.UserId'),
    Workload: column('o365.audit.Workload'),
  };
  return { name: 'o365.audit', indices: 'logs-o365.audit-*', places };
}

/** CloudTrail's structures, of the type flattened: queries of ES|QL cannot read it. */
const FLATTENED: Readonly<Record<string, string | undefined>> = {
  additionalEventData: 'additional_event_data',
  requestParameters: 'request_parameters',
  responseElements: 'response_elements',
};

const INDICES = 'logs-*,winlogbeat-*,filebeat-*';
const WINDOWS_INDICES = 'logs-windows.*,logs-system.*,logs-endpoint.events.*,winlogbeat-*';
const UNIX_INDICES = 'logs-endpoint.events.*,auditbeat-*,logs-auditd_manager.auditd-*';

/**
 * Returns the events of a log source in the Elastic Common Schema, as Elastic's integrations and Beats write them.
 * @param language Lucene also reads fields of the type flattened, and searches events of unknown log sources by the names of the rule
 */
export function elasticEvents(source: LogSource, language: 'esql' | 'lucene'): Events {
  const { product, category, service } = source;
  const generic = service === '' ? own(GENERIC, category) : undefined;
  if (generic)
    return {
      table: INDICES,
      isMapped: true,
      condition: constant(true),
      place: (field) => own(generic, field),
    };
  const set = own(DATA_SETS, `${product}/${service}`);
  if (set)
    return {
      table: set.indices,
      isMapped: true,
      condition: isExactly(column('event.dataset'), set.name),
      place: (field) =>
        own(set.places, field) ?? (language === 'lucene' ? flattened(product, field) : undefined),
    };
  const events = product === 'windows' ? windowsEvents(source) : unixEvents(source);
  if (events) return events;
  if (language === 'esql')
    throw new Unconvertible('logsource', [product, category, service].filter(Boolean).join('/'));
  return {
    table: '',
    isMapped: false,
    condition: constant(true),
    place: (field) => (isFieldName(field) ? column(field) : undefined),
  };
}

function flattened(product: string, field: string) {
  const [first = '', ...path] = field.split('.');
  const name = product === 'aws' && isFieldName(field) ? own(FLATTENED, first) : undefined;
  return name === undefined || path.length === 0
    ? undefined
    : column(`aws.cloudtrail.flattened.${[name, ...path].join('.')}`);
}

function windowsEvents(source: LogSource): Events | undefined {
  const origin = windowsOrigin(source);
  if (!origin) return undefined;
  const columns = {
    channel: column('winlog.channel'),
    id: column('event.code'),
    type: column('winlog.event_data.EventType'),
  };
  const kind = source.category === '' ? undefined : own(CATEGORIES, source.category);
  const places: Places = {
    EventID: columns.id,
    Provider_Name: column('winlog.provider_name'),
    Channel: columns.channel,
    Computer: column('winlog.computer_name'),
    IpAddress: addressOrText(column('winlog.event_data.IpAddress'), address('source.ip')),
    Data: undefined,
    ...kind?.places,
  };
  const system = isExactly(column('host.os.type'), 'windows');
  return {
    table: WINDOWS_INDICES,
    isMapped: true,
    condition: kind?.condition
      ? both([system, kind.condition])
      : windowsCondition(origin, columns, isExactly),
    place: (field) =>
      Object.hasOwn(places, field)
        ? places[field]
        : isFieldName(field) && !field.includes('.')
          ? column(`winlog.event_data.${field}`)
          : undefined,
  };
}

function unixEvents({ product, category, service }: LogSource): Events | undefined {
  if (service !== '' || (product !== 'linux' && product !== 'macos')) return undefined;
  const kind = own(CATEGORIES, category);
  if (!kind?.condition || category.startsWith('registry')) return undefined;
  return {
    table: UNIX_INDICES,
    isMapped: true,
    condition: both([isExactly(column('host.os.type'), product), kind.condition]),
    place: (field) => own(kind.places, field),
  };
}
