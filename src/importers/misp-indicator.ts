import { uuidv5 } from '../model/identity.ts';
import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-address.ts';
import { normalizeEach } from '../model/normalize-range.ts';
import type { MispObject, SourceRecord } from '../model/source-record.ts';
import { compareTlp } from '../model/statement.ts';
import type { IndicatorType, Severity, Tlp } from '../model/vocabulary.ts';
import { certificateHash } from './csv-types.ts';
import { parseUnixSeconds } from './dates.ts';
import type { AttributeRecord, ImportRecord, IndicatorRecord } from './importer.ts';
import { clusterRecords, indicatedIds, tagsWithoutLink, withReport } from './misp-clusters.ts';
import { DELETED, type MispTags, mispTags, stixId, uuidOf, withdrawalOf } from './misp-fields.ts';
import { fileOf, inFile } from './one-file.ts';
import {
  ATTRIBUTE_NAMESPACE,
  addressType,
  attributeValue,
  beforeBar,
  dateOf,
  type Fields,
  field,
  hostOfPair,
  indicatorRecord,
  isAttributeType,
  isObject,
  isTrue,
  longTextOf,
  type Normalizer,
  normalizeHalves,
  omitAbsent,
  printable,
  REJECTED_HALF,
  RecordRejected,
  recordTextOf,
  recordValueOf,
  rejectedBy,
  rejectedRecord,
  relationshipRecord,
  shortTextOf,
  tagsOf,
  textOf,
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

/** The object that an attribute is part of. */
export interface ParentObject {
  /** null: none, or one without a uuid. */
  object: MispObject | null;
  /** The id of the file whose hashes its attributes are; null: it is no file, or not clear which. */
  file: string | null;
}

export const NO_OBJECT: ParentObject = { object: null, file: null };

/** Returns the id of the file whose hashes are among the attributes of an object `file`; null: it is not clear. */
export function fileOfAttributes(attributes: readonly unknown[]): string | null {
  return fileOf(
    attributes.flatMap((attribute) => {
      if (!isObject(attribute) || isTrue(field(attribute, 'deleted'))) return [];
      return attributeObservables(textOf(field(attribute, 'type')) ?? '', attribute) ?? [];
    }),
  );
}

/**
 * Yields the indicators of an attribute, or itself if its type is none of an indicator, or the reason for its
 * rejection, and the links of their external id.
 */
export function* readAttribute(
  attribute: unknown,
  event: EventContext,
  where: string,
  parent: ParentObject,
): Generator<ImportRecord> {
  let of: 'indicator' | 'attribute' = 'indicator';
  try {
    if (!isObject(attribute)) throw new RecordRejected('not an object');
    const type = textOf(field(attribute, 'type'));
    if (type === null) throw new RecordRejected('no type');
    const other = otherHalf(type);
    if (other !== null) {
      yield* readFileWith(other, attribute, { event, where, ...parent });
      return;
    }
    const observables = attributeObservables(type, attribute);
    of = observables === null ? 'attribute' : 'indicator';
    if (observables === null) yield* readOther(type, attribute, event, parent.object);
    else yield* readObservables(type, observables, attribute, { event, where, ...parent });
  } catch (error) {
    yield rejectedBy(error, of, where);
  }
}

interface Place extends ParentObject {
  event: EventContext;
  where: string;
}

/** Returns the type of the second half of `filename|imphash` and the like, which no indicator has; null: another type. */
function otherHalf(type: string): string | null {
  return PARTS_BY_TYPE.has(type) ? null : (/^filename\|(.+)$/.exec(type)?.[1] ?? null);
}

/** Yields a file's name as an indicator and the second half, which has no uuid of its own, as an attribute. */
function* readFileWith(type: string, attribute: Fields, place: Place): Generator<ImportRecord> {
  const value = attributeValue(field(attribute, 'value'));
  const bar = value.lastIndexOf('|');
  const name = normalize('FILENAME', bar < 0 ? value : value.slice(0, bar));
  yield* readObservables(`filename|${type}`, [name], attribute, place, true);
  if (bar < 0) throw new RecordRejected(REJECTED_HALF.rejected);
  yield* readOther(
    type,
    { ...attribute, uuid: null, value: value.slice(bar + 1) },
    place.event,
    place.object,
  );
}

function* readObservables(
  type: string,
  observables: NormalizeResult[],
  attribute: Fields,
  { event, where, object, file }: Place,
  isPart = false,
): Generator<ImportRecord> {
  const isDeleted = isTrue(field(attribute, 'deleted'));
  const accepted = observables.filter((observable) => !('rejected' in observable));
  const shared = sharedFields(attribute, mispTags(attribute), event);
  const record = recordOf(type, attribute, event, object, isPart || accepted.length > 1);
  for (const observable of inFile(observables, disclosesEvent(attribute, event) ? null : file)) {
    const made = indicatorRecord(observable, shared);
    if ('rejected' in made) yield rejectedRecord('indicator', isDeleted ? DELETED : made.rejected, where);
    else {
      made.records = [record];
      if (isDeleted) made.withdrawn = DELETED;
      yield made;
    }
  }
  if (accepted.length > 0 && !isDeleted) yield* links(attribute, shared, event, event.indicated);
}

const DIRECTIONS = { src: 'source', dst: 'destination' } as const;

function recordOf(
  type: string,
  attribute: Fields,
  event: EventContext,
  object: MispObject | null,
  isShared: boolean,
): SourceRecord {
  const side = /^(?:ip|email)-(src|dst)/.exec(type)?.[1] as 'src' | 'dst' | undefined;
  const isDisclosing = disclosesEvent(attribute, event);
  const isComposite = type.includes('|') || type === 'malware-sample';
  return omitAbsent({
    id: stixId('indicator', attribute)[0] ?? null,
    statedAt: parseUnixSeconds(field(attribute, 'timestamp'))?.toISOString() ?? null,
    reportId: isDisclosing ? null : event.reportId,
    description: recordTextOf(field(attribute, 'comment')),
    direction: side === undefined ? null : DIRECTIONS[side],
    type,
    category: shortTextOf(field(attribute, 'category')),
    original: isComposite && !isShared ? recordValueOf(field(attribute, 'value')) : null,
    object: isDisclosing ? null : partOf(object, attribute),
    isShared: isShared || null,
  });
}

/**
 * Whether the attribute is for a wider audience than its event, of which it must disclose nothing: no id, objects, files, tags,
 * threat level and date. An event without a TLP has that of its source, which may be any.
 */
function disclosesEvent(attribute: Fields, event: EventContext): boolean {
  const { tlp } = mispTags(attribute);
  return tlp !== null && compareTlp(tlp, event.tlp ?? 'RED') < 0;
}

function partOf(object: MispObject | null, attribute: Fields): MispObject | null {
  return object && { ...object, ...omitAbsent({ relation: textOf(field(attribute, 'object_relation')) }) };
}

/** Yields an attribute of a type that no indicator has: a text, a YARA rule, an import hash. */
function* readOther(
  type: string,
  attribute: Fields,
  event: EventContext,
  object: MispObject | null,
): Generator<ImportRecord> {
  if (!isAttributeType(type)) throw new RecordRejected(`type not supported: ${printable(type)}`);
  const tags = mispTags(attribute);
  const { statedAt, tlp, forDetection } = sharedFields(attribute, tags, event);
  const value = attributeValue(field(attribute, 'value'));
  const uuid = uuidOf(attribute) ?? uuidv5(`${event.reportId} ${type} ${value}`, ATTRIBUTE_NAMESPACE);
  const id = `x-misp-attribute--${uuid}`;
  const record: AttributeRecord = {
    kind: 'attribute',
    ...withdrawalOf(attribute),
    externalIds: [id],
    statedAt,
    tlp,
    confidence: null,
    type,
    value,
    name: null,
    description: longTextOf(field(attribute, 'comment')),
    category: shortTextOf(field(attribute, 'category')),
    forDetection,
    object: disclosesEvent(attribute, event) ? null : partOf(object, attribute),
    tags: tagsOf(tags.plain, tagsWithoutLink(tags.galaxy)),
    expiresAt: null,
    killChainPhases: null,
  };
  yield record;
  if (record.withdrawn === undefined) yield* links(attribute, record, event, []);
}

const UNSTATED: Pick<EventContext, 'date' | 'severity' | 'tags'> = { date: null, severity: null, tags: [] };

function sharedFields(attribute: Fields, tags: MispTags, event: EventContext) {
  const inherited = disclosesEvent(attribute, event) ? UNSTATED : event;
  const statedAt = parseUnixSeconds(field(attribute, 'timestamp'));
  const firstSeen = dateOf(attribute, 'first_seen') ?? inherited.date ?? statedAt;
  const lastSeen = dateOf(attribute, 'last_seen') ?? statedAt ?? firstSeen;
  const toIds = field(attribute, 'to_ids');
  return {
    externalIds: stixId('indicator', attribute),
    statedAt,
    tlp: tags.tlp ?? event.tlp,
    severity: inherited.severity,
    tags: tagsOf(tags.plain, tagsWithoutLink(tags.galaxy), inherited.tags),
    firstSeen,
    lastSeen,
    forDetection: toIds === undefined || isTrue(toIds),
  };
}

/**
 * Yields the links from the report to the indicator or attribute, and from that to the entities that it indicates.
 * @param indicated by everything in the event
 */
function* links(
  attribute: Fields,
  shared: Pick<IndicatorRecord | AttributeRecord, 'externalIds' | 'tlp' | 'statedAt'>,
  event: EventContext,
  indicated: readonly string[],
): Generator<ImportRecord> {
  const [id] = shared.externalIds;
  if (id === undefined) return;
  const own = clusterRecords(attribute, shared.tlp, shared.statedAt);
  yield* withReport(own, event.reportId);
  if (event.reportId !== null) yield relationshipRecord('refers-to', event.reportId, id, shared.tlp);
  const ofAttribute = new Set(indicatedIds(own));
  // That the event is about an entity is for the event's audience.
  const ofEvent = disclosesEvent(attribute, event) ? event.tlp : shared.tlp;
  for (const to of new Set([...indicated, ...ofAttribute]))
    yield relationshipRecord('indicates', id, to, ofAttribute.has(to) ? shared.tlp : ofEvent);
}

const as =
  (type: IndicatorType): Normalizer =>
  (value) =>
    normalize(type, value);
const address: Normalizer = (value) => normalize(addressType(value), value);

/** The normalizers of each attribute type; two for a composite, whose halves are separated by `|`. */
const PARTS_BY_TYPE = new Map<string, [Normalizer] | [Normalizer, Normalizer]>([
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
  ['regkey|value', [(value) => normalize('REGISTRY_KEY', beforeBar(value))]],
  ['mutex', [as('MUTEX')]],
  ['user-agent', [as('USER_AGENT')]],
  ['AS', [as('ASN')]],
]);

/** Returns a result for each observable of an attribute; null for a type that no indicator has. */
function attributeObservables(type: string, attribute: Fields): NormalizeResult[] | null {
  const parts = PARTS_BY_TYPE.get(type);
  if (parts === undefined) return null;
  const [first, second] = parts;
  const stated = field(attribute, 'value');
  const value = typeof stated === 'string' ? stated : '';
  return second === undefined ? normalizeEach(value, first) : normalizeHalves(value, first, second);
}
