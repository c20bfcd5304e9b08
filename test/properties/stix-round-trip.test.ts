import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { stixFormat } from '../../src/formats/stix.ts';
import { stixImporter } from '../../src/importers/stix.ts';
import { normalize } from '../../src/model/normalize.ts';
import { latestRecords, type SourceRecord } from '../../src/model/source-record.ts';
import { uniqueTags } from '../../src/model/statement.ts';
import { INDICATOR_TYPES, type IndicatorType, SEVERITIES, TLPS } from '../../src/model/vocabulary.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from '../formats/input.ts';
import { exportRows } from '../formats/stix-rows.ts';
import { bundleProblems } from '../formats/stix-rules.ts';
import { inputOf, ofKind, runImporter } from '../importers/run-importer.ts';
import { runs } from './runs.ts';

const stix = stixFormat({ context: false });

/** Free text as PostgreSQL can hold it and importers leave it. */
const text = (maxLength: number) =>
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength })
    .map((raw) => raw.replaceAll('\u0000', '').trim())
    .filter((trimmed) => trimmed !== '');
const path = fc
  .array(fc.constantFrom('C:', 'tmp', 'a b', "it's", '%TEMP%', '.x', '\\', '/', '"', '..'), { minLength: 1 })
  .map((parts) => parts.join(''));
const HASHES = new Set<IndicatorType>(['MD5', 'SHA1', 'SHA256']);
const date = fc.date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });

const known = fc.constantFrom(...GOLDEN, ...HOSTILE).map(({ type, value }) => ({ type, value }));
const literal = fc.record({
  type: fc.constantFrom('MUTEX' as const, 'USER_AGENT' as const, 'FILENAME' as const),
  value: fc.oneof(text(40), path),
});
const observable = fc
  .oneof(known, literal)
  .filter(({ type, value }) => !('rejected' in normalize(type, value)));

/** What a source says, as importers leave it. */
const sourceRecord: fc.Arbitrary<SourceRecord> = fc.record(
  {
    id: fc.uuid().map((id) => `indicator--${id}`),
    statedAt: date.map((it) => it.toISOString()),
    reportId: text(20),
    name: text(40),
    description: text(200),
    direction: fc.constantFrom('source' as const, 'destination' as const),
    type: fc.stringMatching(/^[a-z0-9|_-]{1,10}$/),
    category: text(10),
    original: text(40),
    killChainPhases: fc.array(fc.record({ chain: text(10), phase: text(10) }), {
      minLength: 1,
      maxLength: 3,
    }),
    object: fc.record(
      { id: fc.uuid(), name: text(10), relation: text(10), metaCategory: text(10), comment: text(40) },
      { requiredKeys: ['id', 'name'] },
    ),
    isShared: fc.constant(true as const),
  },
  { requiredKeys: ['id'] },
);

const row = fc
  .record({
    observable,
    times: fc.tuple(date, date, date, date),
    expiresAt: fc.option(date),
    confidence: fc.integer({ min: 0, max: 100 }),
    severity: fc.constantFrom(...SEVERITIES),
    tlp: fc.constantFrom(...TLPS),
    tags: fc.array(fc.oneof(text(60), fc.constantFrom('benign', 'malicious-activity'))).map(uniqueTags),
    source: text(40),
    forDetection: fc.boolean(),
    isOfCertificate: fc.boolean(),
    records: fc.array(sourceRecord, { maxLength: 3 }).map(latestRecords),
    externalIds: fc
      .array(
        fc.oneof(
          text(40),
          fc.uuid().map((id) => `indicator--${id}`),
        ),
      )
      .map(uniqueTags),
  })
  .map(({ observable: { type, value }, times, isOfCertificate, records, ...fields }): ExportIndicator => {
    const [a, b, c, d] = times;
    const [firstSeen, lastSeen] = a <= b ? [a, b] : [b, a];
    const [createdAt, modifiedAt] = c <= d ? [c, d] : [d, c];
    const ofCertificate = isOfCertificate && HASHES.has(type);
    return exportIndicator(1, type, value, {
      ...fields,
      records: records.map((record) => ({ ...record, source: fields.source })),
      ofCertificate,
      firstSeen,
      lastSeen,
      createdAt,
      modifiedAt,
    });
  });

