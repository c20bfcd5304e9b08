import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { knownIndicators } from '../../src/db/statistics.ts';
import { recognizeFormat } from '../../src/importers/recognize.ts';
import { stixImporter } from '../../src/importers/stix.ts';
import { createCounts } from '../../src/imports/import-context.ts';
import { type ImportOptions, importFiles } from '../../src/imports/imports.service.ts';
import { ensureSource, newSource } from '../../src/sources/store/sources.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness, WIDEST } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, reportRecord } from '../support/records.ts';

const revision = async ({ db }: Harness) =>
  (await db.selectFrom('revision').selectAll().executeTakeFirstOrThrow()).value;

interface Given extends Pick<ImportOptions, 'readers'> {
  dryRun?: boolean;
  sourceName?: string;
}

async function importText(tipline: Harness, text: string, given: Given = {}) {
  const { dryRun = false, sourceName = 'File', readers } = given;
  const defaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;
  const source = await ensureSource(tipline.db, sourceName, 'import', defaults, NOW);
  const input = { fileName: 'file', open: () => Readable.from([Buffer.from(text)]) };
  const importer = await recognizeFormat(input);
  if (!importer) throw new Error('not recognized');
  const counts = createCounts();
  const [interruption = null] = await importFiles(tipline.db, [{ importer, input }], {
    source,
    now: NOW,
    dryRun,
    counts,
    tlpCeiling: 'RED',
    widest: WIDEST,
    readers,
  });
  return { counts, indicators: counts.kinds.get('indicator'), interruption };
}

const indicator = (n: number, value: string) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  created: '2026-01-01T00:00:00.000Z',
  modified: '2026-01-02T00:00:00.000Z',
  valid_from: '2026-01-01T00:00:00Z',
  pattern: `[domain-name:value = '${value}']`,
  pattern_type: 'stix',
});
const malware = {
  type: 'malware',
  spec_version: '2.1',
  id: 'malware--00000000-0000-4000-8000-00000000000a',
  created: '2026-01-01T00:00:00.000Z',
  modified: '2026-01-01T00:00:00.000Z',
  name: 'Locker',
  is_family: true,
};
const indicates = {
  type: 'relationship',
  spec_version: '2.1',
  id: 'relationship--00000000-0000-4000-8000-00000000000b',
  created: '2026-01-01T00:00:00.000Z',
  modified: '2026-01-01T00:00:00.000Z',
  relationship_type: 'indicates',
  source_ref: indicator(1, '').id,
  target_ref: malware.id,
};
const bundle = (...objects: unknown[]) => JSON.stringify({ type: 'bundle', id: 'bundle--1', objects });

