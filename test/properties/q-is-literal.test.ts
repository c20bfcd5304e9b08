import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { IndicatorRecord } from '../../src/importers/importer.ts';
import { normalize } from '../../src/model/normalize.ts';
import { refang } from '../../src/model/refang.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';

/** LIKE's wildcards and its escape, quotes, and letters whose cases are not one to one. */
const PIECES = [
  ...[
    '%',
    '_',
    '\\',
    '\\\\',
    "'",
    '"',
    '%%',
    '\\%',
    '\\_',
    '$1',
    ':',
    '/',
    '.',
    '?',
    '+',
    '&',
    '=',
    ' ',
    '-',
  ],
  ...['a', 'A', 'b', 'B', 'aB', 'é', 'É', 'e\u0301', 'ß', 'ẞ', 'ss', 'İ', 'i', 'I', 'ı', 'Σ', 'σ', 'ς'],
  ...['Ж', 'ж', 'ǅ', 'Ⅳ', 'ⓐ', 'Ａ', '漢', '\u{1f600}', '\u{10400}', '\u{10428}', '\u212a', 'ﬁ'],
];
const text = fc.string({ unit: fc.constantFrom(...PIECES), minLength: 1, maxLength: 14 });

const record = fc
  .tuple(fc.constantFrom('FILENAME', 'MUTEX', 'USER_AGENT', 'URL' as const), text)
  .map(([type, value]) => [type, type === 'URL' ? `http://host.example/${value}` : value] as const)
  .filter(([type, value]) => !('rejected' in normalize(type, value)))
  .map(([type, value]) => indicatorRecord(type, value));

/** A part of one of the values, in another case, or anything. */
const wanted = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ of: fc.nat(), from: fc.nat(), length: fc.nat(6), shout: fc.boolean() }),
  },
  { weight: 1, arbitrary: text },
);
type Wanted = typeof wanted extends fc.Arbitrary<infer T> ? T : never;

function queryOf(want: Wanted, records: IndicatorRecord[]): string {
  if (typeof want === 'string') return want;
  const letters = [...(records[want.of % records.length]?.normalized ?? '')];
  const from = want.from % letters.length;
  const part = letters.slice(from, from + 1 + want.length);
  return part.map((letter) => (want.shout && isOneToOne(letter) ? letter.toUpperCase() : letter)).join('');
}

/** Upper-casing `ß`, `ﬁ` or `ı` makes another word of it. */
function isOneToOne(letter: string): boolean {
  return fold(letter.toUpperCase()) === fold(letter);
}

/** Letter by letter, so that a part of a word folds as the whole does; both small sigmas are one letter. */
function fold(word: string): string {
  return [...word].map((letter) => (letter === 'ς' ? 'σ' : letter.toLowerCase())).join('');
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeAll(async () => void (harness = await startHarness(engine)));
  afterAll(() => harness.close());

  async function found(q: string): Promise<string[]> {
    const response = await harness.get(`/api/v1/indicators?${new URLSearchParams({ q, pageSize: '500' })}`);
    expect(response.statusCode).toBe(200);
    return response.json().data.map(({ value }: { value: string }) => value);
  }

  it('q matches exactly the values that contain it, literally or refanged, ignoring case', async () => {
    const property = fc.asyncProperty(
      fc.array(record, { minLength: 1, maxLength: 25, size: 'max' }),
      fc.array(wanted, { minLength: 15, maxLength: 30, size: 'max' }),
      async (records, wishes) => {
        await sql`truncate indicator, indicator_source, enrichment, external_id, whitelist_hit,
      enrichment_request`.execute(harness.db);
        await harness.load(records);
        const stored = new Map(records.map(({ type, normalized }) => [`${type} ${normalized}`, normalized]));
        for (const wish of wishes) {
          const q = queryOf(wish, records);
          const forms = [q, refang(q) || q].map(fold);
          const expected = [...stored.values()].filter((normalized) =>
            forms.some((form) => fold(normalized).includes(form)),
          );
          const values = (await found(q)).map((value) => fold(value));
          expect({ q, values: values.sort() }).toEqual({ q, values: expected.map(fold).sort() });
        }
      },
    );
    await fc.assert(property, runs(8));
  });

  it('q treats final and medial sigma as equal', async () => {
    await sql`truncate indicator, indicator_source, enrichment, external_id, whitelist_hit,
      enrichment_request`.execute(harness.db);
    await harness.load([indicatorRecord('MUTEX', 'ΟΔΟΣ')]);
    expect([await found('ΟΣ'), await found('οσ'), await found('ΔΟ')]).toEqual([['ΟΔΟΣ'], ['ΟΔΟΣ'], ['ΟΔΟΣ']]);
  });
});
