import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ImportRecord, IndicatorRecord } from '../../src/importers/importer.ts';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { INDICATOR_TYPES } from '../../src/model/vocabulary.ts';

const sample = fileURLToPath(new URL('../../sample/', import.meta.url));
const manifest: { file: string }[] = JSON.parse(readFileSync(path.join(sample, 'manifest.json'), 'utf8'));
const records = new Map<string, ImportRecord[]>();

beforeAll(async () => {
  for (const { file } of manifest) {
    const input = { fileName: file, open: () => createReadStream(path.join(sample, file)) };
    const importer = await recognizeFormat(input);
    const read: ImportRecord[] = [];
    for await (const record of importer?.read(input) ?? []) read.push(record);
    records.set(file, read);
  }
});

const all = (): ImportRecord[] => [...records.values()].flat();
const indicators = (): IndicatorRecord[] => all().filter((record) => record.kind === 'indicator');

describe('importing the sample', () => {
  it.each(manifest.map(({ file }) => file))('reads at least nine tenths of %s', (file) => {
    const read = records.get(file) ?? [];
    const rejected = read.filter(({ kind }) => kind === 'rejected');
    expect(read.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThanOrEqual(read.length / 10);
  });

  it('brings every kind of object', () => {
    const kinds = new Set(all().map(({ kind }) => kind));
    for (const kind of ['actor', 'campaign', 'technique', 'software', 'report'] as const) {
      expect(kinds).toContain(kind);
    }
  });

  it('brings every indicator type but ASN, of which there is no honest public list in it', () => {
    const types = new Set(indicators().map(({ type }) => type));
    expect([...types].sort()).toEqual(INDICATOR_TYPES.filter((type) => type !== 'ASN').sort());
  });

  it('brings nothing that expires', () => {
    expect(indicators().filter(({ expiresAt }) => expiresAt !== null)).toEqual([]);
  });

  it('brings each enriched value', () => {
    const brought = new Set(indicators().map(({ type, value }) => `${type} ${value}`));
    for (const name of readdirSync(path.join(sample, 'enrichments'))) {
      const { type, value } = JSON.parse(readFileSync(path.join(sample, 'enrichments', name), 'utf8'));
      expect(brought).toContain(`${type} ${value}`);
    }
  });

  it('brings an enriched indicator that an actor, a campaign and a report are linked with', () => {
    const links = all().filter((record) => record.kind === 'relationship');
    const known = indicators().filter(({ value }) => value === '147.124.217.204');
    const ids = new Set(known.flatMap(({ externalIds }) => externalIds));
    const linked = links.filter(({ from, to }) => ids.has(from) || ids.has(to));
    const ends = linked.flatMap(({ from, to }) => [from, to]).map((id) => id.split('--')[0]);
    expect(ends).toEqual(expect.arrayContaining(['intrusion-set', 'campaign', 'report']));
  });
});