onEveryEngine((engine) => {
  describe('an import', () => {
    it('changes nothing and increments no revision when repeated', async () => {
      const tipline = await startHarness(engine);
      const text = bundle(
        indicates,
        indicator(1, 'one.example.com'),
        indicator(2, 'two.example.com'),
        malware,
      );
      const first = await importText(tipline, text);
      expect(first.indicators).toMatchObject({ read: 2, new: 2, updated: 0, unchanged: 0, rejected: 0 });
      expect(first.counts.kinds.get('relationship')).toMatchObject({ read: 1, new: 1 });
      const before = await revision(tipline);
      const second = await importText(tipline, text);
      expect(second.indicators).toMatchObject({ read: 2, new: 0, updated: 0, unchanged: 2, rejected: 0 });
      for (const counts of second.counts.kinds.values()) expect(counts.unchanged).toBe(counts.read);
      expect(await revision(tipline)).toBe(before);
      await tipline.close();
    });

    it('counts duplicates in a file as unchanged or updated, and assigns numbers to new indicators only', async () => {
      const tipline = await startHarness(engine);
      const counts = await tipline.load([
        indicatorRecord('DOMAIN', 'a.example.com'),
        indicatorRecord('DOMAIN', 'A.example.com'),
        indicatorRecord('DOMAIN', 'a.example.com', { tags: ['x'] }),
        indicatorRecord('DOMAIN', 'b.example.com'),
      ]);
      expect(counts.kinds.get('indicator')).toMatchObject({ read: 4, new: 2, updated: 1, unchanged: 1 });
      await tipline.load([indicatorRecord('DOMAIN', 'a.example.com', { tags: ['y'] })]);
      await tipline.load([indicatorRecord('DOMAIN', 'c.example.com')], 'Another');
      const numbers = await tipline.db.selectFrom('indicator').select('number').orderBy('number').execute();
      expect(numbers.map(({ number }) => number)).toEqual([1, 2, 3]);
      await tipline.close();
    });

    it('refreshes table statistics when a table grows, but not after few new rows', {
      tags: ['nightly'],
    }, async () => {
      const tipline = await startHarness(engine);
      // Autovacuum, which may run at any time, refreshes them too.
      await sql`alter table indicator set (autovacuum_enabled = off)`.execute(tipline.db);
      const domains = (name: string, length: number) =>
        Array.from({ length }, (_, i) => indicatorRecord('DOMAIN', `${name}${i}.example.com`));
      await tipline.load(domains('n', 2_500));
      const known = await knownIndicators(tipline.db);
      expect(known).toBeGreaterThanOrEqual(1_000);
      await tipline.load(domains('m', 200));
      await tipline.load(domains('n', 2_500));
      expect(await knownIndicators(tipline.db)).toBe(known);
      await sql`alter table indicator reset (autovacuum_enabled)`.execute(tipline.db);
      await tipline.close();
    });

    it('in a dry run predicts the counts and writes nothing', async () => {
      const tipline = await startHarness(engine);
      const text = bundle(
        indicator(1, 'one.example.com'),
        indicator(2, 'not a domain'),
        malware,
        indicator(3, 'one.example.com'),
      );
      const rehearsed = await importText(tipline, text, { dryRun: true });
      expect(await revision(tipline)).toBe(0);
      expect((await tipline.get('/api/v1/indicators')).json().total).toBe(0);
      const done = await importText(tipline, text);
      expect(rehearsed.indicators).toEqual(done.indicators);
      await tipline.close();
    });

    it('imports the complete records of a truncated file, reports the position, and creates no dangling relationships', async () => {
      const tipline = await startHarness(engine);
      const text = bundle(
        indicator(1, 'one.example.com'),
        indicates,
        indicator(2, 'two.example.com'),
        malware,
      );
      const { interruption, indicators } = await importText(tipline, text.slice(0, text.indexOf('Locker')));
      expect(interruption?.message).toMatch(/\d/);
      expect(indicators).toMatchObject({ new: 2 });
      expect((await tipline.get('/api/v1/indicators')).json().total).toBe(2);
      expect(await tipline.db.selectFrom('relationship').selectAll().execute()).toEqual([]);
      const { counts } = await importText(tipline, text);
      expect(counts.kinds.get('relationship')).toMatchObject({ new: 1 });
      await tipline.close();
    });

    it('rejects an invalid record as a whole, and names it', async () => {
      const tipline = await startHarness(engine);
      const broken = { ...indicator(2, 'two.example.com'), valid_from: 'whenever' };
      const { counts, indicators } = await importText(
        tipline,
        bundle(indicator(1, 'one.example.com'), broken),
      );
      expect(indicators).toMatchObject({ read: 2, new: 1, rejected: 1 });
      expect(counts.examples[0]?.where).toContain(broken.id);
      expect((await tipline.get('/api/v1/indicators')).json().total).toBe(1);
      await tipline.close();
    });

    it('merges the statements of several sources', async () => {
      const tipline = await startHarness(engine);
      const at = (d: string) => new Date(`${d}T00:00:00.000Z`);
      const value = 'shared.example.com';
      await tipline.load(
        [
          indicatorRecord('DOMAIN', value, {
            tags: ['b'],
            confidence: 60,
            firstSeen: at('2026-02-01'),
            lastSeen: at('2026-02-02'),
            severity: 'LOW',
            expiresAt: at('2027-01-01'),
          }),
        ],
        'One',
      );
      await tipline.load(
        [
          indicatorRecord('DOMAIN', value, {
            tags: ['a'],
            confidence: 40,
            firstSeen: at('2026-01-01'),
            lastSeen: at('2026-03-01'),
            severity: 'HIGH',
            tlp: 'GREEN',
            expiresAt: at('2028-01-01'),
          }),
        ],
        'Two',
      );
      const { data } = (await tipline.get('/api/v1/indicators')).json();
      expect(data).toEqual([
        expect.objectContaining({
          tags: ['a', 'b'],
          confidence: 60,
          source: 'One',
          severity: 'HIGH',
          tlp: 'GREEN',
          firstSeen: '2026-01-01T00:00:00.000Z',
          lastSeen: '2026-03-01T00:00:00.000Z',
          expiresAt: '2028-01-01T00:00:00.000Z',
        }),
      ]);
      await tipline.close();
    });

    it('keeps a pinned confidence', async () => {
      const tipline = await startHarness(engine);
      await tipline.load([indicatorRecord('DOMAIN', 'pinned.example.com', { confidence: 20 })]);
      await tipline.db.updateTable('indicator').set({ pinned_confidence: 7, confidence: 7 }).execute();
      await tipline.load(
        [indicatorRecord('DOMAIN', 'pinned.example.com', { confidence: 90, statedAt: NOW })],
        'Two',
      );
      const { data } = (await tipline.get('/api/v1/indicators')).json();
      expect(data[0].confidence).toBe(7);
      expect((await tipline.get(`/api/v1/indicators/${data[0].id}/context`)).json().confidenceLocked).toBe(
        true,
      );
      await tipline.close();
    });

    it("neither reveals one source's restricted data nor hides another source's public data", async () => {
      const tipline = await startHarness(engine);
      await tipline.load(
        [actorRecord('Bear', { externalIds: ['x'], tlp: 'RED', description: 'secret' })],
        'Private',
      );
      await tipline.load([actorRecord('Bear', { externalIds: ['y'], description: 'public' })], 'Public');
      await tipline.load([actorRecord('Bear', { externalIds: ['z'], tlp: 'RED', country: 'RU' })], 'Third');
      const key = await tipline.newKey({ tlpCeiling: 'CLEAR' });
      const { data, total } = (await tipline.get('/api/v1/actors', { key })).json();
      expect(total).toBe(1);
      expect((await tipline.get(`/api/v1/actors/${data[0].id}`, { key })).json().data).toMatchObject({
        description: 'public',
        country: null,
      });
      await tipline.close();
    });

    it('keeps groups apart that share a name but have different ATT&CK ids', async () => {
      const tipline = await startHarness(engine);
      const aliases = [{ alias: 'Shared', namedBy: null }];
      await tipline.load([
        actorRecord('One', { attackGroupId: 'G0001', aliases }),
        actorRecord('Two', { attackGroupId: 'G0002', aliases }),
        actorRecord('one', { externalIds: ['again'], aliases: [{ alias: 'Uno', namedBy: null }] }),
        actorRecord('Shared', { externalIds: ['ambiguous'] }),
      ]);
      const { data } = (await tipline.get('/api/v1/actors')).json();
      expect(data.map(({ name }: { name: string }) => name.toLowerCase())).toEqual(['one', 'shared', 'two']);
      expect(data[0].aliases.map(({ alias }: { alias: string }) => alias)).toEqual(['Shared', 'Uno']);
      await tipline.close();
    });

    it('resolves relationships across files, in any record order', async () => {
      const tipline = await startHarness(engine);
      await tipline.load([
        actorRecord('Bear', { externalIds: ['a'] }),
        campaignRecord('Honey', { externalIds: ['c'] }),
      ]);
      const counts = await tipline.load([
        relationshipRecord('i', 'indicates', 'a'),
        relationshipRecord('i', 'indicates', 'nobody'),
        relationshipRecord('a', 'indicates', 'c'),
        indicatorRecord('DOMAIN', 'x.example.com', { externalIds: ['i'] }),
        indicatorRecord('DOMAIN', 'y.example.com', { externalIds: ['i'] }),
      ]);
      expect(counts.kinds.get('relationship')).toMatchObject({ read: 4, new: 2, rejected: 2 });
      const { id } = (await tipline.get('/api/v1/actors')).json().data[0];
      expect((await tipline.get(`/api/v1/indicators?actorId=${id}`)).json().total).toBe(2);
      await tipline.close();
    });

    it('rejects a relationship that expands to too many pairs of objects, and writes the others', {
      tags: ['nightly'],
    }, async () => {
      const tipline = await startHarness(engine);
      const pattern = (id: string, values: number) =>
        Array.from({ length: values }, (_, i) =>
          indicatorRecord('DOMAIN', `${id}-${i}.example.com`, { externalIds: [id] }),
        );
      const actors = Array.from({ length: 12 }, (_, i) =>
        actorRecord(`Bear ${i}`, { externalIds: [`a${i}`] }),
      );
      const counts = await tipline.load([
        ...pattern('wide', 1_001),
        ...pattern('narrow', 1_000),
        ...actors,
        ...actors.flatMap((_, i) => [
          relationshipRecord('wide', 'indicates', `a${i}`),
          relationshipRecord('narrow', 'indicates', `a${i}`),
        ]),
      ]);
      expect(counts.kinds.get('relationship')).toMatchObject({
        new: 12_000,
        rejected: 12,
        reasons: { 'its ends stand for more than 1000 pairs of objects': 12 },
      });
      await tipline.close();
    });

    it('keeps a relationship under the TLP marking of each source', async () => {
      const tipline = await startHarness(engine);
      const said = (tlp: 'GREEN' | 'RED' | 'AMBER') => relationshipRecord('i', 'indicates', 'a', { tlp });
      const all = async () => {
        await tipline.load([
          actorRecord('Bear', { externalIds: ['a'] }),
          indicatorRecord('DOMAIN', 'x.example.com', { externalIds: ['i'] }),
          said('GREEN'),
          said('RED'),
        ]);
        await tipline.load([said('AMBER')], 'Another');
      };
      await all();
      const before = await revision(tipline);
      await all();
      expect(await revision(tipline)).toBe(before);
      const actor = (await tipline.get('/api/v1/actors')).json().data[0].id;
      const linked = async (tlpCeiling: 'GREEN' | 'AMBER' | 'RED') => {
        const key = await tipline.newKey({ tlpCeiling });
        const { data, total } = (await tipline.get(`/api/v1/indicators?actorId=${actor}`, { key })).json();
        expect(data).toHaveLength(total);
        return total;
      };
      expect([await linked('GREEN'), await linked('AMBER'), await linked('RED')]).toEqual([0, 1, 1]);
      await tipline.close();
    });

    it('merges reports whose foreign ids contain the same UUID', async () => {
      const tipline = await startHarness(engine);
      const uuid = '00000000-0000-4000-8000-000000000001';
      await tipline.load([reportRecord('One', { externalIds: [`report--${uuid}`] })]);
      const counts = await tipline.load([reportRecord('One', { externalIds: [`x-report--${uuid}`] })]);
      expect(counts.kinds.get('report')).toMatchObject({ read: 1, updated: 1 });
      await tipline.close();
    });

    it('resolves relationships to objects in a later file of the same import', async () => {
      const tipline = await startHarness(engine);
      const defaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;
      const source = await ensureSource(tipline.db, 'Files', 'import', defaults, NOW);
      const counts = createCounts();
      const files = [bundle(indicates), bundle(malware), bundle(indicator(1, 'one.example.com'))].map(
        (text, i) => ({
          importer: stixImporter,
          input: { fileName: `file ${i}`, open: () => Readable.from([Buffer.from(text)]) },
        }),
      );
      await importFiles(tipline.db, files, {
        source,
        now: NOW,
        dryRun: false,
        tlpCeiling: 'RED',
        widest: WIDEST,
        counts,
      });
      expect(counts.kinds.get('relationship')).toMatchObject({ read: 1, new: 1, rejected: 0 });
      await tipline.close();
    });

    it('yields to readers after each batch, for no longer than the batch took', async () => {
      const tipline = await startHarness(engine);
      const names = Array.from({ length: 1_200 }, (_, i) => indicator(i, `d${i}.example.com`));
      const run = async (text: string, { served, dryRun = false }: { served: boolean; dryRun?: boolean }) => {
        const rests: number[] = [];
        let asked = 0;
        const readers = {
          areServed: async () => {
            asked++;
            return served;
          },
          yieldToReaders: async (ms: number) => {
            rests.push(ms);
          },
        };
        const before = await revision(tipline);
        const started = performance.now();
        await importText(tipline, text, { dryRun, readers });
        return {
          asked,
          rests,
          worked: performance.now() - started,
          batches: (await revision(tipline)) - before,
        };
      };
      const halves = [names.slice(0, 600), names.slice(600)].map((half) => bundle(...half)) as [
        string,
        string,
      ];
      expect(await run(halves[0], { served: true, dryRun: true })).toMatchObject({ asked: 0, rests: [] });
      const busy = await run(halves[0], { served: true });
      expect(busy.batches).toBeGreaterThan(1);
      expect(busy.rests).toHaveLength(busy.batches);
      expect(busy.rests.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(busy.worked);
      expect(Math.min(...busy.rests)).toBeGreaterThan(0);
      const quiet = await run(halves[1], { served: false });
      expect(quiet).toMatchObject({ asked: quiet.batches, rests: [] });
      await tipline.close();
    });

    it('can run concurrently with imports of the same objects', { tags: ['nightly'] }, async () => {
      const tipline = await startHarness(engine);
      const records = Array.from({ length: 300 }, (_, i) => indicatorRecord('DOMAIN', `d${i}.example.com`));
      const tag = (tags: string[]) => records.map((record) => ({ ...record, tags }));
      await Promise.all([
        tipline.load(tag(['a']), 'One'),
        tipline.load(tag(['b']).reverse(), 'Two'),
        tipline.load([...tag(['c']), actorRecord('Bear')], 'One'),
        tipline.load([...tag(['d']), actorRecord('Bear')], 'Three'),
      ]);
      const { data, total } = (await tipline.get('/api/v1/indicators?pageSize=500')).json();
      expect(total).toBe(300);
      for (const { tags } of data) expect(tags).toEqual(['a', 'b', 'c', 'd']);
      expect((await tipline.get('/api/v1/actors')).json().total).toBe(1);
      const { last_number } = await tipline.db.selectFrom('revision').selectAll().executeTakeFirstOrThrow();
      expect(last_number).toBe(300);
      await tipline.close();
    });
  });
});

describe('a database failure', () => {
  it('aborts the import, and is not reported as an unreadable file', async () => {
    const gone = Object.assign(new Error('connect ENOENT'), { code: 'ENOENT', syscall: 'connect' });
    const get = () => {
      throw gone;
    };
    const text = bundle(indicator(1, 'one.example.com'));
    const input = { fileName: 'file', open: () => Readable.from([Buffer.from(text)]) };
    const defaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;
    const options = {
      source: newSource('s', 's', defaults),
      now: NOW,
      dryRun: false,
      tlpCeiling: 'RED' as const,
      widest: WIDEST,
      counts: createCounts(),
    };
    const importing = importFiles(
      new Proxy({}, { get }) as never,
      [{ importer: stixImporter, input }],
      options,
    );
    await expect(importing).rejects.toThrow(gone);
  });
});
