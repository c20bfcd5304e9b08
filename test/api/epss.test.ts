import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EpssRecord, ImportRecord } from '../../src/importers/importer.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const cveOf = (i: number) => `CVE-2026-${10_000 + i}`;
const scoreOf = (cve: string, score: number, date = '2026-05-01', percentile = score): EpssRecord => ({
  kind: 'score',
  cve,
  score,
  percentile,
  date,
});
const KEV = {
  dateAdded: '2026-04-01',
  dueDate: '2026-04-22',
  knownRansomware: true,
  requiredAction: 'Apply updates.',
};
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

onEveryEngine((engine) => {
  describe('EPSS and KEV of vulnerabilities', () => {
    let tipline: Harness;
    beforeEach(async () => {
      tipline = await startHarness(engine);
    });
    afterEach(() => tipline.close());

    const revision = async () =>
      (await tipline.db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
    const list = async (query = '') => (await tipline.get(`/api/v1/indicators${query}`)).json();
    const revisionOf = async (cve: string) =>
      await tipline.db
        .selectFrom('indicator')
        .select(['revision', 'version', 'modified_at'])
        .where('value', '=', cve)
        .executeTakeFirstOrThrow();
    const vulnerability = (i: number, fields = {}) => indicatorRecord('CVE', cveOf(i), fields);

    it('are of the CVE ids that sources list; other scores make no indicators', async () => {
      await tipline.load([vulnerability(1), vulnerability(2), indicatorRecord('DOMAIN', 'a.example.org')]);
      const counts = await tipline.load(range(1500).map((i) => scoreOf(cveOf(i), i / 2000)));
      expect(counts.kinds.get('score')).toMatchObject({ read: 1500, new: 1500, rejected: 0 });
      const { data, total } = await list();
      expect(total).toBe(3);
      const byValue = new Map(data.map((item: { value: string }) => [item.value, item]));
      expect(byValue.get(cveOf(1))).toMatchObject({
        epss: { score: 0.0005, percentile: 0.0005, date: '2026-05-01' },
        kev: null,
      });
      expect(byValue.get('a.example.org')).not.toHaveProperty('epss');
      expect(byValue.get('a.example.org')).not.toHaveProperty('kev');
      const { id } = byValue.get(cveOf(2)) as { id: string };
      const epss = { score: 0.001, percentile: 0.001, date: '2026-05-01' };
      expect((await tipline.get(`/api/v1/indicators/${id}`)).json().data).toMatchObject({ epss, kev: null });
      expect((await tipline.get(`/api/v1/indicators/${id}/context`)).json()).toMatchObject({
        epss,
        kev: null,
      });
      const looked = (await tipline.get(`/api/v1/lookup?value=${cveOf(2)}`)).json();
      expect(looked.data[0].matches[0].indicator).toMatchObject({ epss, kev: null });
    });

    it('are of an indicator that is imported after the scores', async () => {
      await tipline.load([scoreOf(cveOf(1), 0.25)]);
      expect((await list()).total).toBe(0);
      await tipline.load([vulnerability(1), vulnerability(2)]);
      const { data } = await list('?sort=epss');
      expect(data.map(({ epss }: { epss: object }) => epss)).toEqual([
        { score: 0.25, percentile: 0.25, date: '2026-05-01' },
        null,
      ]);
    });

    it('renew the revision of the rows whose score has changed, and of no others', async () => {
      await tipline.load([vulnerability(1), vulnerability(2)]);
      await tipline.load([scoreOf(cveOf(1), 0.1), scoreOf(cveOf(2), 0.2), scoreOf(cveOf(3), 0.3)]);
      const [before, first, second] = [
        await revision(),
        await revisionOf(cveOf(1)),
        await revisionOf(cveOf(2)),
      ];
      const again = [scoreOf(cveOf(1), 0.1, '2026-05-02'), scoreOf(cveOf(3), 0.4, '2026-05-02')];
      const counts = await tipline.load(again);
      expect(counts.kinds.get('score')).toMatchObject({ updated: 1, unchanged: 1 });
      expect(await revision()).toBe(before);
      await tipline.load([scoreOf(cveOf(1), 0.1, '2026-05-03'), scoreOf(cveOf(2), 0.5, '2026-05-03')]);
      expect(await revision()).toBe(before + 1);
      expect(await revisionOf(cveOf(1))).toEqual(first);
      expect(await revisionOf(cveOf(2))).toEqual({ ...second, revision: before + 1 });
      expect((await list('?sort=epss')).data.map(({ epss }: { epss: object }) => epss)).toEqual([
        { score: 0.5, percentile: 0.5, date: '2026-05-03' },
        { score: 0.1, percentile: 0.1, date: '2026-05-01' },
      ]);
    });

    it('of an older day, or of a day in the future, change nothing', async () => {
      await tipline.load([vulnerability(1), scoreOf(cveOf(1), 0.1, '2026-05-02')]);
      const before = await revision();
      const counts = await tipline.load([
        scoreOf(cveOf(1), 0.2, '2026-05-01'),
        scoreOf(cveOf(1), 0.3, '2026-06-03'),
        scoreOf(cveOf(1), 0.4, '9999-12-31'),
      ]);
      expect(counts.kinds.get('score')?.reasons).toEqual({
        'of a day in the future': 2,
        'older than the stored scores': 1,
      });
      expect(await revision()).toBe(before);
      await tipline.load([scoreOf(cveOf(1), 0.5, '2026-06-02')]);
      expect((await list()).data[0].epss.score).toBe(0.5);
    });

    it('change the ETag of the list, and not that of exports', async () => {
      await tipline.load([vulnerability(1), scoreOf(cveOf(1), 0.1)]);
      const etags = async () =>
        Promise.all(
          ['', '?format=csv', '?format=stix'].map(
            async (query) => (await tipline.get(`/api/v1/indicators${query}`)).headers.etag,
          ),
        );
      const [before, ...exportsBefore] = await etags();
      const url = '/api/v1/indicators';
      expect((await tipline.get(url, { headers: { 'if-none-match': String(before) } })).statusCode).toBe(304);
      await tipline.load([scoreOf(cveOf(1), 0.2, '2026-05-02')]);
      expect((await tipline.get(url, { headers: { 'if-none-match': String(before) } })).statusCode).toBe(200);
      const [after, ...exportsAfter] = await etags();
      expect(after).not.toBe(before);
      expect(exportsAfter).toEqual(exportsBefore);
    });

    it('filter and sort the list, with more rows than a page', async () => {
      await tipline.load([
        ...range(120).map((i) => vulnerability(i, i % 10 === 0 ? { kev: KEV } : {})),
        indicatorRecord('DOMAIN', 'a.example.org'),
      ]);
      await tipline.load(range(100).map((i) => scoreOf(cveOf(i), ((i * 37) % 100) / 100)));
      const scored = range(100)
        .map((i) => ((i * 37) % 100) / 100)
        .sort((a, b) => b - a);
      const data: { epss?: { score: number } | null }[] = [];
      for (const page of [1, 2, 3]) data.push(...(await list(`?sort=epss&page=${page}&pageSize=50`)).data);
      expect(data.map(({ epss }) => epss?.score)).toEqual([...scored, ...range(21).map(() => undefined)]);
      // As programs write numbers: Python sends 0.00005 as 5e-05, and 3 * 0.3 with 16 decimals.
      for (const number of ['0.9', '9e-01', '0.8999999999999999'])
        expect((await list(`?minEpss=${number}`)).total).toBe(10);
      expect((await list('?minEpss=0.99')).total).toBe(1);
      expect((await list('?exploited=true')).total).toBe(12);
      expect((await list('?exploited=false')).total).toBe(109);
      for (const query of [
        'exploited=false',
        'exploited=false&type=CVE',
        'exploited=false&page=3&pageSize=45',
      ])
        for (const { kev } of (await list(`?${query}`)).data) expect(kev ?? null).toBeNull();
      expect((await list('?exploited=true&minEpss=0.5&sort=epss')).data).toHaveLength(
        range(100).filter((i) => i % 10 === 0 && ((i * 37) % 100) / 100 >= 0.5).length,
      );
      for (const query of [
        'minEpss=1.1',
        'minEpss=-1',
        'minEpss=x',
        'minEpss=0,5',
        'minEpss=1e1',
        'minEpss=Infinity',
        'exploited=1',
        'sort=confidence',
      ])
        expect((await tipline.get(`/api/v1/indicators?${query}`)).statusCode).toBe(400);
      expect((await tipline.get('/api/v1/indicators?sort=epss&format=csv')).json().error).toContain(
        'sort applies to json',
      );
      expect((await tipline.get('/api/v1/exports/csv?exploited=true')).body.trim().split('\n')).toHaveLength(
        13,
      );
    });

    it('enter and leave the copy of a client that follows a filter', async () => {
      await tipline.load([
        vulnerability(1),
        vulnerability(2),
        scoreOf(cveOf(1), 0.9),
        scoreOf(cveOf(2), 0.1),
      ]);
      const changes = async (cursor?: string) =>
        (
          await tipline.get(
            `/api/v1/indicators/changes?minEpss=0.5${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
          )
        ).json();
      const opsOf = ({
        changes: all,
      }: {
        changes: { op: string; value?: string; indicator?: { value: string } }[];
      }) => all.map(({ op, value, indicator }) => `${op} ${value ?? indicator?.value}`);
      const first = await changes();
      expect(opsOf(first)).toEqual([`upsert ${cveOf(1)}`]);
      await tipline.load([scoreOf(cveOf(1), 0.2, '2026-05-02'), scoreOf(cveOf(2), 0.8, '2026-05-02')]);
      const second = await changes(first.cursor);
      expect(opsOf(second).sort()).toEqual([`remove ${cveOf(1)}`, `upsert ${cveOf(2)}`]);
      expect(opsOf(await changes(second.cursor))).toEqual([]);
    });

    it('are hidden with their indicator', async () => {
      await tipline.load([vulnerability(1, { tlp: 'RED', kev: KEV }), scoreOf(cveOf(1), 0.9)]);
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      for (const query of ['?sort=epss', '?minEpss=0.5', '?exploited=true'])
        expect((await tipline.get(`/api/v1/indicators${query}`, { key })).json()).toMatchObject({
          data: [],
          total: 0,
        });
    });

    it('of KEV are those of the catalogue, whatever other sources state', async () => {
      const feed = { kev: KEV, isCompleteStatement: true };
      await tipline.load([vulnerability(1, feed)], 'kev');
      await tipline.load([vulnerability(1)], 'other');
      expect((await list()).data[0].kev).toEqual(KEV);
      const before = await revisionOf(cveOf(1));
      await tipline.load([vulnerability(1, feed)], 'kev');
      expect(await revisionOf(cveOf(1))).toEqual(before);
      await tipline.load([vulnerability(1, { ...feed, kev: { ...KEV, dueDate: '2026-04-01' } })], 'kev');
      expect((await list()).data[0].kev).toEqual({ ...KEV, dueDate: '2026-04-01' });
      expect((await revisionOf(cveOf(1))).version).toBe(before.version + 1);
    });

    it('are the same whatever the order of scores and indicators within a day', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              fc.record({ cve: fc.nat(5) }),
              fc.record({
                cve: fc.nat(5),
                score: fc.constantFrom(0, 0.5, 1),
                day: fc.integer({ min: 1, max: 4 }),
              }),
            ),
            { maxLength: 12 },
          ),
          async (steps) => {
            await tipline.close();
            tipline = await startHarness(engine);
            const scores = new Map<number, { score: number; date: string }>();
            const listed = new Set<number>();
            let latest = '';
            for (const step of steps) {
              const date = 'day' in step ? `2026-05-0${step.day}` : '';
              const record: ImportRecord =
                'day' in step ? scoreOf(cveOf(step.cve), step.score, date) : vulnerability(step.cve);
              await tipline.load([record]);
              if (!('day' in step)) listed.add(step.cve);
              else if (date >= latest) {
                latest = date;
                if (scores.get(step.cve)?.score !== step.score)
                  scores.set(step.cve, { score: step.score, date });
              }
            }
            const { data } = await list();
            const shown = data.map(
              ({ value, epss }: { value: string; epss: { score: number; date: string } | null }) => [
                value,
                epss && { score: epss.score, date: epss.date },
              ],
            );
            expect(new Map(shown)).toEqual(
              new Map([...listed].map((i) => [cveOf(i), scores.get(i) ?? null])),
            );
          },
        ),
        runs(6),
      );
    });
  });
});
