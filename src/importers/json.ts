import { type Importer, type ImportInput, type ImportRecord, UnreadableInput } from './importer.ts';
import { namesOf, readMapped } from './json-map.ts';
import type { JsonLimits } from './json-pieces.ts';
import { type JsonRecord, readJsonRecords } from './json-stream.ts';
import type { JsonMap } from './maps.ts';
import { readNdjson } from './ndjson.ts';
import { type Fields, field, isObject, printable, rejectedBy, rejectedRecord } from './record-fields.ts';

const CAPS = { lists: [], maxBytes: 4 * 1024 * 1024, maxDepth: 64 };

/**
 * Returns an importer for any JSON in which an operator's map, which was validated by `JsonMap`, locates the
 * records. It never recognizes a file.
 */
export function jsonImporter(map: JsonMap): Importer {
  const path = namesOf(map.records ?? '$');
  const limits: JsonLimits = { ...CAPS, path };
  return {
    name: 'json',
    label: 'JSON, by a map',
    recognizes: () => false,
    async *read(input: ImportInput) {
      const records = map.ndjson ? readNdjson(input, limits) : readJsonRecords(input, limits);
      function* recordsOf(part: Iterable<JsonRecord>) {
        for (const record of part) {
          if (record.number === 0) checkRoot(record, path);
          else yield* readRecord(record, map);
        }
      }
      for await (const part of records) yield recordsOf(part);
    },
  };
}

/** Reads a record. A member that is a list gives a record for each element, as in `{"1": [{…}]}`. */
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

/** @throws {UnreadableInput} if the root has no list or object at the path; the message lists its members */
function checkRoot({ value, rejected }: JsonRecord, path: string[]): void {
  let found: unknown = value;
  for (const name of path) found = isObject(found) ? field(found, name) : undefined;
  // A root that was too large to keep does not show whether it contains the list.
  if (rejected !== null || (typeof found === 'object' && found !== null)) return;
  const names = Object.keys(isObject(value) ? (value as Fields) : {}).slice(0, 20);
  const held = names.length === 0 ? 'nothing by name' : names.map(printable).join(', ');
  throw new UnreadableInput(`no list at ${printable(path.join('.'))}; the root holds: ${held}`);
}
