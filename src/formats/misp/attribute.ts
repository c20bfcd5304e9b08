import type { IndicatorType } from '../../model/vocabulary.ts';
import type { ExportIndicator, Instant } from '../format.ts';
import { attributeTags, type GalaxyTags } from './tags.ts';

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

const INHERIT = '5';

/** The columns of an attribute; with context, `indicates` is added. */
export const MISP_COLUMNS = [
  ...(['id', 'type', 'value', 'normalized', 'confidence', 'severity', 'tlp', 'tags', 'source'] as const),
  ...(['firstSeen', 'lastSeen', 'expiresAt', 'modifiedAt', 'forDetection'] as const),
];

/**
 * Returns an attribute in MISP's core format, as JSON. A template takes half the time of JSON.stringify: the
 * order is fixed, and few of the texts are third-party.
 * @param newest Unix seconds of its event; no attribute may be newer
 */
export function writeAttribute(
  row: ExportIndicator,
  uuid: string,
  newest: number,
  galaxies: GalaxyTags,
): string {
  const [category, type] = KINDS[row.type];
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

export function unixSeconds(moment: Instant): number {
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
