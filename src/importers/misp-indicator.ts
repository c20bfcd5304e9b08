import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-address.ts';
import type { IndicatorType, Severity, Tlp } from '../model/vocabulary.ts';
import { certificateHash } from './csv-types.ts';
import { parseUnixSeconds } from './dates.ts';
import type { ImportRecord, IndicatorRecord } from './importer.ts';
import { clusterRecords, indicatedIds, tagsWithoutLink, withReport } from './misp-clusters.ts';
import { type MispTags, mispTags, stixId } from './misp-fields.ts';
import {
  addressType,
  dateOf,
  type Fields,
  field,
  isObject,
  isTrue,
  notBefore,
  printable,
  RecordRejected,
  rejectedBy,
  rejectedRecord,
  relationshipRecord,
  tagsOf,
  textOf,
  withoutPort,
} from './record-fields.ts';

/** The values that the attributes of an event inherit from it. */
export interface EventContext {
  reportId: string | null;
  date: Date | null;
  severity: Severity | null;
  tlp: Tlp | null;
  /** The tags that every indicator of the event gets. */
  tags: string[];
  /** External ids of the entities that every indicator of the event indicates. */
  indicated: string[];
}

/**
 * Yields the indicators of an attribute, or the reason for its rejection, and the links of their external id.
 */
export function* readAttribute(
  attribute: unknown,
  event: EventContext,
  where: string,
): Generator<ImportRecord> {
  try {
    if (!isObject(attribute)) throw new RecordRejected('not an object');
    const type = textOf(field(attribute, 'type'));
    const value = field(attribute, 'value');
    if (type === null) throw new RecordRejected('no type');
    // An ignored type is ignored, whatever else is wrong with the attribute.
    const observables = attributeObservables(type, typeof value === 'string' ? value : '');
    if (observables.length === 0) return;
    if (isTrue(field(attribute, 'deleted'))) throw new RecordRejected('deleted in its source');
    const tags = mispTags(attribute);
    const shared = sharedFields(attribute, tags, event);
    const accepted = observables.filter((observable) => !('rejected' in observable));
    for (const observable of observables) {
      if ('rejected' in observable) yield rejectedRecord('indicator', observable.rejected, where);
      else yield { ...shared, ...observable };
    }
    if (accepted.length > 0) yield* links(attribute, shared, event);
  } catch (error) {
    yield rejectedBy(error, 'indicator', where);
  }
}

function sharedFields(attribute: Fields, tags: MispTags, event: EventContext) {
  const statedAt = parseUnixSeconds(field(attribute, 'timestamp'));
  const firstSeen = dateOf(attribute, 'first_seen') ?? event.date ?? statedAt;
  const lastSeen = dateOf(attribute, 'last_seen') ?? statedAt ?? firstSeen;
  const toIds = field(attribute, 'to_ids');
  return {
    kind: 'indicator' as const,
    externalIds: stixId('indicator', attribute),
    statedAt,
    tlp: tags.tlp ?? event.tlp,
    confidence: null,
    severity: event.severity,
    tags: tagsOf(tags.plain, tagsWithoutLink(tags.galaxy), event.tags),
    firstSeen,
    lastSeen: notBefore(firstSeen, lastSeen),
    expiresAt: null,
    forDetection: toIds === undefined || isTrue(toIds),
  };
}

/**
 * Yields the links from the report to the indicator, and from the indicator to what the event, or the
 * attribute alone, indicates.
 */
function* links(
  attribute: Fields,
  shared: Pick<IndicatorRecord, 'externalIds' | 'tlp' | 'statedAt'>,
  event: EventContext,
): Generator<ImportRecord> {
  const [id] = shared.externalIds;
  if (id === undefined) return;
  const own = clusterRecords(attribute, shared.tlp, shared.statedAt);
  yield* withReport(own, event.reportId);
  if (event.reportId !== null) yield relationshipRecord('refers-to', event.reportId, id, shared.tlp);
  for (const to of new Set([...event.indicated, ...indicatedIds(own)]))
    yield relationshipRecord('indicates', id, to, shared.tlp);
}

type Part = (value: string) => NormalizeResult;

const as =
  (type: IndicatorType): Part =>
  (value) =>
    normalize(type, value);
const address: Part = (value) => normalize(addressType(value), value);
const REJECTED_HALF: NormalizeResult = { rejected: 'composite value without its second part' };

/** The normalizers of each attribute type; two for a composite, whose halves are separated by `|`. */
const PARTS_BY_TYPE = new Map<string, [Part] | [Part, Part]>([
  ['ip-src', [address]],
  ['ip-dst', [address]],
  ['ip-src|port', [(value) => address(hostOfPair(value))]],
  ['ip-dst|port', [(value) => address(hostOfPair(value))]],
  ['domain', [as('DOMAIN')]],
  ['hostname', [as('DOMAIN')]],
  ['hostname|port', [(value) => normalize('DOMAIN', hostOfPair(value))]],
  ['domain|ip', [as('DOMAIN'), address]],
  ['url', [as('URL')]],
  ['md5', [as('MD5')]],
  ['sha1', [as('SHA1')]],
  ['sha256', [as('SHA256')]],
  ['x509-fingerprint-md5', [(value) => certificateHash('MD5', value)]],
  ['x509-fingerprint-sha1', [(value) => certificateHash('SHA1', value)]],
  ['x509-fingerprint-sha256', [(value) => certificateHash('SHA256', value)]],
  ['filename', [as('FILENAME')]],
  ['filename|md5', [as('FILENAME'), as('MD5')]],
  ['filename|sha1', [as('FILENAME'), as('SHA1')]],
  ['filename|sha256', [as('FILENAME'), as('SHA256')]],
  ['malware-sample', [as('FILENAME'), as('MD5')]],
  ['email', [as('EMAIL')]],
  ['email-src', [as('EMAIL')]],
  ['email-dst', [as('EMAIL')]],
  ['vulnerability', [as('CVE')]],
  ['btc', [as('BTC_ADDRESS')]],
  ['regkey', [as('REGISTRY_KEY')]],
  // The data after the bar belongs to the key's value, which no indicator type can hold.
  ['regkey|value', [(value) => normalize('REGISTRY_KEY', value.split('|', 1)[0] ?? '')]],
  ['mutex', [as('MUTEX')]],
  ['user-agent', [as('USER_AGENT')]],
  ['AS', [as('ASN')]],
]);

/** Types that are silently ignored: context for people, never an observable. All other types are rejected. */
const IGNORED_TYPES = new Set([
  ...['text', 'comment', 'other', 'link', 'port', 'datetime', 'counter', 'size-in-bytes', 'float', 'boolean'],
]);

/** Returns a result for each observable of an attribute; none for a type that is ignored. */
function attributeObservables(type: string, value: string): NormalizeResult[] {
  if (IGNORED_TYPES.has(type)) return [];
  const parts = PARTS_BY_TYPE.get(type);
  if (parts === undefined) return [{ rejected: `type not supported: ${printable(type)}` }];
  const [first, second] = parts;
  if (second === undefined) return [first(value)];
  // A file name may contain a bar, a hash or an address never does.
  const bar = value.lastIndexOf('|');
  if (bar < 0) return [first(value), REJECTED_HALF];
  return [first(value.slice(0, bar)), second(value.slice(bar + 1))];
}

/** Returns the host of `192.0.2.1|443`, as MISP writes it, or of `192.0.2.1:443`, as people do. */
function hostOfPair(value: string): string {
  const bar = value.indexOf('|');
  return bar < 0 ? withoutPort(value) : value.slice(0, bar);
}
