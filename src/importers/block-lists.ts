import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-address.ts';
import { blocksBetween } from '../model/normalize-range.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { type Importer, type ImportInput, type ImportRecord, UnreadableInput } from './importer.ts';
import type { JsonRecord } from './json-stream.ts';
import { type Line, readLines } from './lines.ts';
import { readNdjson } from './ndjson.ts';
import {
  addressType,
  type Fields,
  field,
  indicatorRecord,
  isObject,
  omitAbsent,
  recordTextOf,
  rejectedRecord,
  shortTextOf,
  textOf,
} from './record-fields.ts';

const LIMITS = { lists: [], maxBytes: 64 * 1024, maxDepth: 8 };

/**
 * Spamhaus DROP and ASN-DROP as JSON: an object a line (`cidr` and `sblid`, or `asn` and `asname`), the last of which
 * states how many there are. Their text form is a plain list.
 */
export const dropImporter: Importer = {
  name: 'drop',
  label: 'Spamhaus DROP',

  recognizes: (head) => /^\s*\{"(?:cidr":"[^"]+","sblid|asn":\d+,"rir)"/.test(head),

  async *read(input) {
    let [count, stated] = [0, null as number | null];
    function* recordsOf(part: Iterable<JsonRecord>) {
      for (const { number, value, rejected } of part) {
        if (isObject(value) && field(value, 'type') === 'metadata') {
          stated = Number(field(value, 'records'));
          continue;
        }
        count++;
        yield* dropRecords(isObject(value) ? value : null, rejected ?? 'not an object', `line ${number}`);
      }
    }
    for await (const part of readNdjson(input, LIMITS)) yield recordsOf(part);
    // The rest of a copy that ends early would count as removed.
    if (stated === null || stated !== count)
      throw new UnreadableInput(
        `the list is not complete: it has ${count} entries and ${stated === null ? 'no metadata in its last line' : `states ${stated}`}`,
      );
  },
};

function* dropRecords(entry: Fields | null, problem: string, where: string): Generator<ImportRecord> {
  const block = entry && textOf(field(entry, 'cidr'));
  const asn = entry && field(entry, 'asn');
  if (block) yield* records([normalize(addressType(block), block)], { name: field(entry, 'sblid') }, where);
  else if (entry && Number.isInteger(asn))
    yield* records([normalize('ASN', String(asn))], { name: field(entry, 'asname') }, where);
  else yield rejectedRecord('indicator', entry ? 'no value' : problem, where);
}

/** The maximum length of a line in bytes. */
const MAX_LINE = 4096;
const DSHIELD_COLUMNS = /^Start\tEnd\tNetblock\tAttacks/im;

/** DShield's recommended block list: the first and the last address of each network, attacks, and who holds it. */
export const dshieldImporter: Importer = {
  name: 'dshield',
  label: 'DShield block list',

  recognizes: (head) => DSHIELD_COLUMNS.test(head),

  async *read(input: ImportInput) {
    let [hasColumns, isEmpty] = [false, true];
    function* recordsOf(lines: Iterable<Line>) {
      for (const { number, text, problem } of lines) {
        isEmpty = false;
        if (DSHIELD_COLUMNS.test(text)) hasColumns = true;
        else if (problem !== null) yield rejectedRecord('indicator', problem, `line ${number}`);
        else if (text.trim() !== '' && !text.startsWith('#')) yield* dshieldRecords(text, `line ${number}`);
      }
    }
    for await (const lines of readLines(input, MAX_LINE)) yield recordsOf(lines);
    if (isEmpty) throw new UnreadableInput('the file is empty');
    if (!hasColumns)
      throw new UnreadableInput('not DShield’s block list: it has no line with the column names');
  },
};

function* dshieldRecords(line: string, where: string): Generator<ImportRecord> {
  const [first = '', last = '', , attacks = '', holder, country] = line
    .split('\t')
    .map((cell) => cell.trim());
  const range = blocksBetween(first, last) ?? [{ rejected: 'not a first and a last address' }];
  const description = /^\d+$/.test(attacks) ? `${attacks} attacks` : undefined;
  yield* records(range, { name: [holder, country].filter(Boolean).join(', '), description }, where);
}

/** Yields an indicator of each value with what its entry says. */
function* records(
  values: readonly NormalizeResult[],
  { name, description }: Partial<Record<'name' | 'description', unknown>>,
  where: string,
): Generator<ImportRecord> {
  const said: SourceRecord = omitAbsent({
    name: shortTextOf(name),
    description: recordTextOf(description),
    isShared: values.length > 1 || null,
  });
  for (const value of values) {
    const made = indicatorRecord(value, {});
    if ('rejected' in made) yield rejectedRecord('indicator', made.rejected, where);
    else yield Object.keys(said).length === 0 ? made : { ...made, records: [said] };
  }
}
