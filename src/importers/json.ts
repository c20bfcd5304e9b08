import { type Importer, type ImportInput, type ImportRecord, UnreadableInput } from './importer.ts';
import { readMapped } from './json-map.ts';
import { namesOf } from './json-path.ts';
import type { JsonLimits } from './json-piece.ts';
import { type JsonRecord, readJsonRecords } from './json-stream.ts';
import type { JsonMap } from './maps.ts';
import { readNdjson } from './ndjson.ts';
import { printable } from './printable.ts';
import { type Fields, field, isObject } from './record-fields.ts';
import { rejectedBy, rejectedRecord } from './rejected-record.ts';

const CAPS = { lists: [], maxBytes: 4 * 1024 * 1024, maxDepth: 64 };

/** Any JSON whose records an operator's map, which `JsonMap` has validated, leads to. Nothing is recognized by looking. */
export function jsonImporter(map: JsonMap): Importer {
  const path = namesOf(map.records ?? '$');
  const limits: JsonLimits = { ...CAPS, path };
  return {
    name: 'json',
    label: 'JSON, by a map',
    recognizes: () => false,
    async *read(input: ImportInput) {
      const records = map.ndjson ? readNdjson(input, limits) : readJsonRecords(input, limits);
      for await (const record of records) {
        if (record.number === 0) checkRoot(record, path);
        else yield* readRecord(record, map);
      }
    },
  };
}

/** A member that is a list gives a record for each element, as `{"1": [{…}]}` means it. */
function* readRecord({ number, key, value, rejected }: JsonRecord, map: JsonMap): Generator<ImportRecord> {
  const where = `object ${number}`;
  if (rejected !== null) {
    yield rejectedRecord('indicator', rejected, where);
    return;
  }
  for (const item of key !== null && Array.isArray(value) ? value : [value]) {
    try {
      for (const made of readMapped({ value: item, key }, map))
        yield 'rejected' in made ? rejectedRecord('indicator', made.rejected, where) : made;
    } catch (error) {
      yield rejectedBy(error, 'indicator', where);
    }
  }
}

/** @throws {UnreadableInput} when the root does not hold what the path leads to, with what it holds */
function checkRoot({ value, rejected }: JsonRecord, path: string[]): void {
  let found: unknown = value;
  for (const name of path) found = isObject(found) ? field(found, name) : undefined;
  // A root too large to be kept says nothing of the list in it.
  if (rejected !== null || (typeof found === 'object' && found !== null)) return;
  const names = Object.keys(isObject(value) ? (value as Fields) : {}).slice(0, 20);
  const held = names.length === 0 ? 'nothing by name' : names.map(printable).join(', ');
  throw new UnreadableInput(`no list at ${printable(path.join('.'))}; the root holds: ${held}`);
}
