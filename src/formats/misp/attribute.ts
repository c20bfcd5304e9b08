import { uuidv5 } from '../../model/identity.ts';
import { type MispObject, STIX_PATTERN } from '../../model/source-record.ts';
import type { IndicatorType, Tlp } from '../../model/vocabulary.ts';
import type { ExportAttribute, ExportIndicator, ExportRecord, Instant } from '../format.ts';
import { attributeTags, type GalaxyTags, ownTags, tlpTag } from './tags.ts';

/**
 * Category and type for each indicator type. MISP drops an attribute whose pair is not in its
 * `describeTypes`. `email` is its e-mail type that does not distinguish sender and recipient, `domain` the
 * one whose RPZ covers subdomains.
 */
const KINDS: Record<IndicatorType, [category: string, type: string]> = {
  IPV4: ['Network activity', 'ip-dst'],
  IPV6: ['Network activity', 'ip-dst'],
  DOMAIN: ['Network activity', 'domain'],
  URL: ['Network activity', 'url'],
  MD5: ['Payload delivery', 'md5'],
  SHA1: ['Payload delivery', 'sha1'],
  SHA256: ['Payload delivery', 'sha256'],
  EMAIL: ['Payload delivery', 'email'],
  CVE: ['External analysis', 'vulnerability'],
  BTC_ADDRESS: ['Financial fraud', 'btc'],
  REGISTRY_KEY: ['Persistence mechanism', 'regkey'],
  MUTEX: ['Artifacts dropped', 'mutex'],
  FILENAME: ['Payload delivery', 'filename'],
  USER_AGENT: ['Network activity', 'user-agent'],
  ASN: ['Network activity', 'AS'],
};

/** The same for fingerprints of certificates. */
const CERTIFICATE_KINDS: Partial<typeof KINDS> = {
  MD5: ['Network activity', 'x509-fingerprint-md5'],
  SHA1: ['Network activity', 'x509-fingerprint-sha1'],
  SHA256: ['Network activity', 'x509-fingerprint-sha256'],
};

/** The kinds of attributes that records may state instead: the indicator types of each, and the categories that may hold it. */
const NETWORK = ['Payload delivery', 'Network activity', 'External analysis'];
const MAIL = ['Payload delivery', 'Network activity', 'Social network'];
const FILE = ['Payload delivery', 'Artifacts dropped', 'Payload installation', 'External analysis'];
const STATED_KINDS = new Map<string, [types: IndicatorType[], categories: string[]]>([
  ['ip-src', [['IPV4', 'IPV6'], NETWORK]],
  ['ip-dst', [['IPV4', 'IPV6'], NETWORK]],
  ['domain', [['DOMAIN'], NETWORK]],
  ['hostname', [['DOMAIN'], NETWORK]],
  ['url', [['URL'], NETWORK]],
  ['email', [['EMAIL'], [...MAIL, 'Attribution', 'Person']]],
  ['email-src', [['EMAIL'], MAIL]],
  ['email-dst', [['EMAIL'], MAIL]],
  ['md5', [['MD5'], FILE]],
  ['sha1', [['SHA1'], FILE]],
  ['sha256', [['SHA256'], FILE]],
  ['filename', [['FILENAME'], [...FILE, 'Persistence mechanism']]],
  ['regkey', [['REGISTRY_KEY'], ['Artifacts dropped', 'Persistence mechanism', 'External analysis']]],
  ['user-agent', [['USER_AGENT'], NETWORK]],
  ['vulnerability', [['CVE'], ['Payload delivery', 'Payload installation', 'External analysis']]],
  ['AS', [['ASN'], NETWORK]],
]);

/** The types that hold one indicator and more, such as a port. */
const COMPOSITE_KINDS: typeof STATED_KINDS = new Map([
  ['ip-src|port', [['IPV4', 'IPV6'], NETWORK]],
  ['ip-dst|port', [['IPV4', 'IPV6'], NETWORK]],
  ['hostname|port', [['DOMAIN'], ['Payload delivery', 'Network activity']]],
  ['regkey|value', [['REGISTRY_KEY'], ['Artifacts dropped', 'Persistence mechanism', 'External analysis']]],
]);

