import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import type { ExportFormat, ExportIndicator, FormatEntry } from './format.ts';

/** One indicator per line, with the same fields in the same order as in a list of the JSON API. */
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

export const ndjson: FormatEntry = {
  label: 'JSON Lines',
  purpose: 'pipelines: one indicator per line, as in the list',
  options: [],
  example: `{"id":"1574793d-629d-53da-872a-bf8eca156eef","type":"IPV4","value":"185.132.17.160","confidence":80,"severity":"HIGH","tlp":"CLEAR","tags":["malicious-activity"],"source":"Unit 42","firstSeen":"2023-04-04T19:05:32.551Z","lastSeen":"2026-08-23T00:00:00.000Z","expiresAt":null,"forDetection":true}
`,
  open: ndjsonFormat,
};

const COLUMNS = [
  ...(['id', 'type', 'value', 'confidence', 'severity', 'tlp', 'tags', 'source'] as const),
  ...(['firstSeen', 'lastSeen', 'expiresAt', 'forDetection'] as const),
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
    forDetection: row.forDetection,
  };
}
