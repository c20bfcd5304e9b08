import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ImportRecord, IndicatorRecord } from '../../src/importers/importer.ts';
import { createCounts, createOwnCommits, NO_LEASE } from '../../src/imports/import-context.ts';
import { importFiles } from '../../src/imports/imports.service.ts';
import { ensureSource } from '../../src/sources/store/sources.queries.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness, WIDEST } from '../support/harness.ts';
import { relationshipRecord, reportRecord } from '../support/records.ts';

const DAY_MS = 86_400_000;
/** More than two batches. */
const ROWS = 1_200;
const nameOf = (n: number) => `d${n}.test-feed.net`;

it('a plan holds after a commit of the same import about other indicators only', () => {
  const commits = createOwnCommits();
  const plan = { revision: 4, objectIds: ['a', 'b'] };
  expect(commits.holds(plan, 4)).toBe(true);
  expect(commits.holds(plan, 5)).toBe(false);
  commits.add({ previous: 4, revision: 5 }, { revision: 4, objectIds: ['c'] });
  expect(commits.holds(plan, 5)).toBe(true);
  expect(commits.holds(plan, 6)).toBe(false);
  expect(commits.holds({ ...plan, revision: 3 }, 5)).toBe(false);
  commits.add({ previous: 5, revision: 6 }, { revision: 5, objectIds: ['d'] });
  expect(commits.holds(plan, 6)).toBe(true);
  expect(commits.holds(plan, 5)).toBe(false);
  expect(commits.holds({ revision: 4, objectIds: ['c'] }, 6)).toBe(false);
  expect(commits.holds({ revision: 5, objectIds: ['c'] }, 6)).toBe(true);
  commits.add({ previous: 6, revision: 7 }, { revision: 6, objectIds: ['c', 'b'] });
  expect(commits.holds(plan, 7)).toBe(false);
});

it('a plan does not hold after a commit of another writer, nor after one whose objects are not determined', () => {
  const commits = createOwnCommits();
  const plan = { revision: 4, objectIds: ['a'] };
  commits.add({ previous: 4, revision: 5 }, { revision: 4, objectIds: ['b'] });
  commits.add({ previous: 6, revision: 7 }, { revision: 6, objectIds: ['b'] });
  expect(commits.holds(plan, 7)).toBe(false);
  expect(commits.holds({ ...plan, revision: 6 }, 7)).toBe(true);
  commits.add({ previous: 7, revision: 8 }, { revision: 7 });
  expect(commits.holds({ ...plan, revision: 6 }, 8)).toBe(false);
  commits.add({ previous: 8, revision: 9 }, { revision: 8, objectIds: ['b'] });
  expect(commits.holds({ ...plan, revision: 6 }, 9)).toBe(false);
  expect(commits.holds({ ...plan, revision: 8 }, 9)).toBe(true);
});

it('a plan does not hold after more commits than are recorded', () => {
  const commits = createOwnCommits();
  for (let revision = 5; revision < 100; revision++)
    commits.add({ previous: revision - 1, revision }, { revision: revision - 1, objectIds: ['b'] });
  expect(commits.holds({ revision: 4, objectIds: ['a'] }, 99)).toBe(false);
  expect(commits.holds({ revision: 98, objectIds: ['a'] }, 99)).toBe(true);
});