/**
 * Returns category and type: those that the record states if they fit the indicator.
 * @param isOriginal whether the attribute stands for the record, with what it has besides the indicator
 */
function kindOf(
  row: ExportIndicator,
  record: ExportRecord | null,
  isOriginal: boolean,
): [category: string, type: string] {
  const [category, type] = (row.ofCertificate && CERTIFICATE_KINDS[row.type]) || KINDS[row.type];
  if (row.ofCertificate || record === null) return [category, type];
  const isSource = record.direction === 'source' && STATED_KINDS.get('ip-src')?.[0].includes(row.type);
  const stated = record.type ?? (isSource ? 'ip-src' : type);
  const composite = isOriginal && record.original !== undefined ? COMPOSITE_KINDS.get(stated) : undefined;
  const [types, categories] = composite ?? STATED_KINDS.get(stated) ?? [[], []];
  if (!types.includes(row.type)) return [category, type];
  return [categories.find((name) => name === record.category) ?? category, stated];
}

const INHERIT = '5';

/** The columns of an attribute; with context, `indicates` is added. */
export const MISP_COLUMNS = [
  ...(['id', 'type', 'value', 'normalized', 'confidence', 'severity', 'tlp', 'tags', 'source'] as const),
  ...([
    'firstSeen',
    'lastSeen',
    'expiresAt',
    'modifiedAt',
    'forDetection',
    'ofCertificate',
    'records',
  ] as const),
];

/** The record that an attribute stands for, and the object that it is written in. */
export interface RecordChoice {
  record: ExportRecord | null;
  object: MispObject | null;
  /** Whether the record is one of the event's, so that no other event has an attribute for it. */
  isOwn: boolean;
}

/** The event that an attribute is written in. */
export interface AttributePlace {
  eventUuid: string;
  /** Unix seconds of the event; no attribute may be newer. */
  newest: number;
  galaxies: GalaxyTags;
  /** Whether attributes keep the uuids and comments of the records that they stand for. */
  originalIds: boolean;
}

/**
 * Returns an attribute in MISP's core format, as JSON. A template takes half the time of JSON.stringify: the
 * order is fixed, and few of the texts are third-party.
 */
export function attributeText(
  row: ExportIndicator,
  { record, object, isOwn }: RecordChoice,
  { eventUuid, newest, galaxies, originalIds }: AttributePlace,
): string {
  const [category, type] = kindOf(row, record, originalIds);
  const value = type.includes('|') ? (record?.original ?? '') : mispValue(row);
  const timestamp = Math.min(unixSeconds(row.modifiedAt), newest);
  const part = [object?.id, originalIds ? record?.original : undefined].filter(Boolean);
  const own = uuidv5([row.id, ...part].join(' '), eventUuid);
  const uuid = (originalIds && isOwn && originalUuidOf(row, record)) || own;
  const comment = JSON.stringify(originalIds ? (record?.description ?? '') : commentOf(row, record));
  const relation = object === null ? '' : `"object_relation":${JSON.stringify(object.relation ?? type)},`;
  return `{"type":"${type}","category":"${category}",${relation}"to_ids":${row.forDetection},"uuid":"${uuid}","distribution":"${INHERIT}","timestamp":"${timestamp}","comment":${comment},"first_seen":"${mispTime(row.firstSeen)}","last_seen":"${mispTime(row.lastSeen)}","value":${JSON.stringify(value)},"Tag":${attributeTags(row, galaxies)}}`;
}

const OWN_UUID = /^(?:indicator|x-misp-attribute|note)--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Returns the uuid of the MISP attribute or STIX object that an id names. */
function originalUuidIn(externalIds: readonly string[]): string | undefined {
  return externalIds.map((id) => OWN_UUID.exec(id)?.[1]).find((uuid) => uuid !== undefined);
}

