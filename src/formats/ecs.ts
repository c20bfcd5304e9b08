import type { IndicatorType } from '../model/vocabulary.ts';
import { ecsObservable } from './ecs-observable.ts';
import type { ExportFormat, ExportIndicator, FormatEntry } from './format.ts';
import { tlpName } from './tlp-name.ts';

/** The first version that has every field written here; `threat.indicator.id` was the last to be added. */
const ECS_VERSION = '8.16.0';

const TYPES: readonly IndicatorType[] = [
  'IPV4',
  'IPV6',
  'DOMAIN',
  'URL',
  'MD5',
  'SHA1',
  'SHA256',
  'EMAIL',
  'REGISTRY_KEY',
  'MUTEX',
  'FILENAME',
  'USER_AGENT',
  'ASN',
];

const COLUMNS = [
  ...(['id', 'type', 'value', 'confidence', 'severity', 'tlp', 'tags', 'source'] as const),
  ...(['firstSeen', 'lastSeen', 'expiresAt', 'modifiedAt'] as const),
];

/** Elastic's indicator match rules read documents of `threatintel` and of modules that begin with `ti_`. */
const EVENT = {
  kind: 'enrichment',
  category: ['threat'],
  type: ['indicator'],
  module: 'ti_tipline',
  dataset: 'ti_tipline.indicator',
};

/**
 * Elastic Common Schema documents, one per line, as Elastic's threat-intelligence integrations index them and
 * its indicator match rules read them. These rules read documents whose `@timestamp` is within the last 30 days, so
 * it is the day of the export, or the last change if that is later. Values without an ECS field (severity, the exact
 * confidence, expiry) are written to `labels`.
 */
export function ecsFormat(): ExportFormat {
  return {
    mediaType: 'application/x-ndjson',
    extension: 'ndjson',
    types: TYPES,
    detectionOnly: true,
    order: 'list',
    columns: COLUMNS,
    reads: { day: true },
    async *write(batches, { day }) {
      for await (const batch of batches) {
        yield batch.map((row) => `${JSON.stringify(document(row, day))}\n`).join('');
      }
    },
  };
}

export const ecs: FormatEntry = {
  label: 'Elastic Common Schema',
  purpose: 'SIEMs: one document per line',
  options: [],
  open: ecsFormat,
};

function document(row: ExportIndicator, day: Date | null) {
  const modifiedAt = row.modifiedAt.toISOString();
  const today = day?.toISOString() ?? '';
  return {
    '@timestamp': today > modifiedAt ? today : modifiedAt,
    ecs: { version: ECS_VERSION },
    event: EVENT,
    labels: labels(row),
    ...(row.tags.length > 0 && { tags: row.tags }),
    threat: { feed: { name: 'Tipline' }, indicator: indicator(row) },
    ...(row.type === 'USER_AGENT' && { user_agent: { original: row.value } }),
  };
}

/** ECS requires all labels to be keywords, without nesting. */
function labels({ severity, confidence, expiresAt }: ExportIndicator) {
  return {
    severity,
    confidence: String(confidence),
    ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
  };
}

function indicator(row: ExportIndicator) {
  return {
    ...ecsObservable(row.type, row.value),
    name: row.value,
    id: [row.id],
    provider: row.source,
    confidence: confidenceName(row.confidence),
    marking: { tlp: tlpName(row.tlp), tlp_version: '2.0' },
    first_seen: row.firstSeen.toISOString(),
    last_seen: row.lastSeen.toISOString(),
    modified_at: row.modifiedAt.toISOString(),
  };
}

/** STIX 2.1, Appendix A: None/Low/Medium/High. */
function confidenceName(confidence: number): string {
  if (confidence === 0) return 'None';
  if (confidence < 30) return 'Low';
  return confidence < 70 ? 'Medium' : 'High';
}