it('a plan does not hold after a commit of the same import about the same record of the source', () => {
  const commits = createOwnCommits();
  commits.add({ previous: 4, revision: 5 }, { revision: 4, objectIds: ['a'], recordIds: ['indicator--1'] });
  expect(commits.holds({ revision: 4, objectIds: ['b'], recordIds: ['indicator--2'] }, 5)).toBe(true);
  expect(commits.holds({ revision: 4, objectIds: ['b'], recordIds: ['indicator--1'] }, 5)).toBe(false);
});

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeAll(async () => {
    tipline = await startHarness(engine);
  });
  afterAll(() => tipline.close());
  beforeEach(async () => {
    await sql`truncate indicator, indicator_source, external_id cascade`.execute(tipline.db);
  });

  async function importAll(records: () => AsyncGenerator<ImportRecord>) {
    async function* read() {
      for await (const record of records()) yield [record];
    }
    const counts = createCounts();
    const defaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;
    await importFiles(
      tipline.db,
      [
        {
          importer: { name: 'csv', read },
          input: { fileName: 'test', open: () => Promise.reject() as never },
        },
      ],
      {
        source: await ensureSource(tipline.db, 'Test', 'import', defaults, NOW),
        now: NOW,
        dryRun: false,
        tlpCeiling: 'RED',
        widest: WIDEST,
        counts,
        writer: NO_LEASE,
        exclusive: true,
      },
    );
    return counts.kinds.get('indicator');
  }

  it('merges the records of an indicator in neighbouring batches', async () => {
    const counts = await importAll(async function* () {
      for (const tag of ['first', 'second', 'third', 'fourth'])
        for (let n = 0; n < ROWS / 4; n++) yield indicatorRecord('DOMAIN', nameOf(n), { tags: [tag] });
    });
    expect(counts).toMatchObject({ new: ROWS / 4, updated: (ROWS / 4) * 3, unchanged: 0 });
    const { rows } = await sql`select tags, count(*) as n from indicator group by tags`.execute(tipline.db);
    expect(rows).toEqual([{ tags: ['first', 'fourth', 'second', 'third'], n: ROWS / 4 }]);
  });

  it('merges the records of an indicator in neighbouring batches with relationships and reports between them', async () => {
    const idOf = (n: number) => `indicator--${n}`;
    const counts = await importAll(async function* () {
      for (const tag of ['first', 'second', 'third'])
        for (let n = 0; n < ROWS; n++) {
          const report = `report--${tag}-${n >> 6}`;
          if (n % 64 === 0) yield reportRecord(report, { externalIds: [report] });
          yield indicatorRecord('DOMAIN', nameOf(n), { tags: [tag], externalIds: [idOf(n)] });
          yield relationshipRecord(report, 'refers-to', idOf(n));
        }
    });
    expect(counts).toMatchObject({ new: ROWS, updated: 2 * ROWS, unchanged: 0 });
    const { rows } = await sql`
      select tags, count(*) as n, sum((select count(*) from relationship where to_id = indicator.id))::bigint as reports
      from indicator group by tags`.execute(tipline.db);
    expect(rows).toEqual([{ tags: ['first', 'second', 'third'], n: ROWS, reports: 3 * ROWS }]);
  });

  it('leaves nothing in the pending lists of the indexes of texts and of tags', async () => {
    await importAll(async function* () {
      for (let n = 0; n < ROWS; n++) yield indicatorRecord('DOMAIN', nameOf(n), { tags: ['first'] });
    });
    const pending = async () => {
      const { rows } = await sql`
        select gin_clean_pending_list('indicator_search') + gin_clean_pending_list('indicator_tags') as pages
      `.execute(tipline.db);
      return rows;
    };
    expect(await pending()).toEqual([{ pages: 0 }]);
    await importAll(async function* () {
      for (let n = 0; n < ROWS; n++) yield indicatorRecord('DOMAIN', nameOf(n), { tags: ['changed'] });
    });
    expect(await pending()).toEqual([{ pages: 0 }]);
    const stopped = importAll(async function* () {
      for (let n = 0; n < 2 * ROWS; n++) yield indicatorRecord('DOMAIN', nameOf(ROWS + n));
      throw new Error('stopped');
    });
    await expect(stopped).rejects.toThrow('stopped');
    expect(await pending()).toEqual([{ pages: 0 }]);
  });

  it('hides what is whitelisted while it is imported', async () => {
    await importAll(async function* () {
      for (let n = 0; n < 3 * ROWS; n++) {
        if (n === ROWS)
          await addEntry(
            tipline.db,
            nameOf(2 * ROWS + 1),
            undefined,
            { who: 'test', reason: 'ours', now: NOW },
            'RED',
          );
        yield indicatorRecord('DOMAIN', nameOf(n));
      }
    });
    const { rows } = await sql`select value from indicator where whitelisted`.execute(tipline.db);
    expect(rows).toEqual([{ value: nameOf(2 * ROWS + 1) }]);
    const { rows: numbers } = await sql`
      select count(distinct number) as n, max(number) - min(number) + 1 as range from indicator`.execute(
      tipline.db,
    );
    expect(numbers).toEqual([{ n: 3 * ROWS, range: 3 * ROWS }]);
  });

  const FULL: Partial<IndicatorRecord> = {
    statedAt: NOW,
    confidence: 50,
    severity: 'LOW',
    tlp: 'AMBER',
    tags: ['b'],
    firstSeen: NOW,
    lastSeen: NOW,
    expiresAt: new Date(NOW.getTime() + DAY_MS),
    forDetection: false,
    file: '00000000-0000-4000-8000-000000000010',
    records: [{ id: 'indicator--1', description: 'one' }],
    externalIds: ['indicator--1'],
  };
  const later = new Date(NOW.getTime() + 2 * DAY_MS);
  const CHANGES: Partial<IndicatorRecord>[] = [
    { statedAt: later },
    { confidence: 90 },
    { severity: 'HIGH' },
    { tlp: 'RED' },
    { tags: ['a', 'b'] },
    { firstSeen: new Date(NOW.getTime() - DAY_MS) },
    { lastSeen: later },
    { expiresAt: later },
    { forDetection: true },
    { ofCertificate: true },
    { file: '00000000-0000-4000-8000-000000000011' },
    { records: [{ id: 'indicator--1', description: 'two' }] },
    { externalIds: ['indicator--2'] },
    { externalIds: ['indicator--1', 'indicator--2'] },
    { kev: { dateAdded: '2026-01-01', dueDate: null, knownRansomware: false, requiredAction: null } },
  ];

  it.each(CHANGES)('a record with %o is not taken for the one before', async (change) => {
    const hash = '0123456789abcdef0123456789abcdef';
    const yieldOnce = (fields: Partial<IndicatorRecord>) =>
      async function* () {
        yield indicatorRecord('MD5', hash, fields);
      };
    await importAll(yieldOnce(FULL));
    expect(await importAll(yieldOnce(FULL))).toMatchObject({ unchanged: 1 });
    expect(await importAll(yieldOnce({ ...FULL, ...change }))).toMatchObject({ updated: 1, unchanged: 0 });
  });

  it('a spelling that sorts before the stored one replaces it', async () => {
    const yieldOnce = (value: string) =>
      async function* () {
        yield indicatorRecord('FILENAME', value);
      };
    await importAll(yieldOnce('evil.exe'));
    expect(await importAll(yieldOnce('EVIL.exe'))).toMatchObject({ updated: 1 });
    expect(await importAll(yieldOnce('evil.exe'))).toMatchObject({ unchanged: 1 });
    const { rows } = await sql`select value from indicator`.execute(tipline.db);
    expect(rows).toEqual([{ value: 'EVIL.exe' }]);
  });
});
