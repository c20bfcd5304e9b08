import type { ExportIndicator } from '../format.ts';
import {
  externalReferences,
  indicatorObjectId,
  killChainPhases,
  objectMarkings,
  omitEmpty,
  originOf,
  propertiesOf,
  type StixObject,
} from './common.ts';
import { observedData } from './observed-data.ts';

/** indicator-type-ov of STIX 2.1. */
const INDICATOR_TYPES = new Set([
  ...['anomalous-activity', 'anonymization', 'attribution', 'benign', 'compromised'],
  ...['malicious-activity', 'unknown'],
]);

/**
 * Returns the STIX objects of an indicator, the one that relationships refer to first: an indicator, a vulnerability
 * for a CVE, or observed data for one that is not for detection.
 */
export function indicatorObjects(row: ExportIndicator): [StixObject, ...StixObject[]] {
  const pattern = patternOf(row);
  if (pattern === null) return [vulnerability(row)];
  return row.forDetection ? [indicator(row, pattern)] : observedData(row);
}

/**
 * One literal names each property: spreading objects into one another takes ten times as long, and exports
 * have millions.
 */
function indicator(row: ExportIndicator, pattern: string): StixObject {
  const id = indicatorObjectId(row);
  const expires = validUntil(row);
  const { created_by_ref, created, modified } = originOf(row, id);
  return {
    type: 'indicator',
    spec_version: '2.1',
    id,
    created_by_ref,
    created,
    modified,
    name: nameOf(row),
    description: describe(row),
    indicator_types: indicatorTypes(row),
    pattern,
    pattern_type: 'stix',
    pattern_version: '2.1',
    kill_chain_phases: phasesOf(row),
    valid_from: row.firstSeen.toISOString(),
    valid_until: expires,
    confidence: row.confidence,
    labels: omitEmpty(row.tags),
    external_references: omitEmpty(externalReferences(row.externalIds, id)),
    object_marking_refs: objectMarkings(row.tlp).object_marking_refs,
    extensions: propertiesOf(row, {
      expires_at: expires === undefined ? row.expiresAt?.toISOString() : undefined,
    }),
  };
}

/** A CVE is a weakness, not a trace: STIX has an object for it and no pattern (§4.19). */
function vulnerability(row: ExportIndicator): StixObject {
  const id = indicatorObjectId(row);
  const { created_by_ref, created, modified } = originOf(row, id);
  return {
    type: 'vulnerability',
    spec_version: '2.1',
    id,
    created_by_ref,
    created,
    modified,
    name: row.value,
    description: describe(row),
    confidence: row.confidence,
    labels: omitEmpty(row.tags),
    external_references: [
      { source_name: 'cve', external_id: row.value },
      ...externalReferences(row.externalIds, id),
    ],
    object_marking_refs: objectMarkings(row.tlp).object_marking_refs,
    extensions: propertiesOf(row, {
      first_seen: row.firstSeen.toISOString(),
      expires_at: row.expiresAt?.toISOString(),
    }),
  };
}

/** §4.7: `valid_until` must be later than `valid_from`. */
function validUntil({ firstSeen, expiresAt }: ExportIndicator): string | undefined {
  return expiresAt !== null && expiresAt > firstSeen ? expiresAt.toISOString() : undefined;
}

/** Returns the name that a source gives it, that of its main source first; its value without one. */
function nameOf({ records, value }: ExportIndicator): string {
  return records.find(({ name }) => name !== undefined)?.name ?? value;
}

/** Returns the kill-chain phases that its sources state, each once. */
function phasesOf({ records }: ExportIndicator) {
  const stated = records.flatMap(({ killChainPhases: phases }) => phases ?? []);
  return omitEmpty([
    ...new Map(killChainPhases(stated).map((phase) => [JSON.stringify(phase), phase])).values(),
  ]);
}

/**
 * Returns the descriptions and comments of its sources; without any, the values that readers without support for the
 * extension would not show.
 */
function describe({ records, severity, lastSeen, source, forDetection }: ExportIndicator): string {
  const stated = new Set(records.flatMap(({ description }) => description ?? []));
  if (stated.size > 0) return [...stated].join('\n\n');
  const text = `Severity ${severity.toLowerCase()}, last seen ${lastSeen.toISOString()}, source: ${source}`;
  return forDetection ? text : `Context only, not for detection. ${text}`;
}

/** Returns the types that its sources state. */
function indicatorTypes({ tags }: ExportIndicator): string[] {
  const stated = tags.filter((tag) => INDICATOR_TYPES.has(tag));
  return stated.length > 0 ? stated : ['malicious-activity'];
}

/**
 * Returns the STIX pattern (§9) that matches the value; null for a CVE, which is an object of its own: a
 * vulnerability.
 */
function patternOf({ type, value, ofCertificate }: ExportIndicator): string | null {
  const object = ofCertificate ? 'x509-certificate' : 'file';
  switch (type) {
    case 'IPV4':
      return equals('ipv4-addr:value', value);
    case 'IPV6':
      return equals('ipv6-addr:value', value);
    case 'DOMAIN':
      return equals('domain-name:value', value);
    case 'URL':
      return equals('url:value', value);
    case 'EMAIL':
      return equals('email-addr:value', value);
    case 'MD5':
      return equals(`${object}:hashes.'MD5'`, value);
    case 'SHA1':
      return equals(`${object}:hashes.'SHA-1'`, value);
    case 'SHA256':
      return equals(`${object}:hashes.'SHA-256'`, value);
    case 'REGISTRY_KEY':
      return equals('windows-registry-key:key', value);
    case 'MUTEX':
      return equals('mutex:name', value);
    case 'FILENAME':
      // A path is written whole, too, as in MISP. From name and directory MISP would read the name alone, and
      // then match every file of that name.
      return equals('file:name', value);
    case 'USER_AGENT':
      return equals("network-traffic:extensions.'http-request-ext'.request_header.'User-Agent'", value);
    case 'ASN':
      return `[autonomous-system:number = ${value.slice('AS'.length)}]`;
    case 'BTC_ADDRESS':
      // STIX has no observable for it; this is OpenCTI's, which Tipline's extension defines. The observable
      // itself is not written: python-stix2 rejects a bundle for one object of an unknown type.
      return equals('cryptocurrency-wallet:value', value);
    case 'CVE':
      return null;
  }
}

/** In a string literal `\` and `'` are escaped, and nothing else (§9). */
function equals(path: string, value: string): string {
  return `[${path} = '${value.replace(/[\\']/g, '\\$&')}']`;
}
