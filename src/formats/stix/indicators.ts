import { TIPLINE_EXTENSION } from '../../model/stix-extension.ts';
import type { ExportIndicator } from '../format.ts';
import {
  creatorAndTimestamps,
  externalReferences,
  objectMarkings,
  omitEmpty,
  type StixObject,
} from './common.ts';
import { patternOf } from './patterns.ts';

/** indicator-type-ov of STIX 2.1. */
const INDICATOR_TYPES = new Set([
  ...['anomalous-activity', 'anonymization', 'attribution', 'benign', 'compromised'],
  ...['malicious-activity', 'unknown'],
]);

/** Returns the STIX object for an indicator. */
export function indicatorObject(row: ExportIndicator): StixObject {
  const pattern = patternOf(row);
  return pattern === null ? vulnerability(row) : indicator(row, pattern);
}

/**
 * One literal names each property: spreading objects into one another takes ten times as long, and exports
 * have millions.
 */
function indicator(row: ExportIndicator, pattern: string): StixObject {
  const id = `indicator--${row.id}`;
  const expires = validUntil(row);
  const { created_by_ref, created, modified } = creatorAndTimestamps(row);
  return {
    type: 'indicator',
    spec_version: '2.1',
    id,
    created_by_ref,
    created,
    modified,
    name: row.value,
    description: describe(row),
    indicator_types: indicatorTypes(row),
    pattern,
    pattern_type: 'stix',
    pattern_version: '2.1',
    valid_from: row.firstSeen.toISOString(),
    valid_until: expires,
    confidence: row.confidence,
    labels: omitEmpty(row.tags),
    external_references: omitEmpty(externalReferences(row.externalIds, id)),
    object_marking_refs: objectMarkings(row.tlp).object_marking_refs,
    extensions: properties(row, {
      first_seen: undefined,
      expires_at: expires === undefined ? row.expiresAt?.toISOString() : undefined,
    }),
  };
}

/** A CVE is a weakness, not a trace: STIX has an object for it and no pattern (§4.19). */
function vulnerability(row: ExportIndicator): StixObject {
  const id = `vulnerability--${row.id}`;
  const { created_by_ref, created, modified } = creatorAndTimestamps(row);
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
    extensions: properties(row, {
      first_seen: row.firstSeen.toISOString(),
      expires_at: row.expiresAt?.toISOString(),
    }),
  };
}

/** §4.7: `valid_until` must be later than `valid_from`. */
function validUntil({ firstSeen, expiresAt }: ExportIndicator): string | undefined {
  return expiresAt !== null && expiresAt > firstSeen ? expiresAt.toISOString() : undefined;
}

function properties(
  row: ExportIndicator,
  { first_seen, expires_at }: Record<'first_seen' | 'expires_at', string | undefined>,
) {
  return {
    [TIPLINE_EXTENSION]: {
      extension_type: 'property-extension',
      observable_type: row.type,
      severity: row.severity.toLowerCase(),
      last_seen: row.lastSeen.toISOString(),
      for_detection: row.forDetection,
      source_name: row.source,
      first_seen,
      expires_at,
    },
  };
}

/** Describes, for people, the values that readers without support for the extension would not show them. */
function describe({ severity, lastSeen, source, forDetection }: ExportIndicator): string {
  const text = `Severity ${severity.toLowerCase()}, last seen ${lastSeen.toISOString()}, source: ${source}`;
  return forDetection ? text : `Context only, not for detection. ${text}`;
}

/**
 * Returns the types that its sources state. A consumer that matches malicious activity only must not match
 * context.
 */
function indicatorTypes({ tags, forDetection }: ExportIndicator): string[] {
  const stated = tags.filter(
    (tag) => INDICATOR_TYPES.has(tag) && (forDetection || tag !== 'malicious-activity'),
  );
  if (stated.length > 0) return stated;
  return [forDetection ? 'malicious-activity' : 'unknown'];
}
