import { uuidv5 } from '../../model/identity.ts';
import type { IndicatorType, Tlp } from '../../model/vocabulary.ts';
import type { ExportIndicator, Instant } from '../format.ts';
import { attributeTags, type GalaxyTags, tlpTag } from './tags.ts';

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

const INHERIT = '5';

/** The columns of an attribute; with context, `indicates` is added. */
export const MISP_COLUMNS = [
  ...(['id', 'type', 'value', 'normalized', 'confidence', 'severity', 'tlp', 'tags', 'source'] as const),
  ...(['firstSeen', 'lastSeen', 'expiresAt', 'modifiedAt', 'forDetection', 'ofCertificate'] as const),
];

/**
 * Returns an attribute in MISP's core format, as JSON. A template takes half the time of JSON.stringify: the
 * order is fixed, and few of the texts are third-party.
 * @param newest Unix seconds of its event; no attribute may be newer
 */
function writeAttribute(row: ExportIndicator, uuid: string, newest: number, galaxies: GalaxyTags): string {
  const [category, type] = (row.ofCertificate && CERTIFICATE_KINDS[row.type]) || KINDS[row.type];
  const timestamp = Math.min(unixSeconds(row.modifiedAt), newest);
  return `{"type":"${type}","category":"${category}","to_ids":${row.forDetection},"uuid":"${uuid}","distribution":"${INHERIT}","timestamp":"${timestamp}","comment":${JSON.stringify(commentOf(row))},"first_seen":"${mispTime(row.firstSeen)}","last_seen":"${mispTime(row.lastSeen)}","value":${JSON.stringify(mispValue(row))},"Tag":${attributeTags(row, galaxies)}}`;
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

function unixSeconds(moment: Instant): number {
  return Math.floor(moment.valueOf() / 1000);
}

/**
 * Returns the source and the values for which MISP has no field. MISP's confidence taxonomies have five
 * steps: such a tag would change the number, and come back from MISP as a tag that no source stated.
 */
function commentOf({ source, confidence, severity, expiresAt }: ExportIndicator): string {
  const known = `${source}; confidence ${confidence}; severity ${severity.toLowerCase()}`;
  return expiresAt === null ? known : `${known}; expires ${expiresAt.toISOString()}`;
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
  lastSeen: Date | null;
  changedAt: Date | null;
  /** The most restrictive marking in it; null when it is empty. */
  tlp: Tlp | null;
}

/** Returns the members that an event and its entry in a feed's manifest share. */
export function eventSummary({ info, lastSeen, changedAt, tlp }: MispEvent) {
  return {
    info,
    date: (lastSeen ?? new Date(0)).toISOString().slice(0, 'YYYY-MM-DD'.length),
    timestamp: String(unixSeconds(changedAt ?? new Date(0))),
    threat_level_id: THREAT_LEVEL,
    analysis: ANALYSIS_COMPLETED,
    Orgc: ORGC,
    Tag: tlp === null ? [] : [tlpTag(tlp)],
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
): AsyncGenerator<string> {
  const newest = unixSeconds(event.changedAt ?? new Date(0));
  yield eventHead(event);
  let separator = '\n';
  for await (const batch of batches) {
    let text = '';
    for (const row of batch) {
      text += separator + writeAttribute(row, uuidv5(row.id, event.uuid), newest, galaxies);
      separator = ',\n';
    }
    yield text;
  }
  yield '\n]}}\n';
}

/** Returns the event up to the bracket that opens the attributes. */
function eventHead(event: MispEvent): string {
  const summary = eventSummary(event);
  // MISP rejects an empty event that is marked as published.
  const published = event.tlp !== null;
  const head = {
    uuid: event.uuid,
    ...summary,
    published,
    publish_timestamp: published ? summary.timestamp : '0',
    distribution: OWN_ORGANISATION_ONLY,
  };
  return `{"Event":${JSON.stringify(head).slice(0, -1)},"Attribute":[`;
}
