import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import type { ExportFormat, ExportIndicator } from './format.ts';

/** One Indicator a line, as a list of the JSON API holds it: the same fields in the same order. */
export function ndjsonFormat(): ExportFormat {
  return {
    mediaType: 'application/x-ndjson',
    extension: 'ndjson',
    types: INDICATOR_TYPES,
    detectionOnly: false,
    order: 'list',
    columns: COLUMNS,
    reads: {},
    async *write(batches) {
      for await (const batch of batches) {
        yield batch.map((row) => `${JSON.stringify(indicator(row))}\n`).join('');
      }
    },
  };
}

const COLUMNS = [
  ...(['id', 'type', 'value', 'confidence', 'severity', 'tlp', 'tags', 'source'] as const),
  ...(['firstSeen', 'lastSeen', 'expiresAt'] as const),
];

function indicator(row: ExportIndicator) {
  return {
    id: row.id,
    type: row.type,
    value: row.value,
    confidence: row.confidence,
    severity: row.severity,
    tlp: row.tlp,
    tags: row.tags,
    source: row.source,
    firstSeen: row.firstSeen.toISOString(),
    lastSeen: row.lastSeen.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
  };
}