const read = async (bundle: string) =>
  (await runImporter(stixImporter, inputOf(bundle, 'export.json'))).records;

/** What no round trip may lose. */
function kept({ type, value, normalized, ...row }: ExportIndicator) {
  const { firstSeen, lastSeen, expiresAt, tlp, tags, severity, confidence, forDetection, ofCertificate } =
    row;
  const times = { firstSeen, lastSeen, expiresAt };
  const marks = { forDetection, ...(ofCertificate && { ofCertificate }) };
  return { type, value, normalized, ...times, tlp, tags, severity, confidence, ...marks };
}

describe('a STIX round trip', () => {
  it('from an export loses nothing', async () => {
    await fc.assert(
      fc.asyncProperty(row, async (given) => {
        const bundle = await written(stix, [given]);
        expect(bundleProblems(bundle)).toEqual([]);
        const [record, ...others] = await read(bundle);
        expect(others).toEqual([]);
        expect(record).toEqual({
          kind: 'indicator',
          ...kept(given),
          tags: expect.toSatisfy((tags: string[]) => sameSet(tags, given.tags)),
          statedAt: given.modifiedAt,
          records: given.records.map(({ source: _, ...said }) => said),
          externalIds: expect.toSatisfy((ids: string[]) => sameSet(ids.slice(1), given.externalIds)),
        });
      }),
      runs(500),
    );
  });

  it('of a foreign bundle loses no indicator, tag, TLP or time', async () => {
    await fc.assert(
      fc.asyncProperty(foreignBundle, async (bundle) => {
        const rows = exportRows(ofKind(await read(JSON.stringify(bundle)), 'indicator'));
        const again = exportRows(ofKind(await read(await written(stix, rows)), 'indicator'));
        expect(byId(again).map(kept)).toEqual(byId(rows).map(kept));
      }),
      runs(200),
    );
  });
});

const sameSet = (a: string[], b: string[]) => JSON.stringify(uniqueTags(a)) === JSON.stringify(b);
const byId = (rows: ExportIndicator[]) => rows.sort((a, b) => (a.id < b.id ? -1 : 1));

const PATTERNS = [
  "[ipv4-addr:value = '192.0.2.1' OR ipv4-addr:value = '192.0.2.2']",
  "[domain-name:value IN ('one.example', 'two.example')]",
  "[file:hashes.MD5 = 'd41d8cd98f00b204e9800998ecf8427a']",
  "[file:name = 'C:\\\\Windows\\\\evil.exe']",
  "[email-addr:value = 'Phisher@evil.example'] OR [email-addr:value = 'phisher@evil.example']",
];
const MARKINGS = [
  'marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9',
  'marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003',
];
const stated = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const instant = stated(date.map((it) => it.toISOString()));

const foreignBundle = fc
  .array(
    fc.record({
      type: fc.constant('indicator'),
      id: fc.uuid().map((id) => `indicator--${id}`),
      pattern: fc.constantFrom(...PATTERNS),
      pattern_type: fc.constant('stix'),
      created: instant,
      modified: instant,
      valid_from: instant,
      valid_until: instant,
      labels: stated(fc.array(text(300))),
      indicator_types: stated(fc.array(fc.constantFrom('benign', 'compromised', 'own word'))),
      confidence: stated(fc.integer({ min: 0, max: 100 })),
      object_marking_refs: stated(fc.constantFrom(...MARKINGS).map((id) => [id])),
    }),
    { maxLength: 4 },
  )
  .map((objects) => ({ type: 'bundle', id: 'bundle--1', objects }));

describe('the round-trip data', () => {
  it('covers every indicator type', () => {
    const tried = new Set([...GOLDEN, ...HOSTILE].map(({ type }) => type));
    expect(INDICATOR_TYPES.filter((type) => !tried.has(type))).toEqual([]);
  });
});
