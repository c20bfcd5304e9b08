import { abuseChImporter, abuseChTags, firstDateOf } from './abusech.ts';
import { normalizeNamed } from './csv-types.ts';
import type { RecordResult } from './json-feed.ts';
import { indicatorRecord } from './observation.ts';
import { type Fields, field, RecordRejected, textOf } from './record-fields.ts';

/**
 * Imports ThreatFox: its JSON exports (`ioc_value`, dates in UTC), a response of its API (`ioc`), or its CSV.
 */
export const threatFoxImporter = abuseChImporter({
  name: 'threatfox',
  label: 'abuse.ch ThreatFox',
  list: 'data',
  recognizes: (head) =>
    (/"ioc_type"\s*:/.test(head) && /"ioc(_value)?"\s*:/.test(head)) ||
    // A refusal or an empty response does not identify its service.
    /^\s*\{\s*"query_status"\s*:\s*"(?!ok")/.test(head),
  readRecord,
});

function readRecord(record: Fields): RecordResult[] {
  const value = textOf(field(record, 'ioc_value')) ?? textOf(field(record, 'ioc'));
  const type = textOf(field(record, 'ioc_type'));
  if (value === null) throw new RecordRejected('no value');
  if (type === null) throw new RecordRejected('no type');
  const stated = {
    confidence: confidenceOf(field(record, 'confidence_level')),
    tags: abuseChTags(record, 'malware_printable', 'threat_type'),
    firstSeen: firstDateOf(record, 'first_seen_utc', 'first_seen'),
    lastSeen: firstDateOf(record, 'last_seen_utc', 'last_seen'),
  };
  return [indicatorRecord(normalizeNamed(type, value), stated)];
}

/** A number, or digits in old exports. */
function confidenceOf(value: unknown): number | null {
  if (value === undefined || value === null || value === '') return null;
  const level = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value;
  if (typeof level === 'number' && Number.isInteger(level) && level >= 0 && level <= 100) return level;
  throw new RecordRejected('confidence not an integer from 0 to 100');
}