/** Returns the uuid of the record if it stands for this indicator alone. */
function originalUuidOf({ originalIds }: ExportIndicator, record: ExportRecord | null): string | undefined {
  const id = record?.id !== undefined && originalIds.includes(record.id) ? record.id : '';
  return OWN_UUID.exec(id)?.[1];
}

/** Category and type of attributes whose source states no category, as of STIX patterns in other languages. */
const OTHER_KINDS = new Map<string, [category: string, type: string]>([
  ['yara', ['Payload installation', 'yara']],
  ['sigma', ['Payload installation', 'sigma']],
  ['snort', ['Network activity', 'snort']],
  ['suricata', ['Network activity', 'suricata']],
  ['ja3', ['Network activity', 'ja3-fingerprint-md5']],
  ['imphash', ['Payload delivery', 'imphash']],
  [STIX_PATTERN, ['Payload installation', 'stix2-pattern']],
]);

/** Returns an attribute that is no indicator. */
export function otherAttributeText(
  attribute: ExportAttribute,
  { eventUuid, newest, originalIds }: AttributePlace,
): string {
  const [category, type] = attribute.category
    ? [attribute.category, attribute.type]
    : (OTHER_KINDS.get(attribute.type) ?? ['Other', 'other']);
  const original = originalUuidIn(attribute.externalIds);
  const texts = [type === 'other' && attribute.type, attribute.name, attribute.description];
  return JSON.stringify({
    type,
    category,
    ...(attribute.object && { object_relation: attribute.object.relation ?? type }),
    to_ids: attribute.forDetection,
    uuid: (originalIds && original) || uuidv5(attribute.id, eventUuid),
    distribution: INHERIT,
    timestamp: String(Math.min(unixSeconds(attribute.modifiedAt), newest)),
    comment: texts.filter((text) => text && text !== 'other').join(': '),
    value: attribute.value,
    Tag: [tlpTag(attribute.tlp), ...ownTags(attribute.tags)],
  });
}

/** Returns an attribute with a link of a report. */
export function linkText(url: string, { eventUuid, newest }: AttributePlace): string {
  return JSON.stringify({
    type: 'link',
    category: 'External analysis',
    to_ids: false,
    uuid: uuidv5(url, eventUuid),
    distribution: INHERIT,
    timestamp: String(newest),
    comment: '',
    value: url,
  });
}

/** Returns an object up to the bracket that opens its attributes. */
export function objectHead(object: MispObject, { eventUuid, newest, originalIds }: AttributePlace): string {
  const head = {
    name: object.name,
    'meta-category': object.metaCategory ?? 'misc',
    description: '',
    ...(object.templateId !== undefined && { template_uuid: object.templateId }),
    ...(object.templateVersion !== undefined && { template_version: object.templateVersion }),
    uuid: originalIds ? object.id : uuidv5(object.id, eventUuid),
    timestamp: String(newest),
    distribution: INHERIT,
    comment: object.comment ?? '',
  };
  return `${JSON.stringify(head).slice(0, -1)},"Attribute":[\n`;
}

/** Returns a text of an event (MISP's `EventReport`). */
export function noteText(note: ExportAttribute, { eventUuid, newest, originalIds }: AttributePlace): string {
  return JSON.stringify({
    uuid: (originalIds && originalUuidIn(note.externalIds)) || uuidv5(note.id, eventUuid),
    name: note.name ?? 'Note',
    content: note.value,
    timestamp: String(newest),
    distribution: INHERIT,
    deleted: false,
  });
}

/**
 * Returns the value as MISP stores it, so that it correlates: e-mail addresses in lower case, AS numbers
 * bare.
 */
export function mispValue({
  type,
  value,
  normalized,
}: Pick<ExportIndicator, 'type' | 'value' | 'normalized'>): string {
  if (type === 'EMAIL') return normalized;
  return type === 'ASN' ? normalized.slice('AS'.length) : value;
}

