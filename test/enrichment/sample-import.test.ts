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
    for await (const part of importer?.read(input) ?? []) read.push(...part);
    records.set(file, read);
  }
});

const all = (): ImportRecord[] => [...records.values()].flat();
const indicators = (): IndicatorRecord[] => all().filter((record) => record.kind === 'indicator');

/** The values that providers answered about. */
function enriched(): { type: string; value: string }[] {
  return readdirSync(path.join(sample, 'enrichments')).map((name) =>
    JSON.parse(readFileSync(path.join(sample, 'enrichments', name), 'utf8')),
  );
}

/** What each external id of the sample stands for. */
function kindsById(): Map<string, ImportRecord['kind']> {
  const entities = all().filter((record) => 'externalIds' in record);
  return new Map(entities.flatMap(({ externalIds, kind }) => externalIds.map((id) => [id, kind] as const)));
}

describe('importing the sample data', () => {
  it.each(manifest.map(({ file }) => file))('accepts at least nine tenths of %s', (file) => {
    const read = records.get(file) ?? [];
    const rejected = read.filter(({ kind }) => kind === 'rejected');
    expect(read.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThanOrEqual(read.length / 10);
  });

  it('yields every kind of object', () => {
    const kinds = new Set(all().map(({ kind }) => kind));
    for (const kind of ['actor', 'campaign', 'technique', 'software', 'report'] as const) {
      expect(kinds).toContain(kind);
    }
  });

  it('yields every indicator type except ASN', () => {
    const types = new Set(indicators().map(({ type }) => type));
    expect([...types].sort()).toEqual(INDICATOR_TYPES.filter((type) => type !== 'ASN').sort());
  });

  it('yields nothing that expires', () => {
    expect(indicators().filter(({ expiresAt }) => expiresAt !== null)).toEqual([]);
  });

  it('yields each enriched value', () => {
    const brought = new Set(indicators().map(({ type, value }) => `${type} ${value}`));
    for (const { type, value } of enriched()) expect(brought).toContain(`${type} ${value}`);
  });

  it('yields at least ten enriched indicators linked to an actor, a campaign and a report', () => {
    const kindById = kindsById();
    const links = all().filter((record) => record.kind === 'relationship');
    const full = enriched().filter(({ type, value }) => {
      const same = indicators().filter((known) => known.type === type && known.value === value);
      const ids = new Set(same.flatMap(({ externalIds }) => externalIds));
      const about = links.filter(({ from }) => ids.has(from)).map(({ to }) => kindById.get(to));
      const tellers = links.filter(({ to }) => ids.has(to)).map(({ from }) => kindById.get(from));
      return about.includes('actor') && about.includes('campaign') && tellers.includes('report');
    });
    expect(full.length).toBeGreaterThanOrEqual(10);
  });

  it("links a file's hashes to ATT&CK's malware and actor, and to a report", () => {
    const kindById = kindsById();
    const bundle = records.get('stix/kerrdown.json') ?? [];
    for (const hash of bundle.filter((record) => record.kind === 'indicator')) {
      const [id = ''] = hash.externalIds;
      const links = bundle.filter((record) => record.kind === 'relationship');
      const ends = links.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []));
      expect(ends.map((end) => kindById.get(end)).sort()).toEqual(['actor', 'report', 'software']);
    }
  });
});