export function unixSeconds(moment: Instant): number {
  return Math.floor(moment.valueOf() / 1000);
}

/**
 * Returns the comment of the source's record, the source and the values for which MISP has no field. MISP's confidence taxonomies have five
 * steps: such a tag would change the number, and come back from MISP as a tag that no source stated.
 */
function commentOf(
  { source, confidence, severity, expiresAt }: ExportIndicator,
  record: ExportRecord | null,
): string {
  const stated = record?.description ?? record?.name;
  const known = `${source}; confidence ${confidence}; severity ${severity.toLowerCase()}`;
  const expiry = expiresAt === null ? '' : `; expires ${expiresAt.toISOString()}`;
  return `${stated === undefined ? '' : `${stated} | `}${known}${expiry}`;
}

/** `2026-05-01T08:00:00.000000+00:00` */
function mispTime(moment: Instant): string {
  return `${moment.toISOString().slice(0, -1)}000+00:00`;
}

/** Must never change: by it MISP identifies the organisation that created an event and may change it. */
const ORGC = { name: 'Tipline', uuid: 'b481c7f0-7328-4f19-bb9e-cfdbe994d43d' };

/** 4 is "undefined": one level cannot represent many sources. */
const THREAT_LEVEL = '4';
const ANALYSIS_COMPLETED = '2';
/** The importing organisation decides the distribution; the TLP states how far it may go. */
const OWN_ORGANISATION_ONLY = '0';

export interface MispEvent {
  uuid: string;
  info: string;
  /** null: the event is empty. */
  date: Date | null;
  changedAt: Date | null;
  /** The most restrictive marking in it; null when it is empty. */
  tlp: Tlp | null;
  /** Names of its tags besides the TLP. */
  tags?: readonly string[];
  /** The uuid of the event that it repeats; null or absent: none. */
  extendsUuid?: string | null;
}

/** Returns the members that an event and its entry in a feed's manifest share. */
export function eventSummary({ info, date, changedAt, tlp, tags = [] }: MispEvent) {
  return {
    info,
    date: (date ?? new Date(0)).toISOString().slice(0, 'YYYY-MM-DD'.length),
    timestamp: String(unixSeconds(changedAt ?? new Date(0))),
    threat_level_id: THREAT_LEVEL,
    analysis: ANALYSIS_COMPLETED,
    Orgc: ORGC,
    Tag: tlp === null ? [] : [tlpTag(tlp), ...ownTags(tags)],
  };
}

/**
 * Writes `{"Event": {…}}`, one attribute per line. An attribute's uuid is specific to its event: MISP drops
 * an attribute that it has from another event.
 */
export async function* writeEvent(
  event: MispEvent,
  batches: AsyncIterable<readonly ExportIndicator[]>,
  galaxies: GalaxyTags,
  originalIds = false,
): AsyncGenerator<string> {
  const newest = unixSeconds(event.changedAt ?? new Date(0));
  const place = { eventUuid: event.uuid, newest, galaxies, originalIds };
  yield eventHead(event);
  let separator = '\n';
  for await (const batch of batches) {
    let text = '';
    for (const row of batch) {
      text +=
        separator + attributeText(row, { record: row.records[0] ?? null, object: null, isOwn: true }, place);
      separator = ',\n';
    }
    yield text;
  }
  yield '\n]}}\n';
}

/** Returns the event up to the bracket that opens the attributes. */
export function eventHead(event: MispEvent): string {
  const summary = eventSummary(event);
  // MISP rejects an empty event that is marked as published.
  const published = event.tlp !== null;
  const head = {
    uuid: event.uuid,
    ...summary,
    published,
    publish_timestamp: published ? summary.timestamp : '0',
    distribution: OWN_ORGANISATION_ONLY,
    ...(event.extendsUuid && { extends_uuid: event.extendsUuid }),
  };
  return `{"Event":${JSON.stringify(head).slice(0, -1)},"Attribute":[`;
}
