import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PreparedQuery } from '../../src/db/database.ts';
import type { IndicatorFilters } from '../../src/indicators/read/indicators.queries.ts';
import { type PageQuery, readPage } from '../../src/indicators/read/list.queries.ts';
import { countSegments } from '../../src/indicators/segments/count-segments.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { recording } from '../support/recording.ts';

/** Plans are those of this major version. */
const VERSION = 15;
const ROWS = 12_000;
/** Each is crossed by some of the questions. */
const BOUNDS = {
  materialize: 1_000,
  materializeStated: 100,
  inRange: 2,
  scanFirst: 4_000,
  scanFirstSorted: 400,
  deep: 300,
  changes: 100,
};
const MINUTE = 60_000;

const records = Array.from({ length: ROWS }, (_, i) =>
  indicatorRecord('DOMAIN', `${i % 2 ? 'even' : 'odd'}-${i}.test-feed.net`, {
    lastSeen: new Date(NOW.getTime() - ((i * 7) % ROWS) * MINUTE),
    tags: [...(i % 2 ? [] : ['common']), ...(i % 100 ? [] : ['rare'])],
  }),
);

const QUESTIONS: Record<string, { filters: IndicatorFilters; page: PageQuery['page'] }> = {
  'index order': { filters: {}, page: { page: 1, pageSize: 100 } },
  'index order: a type': { filters: { type: 'DOMAIN' }, page: { page: 1, pageSize: 100 } },
  'index order: a severity': { filters: { severity: 'HIGH' }, page: { page: 1, pageSize: 100 } },
  'segments, a page in the middle': { filters: {}, page: { page: 60, pageSize: 100 } },
  'segments: a common tag and a minimum confidence': {
    filters: { tag: 'common', minConfidence: 50 },
    page: { page: 1, pageSize: 100 },
  },
  'materialized: a rare tag': { filters: { tag: 'rare' }, page: { page: 1, pageSize: 100 } },
  'materialized, then the newest scanned: half of the values': {
    filters: { q: 'even-' },
    page: { page: 1, pageSize: 100 },
  },
  'materialized, then sorted: half of the values, a page in the middle': {
    filters: { q: 'even-' },
    page: { page: 30, pageSize: 100 },
  },
};

onEveryEngine((engine) => {
  const onPostgres = engine.name === 'postgresql';
  let harness: Harness;
  let version: number;
  beforeAll(async () => {
    if (!onPostgres) return;
    // A new database: plans depend on the sizes of tables, to which the deleted rows of other tests add.
    harness = await startHarness({ open: engine.openNew });
    await harness.load(records);
    await countSegments(harness.db, NOW, { size: 1_000, fewest: 1_000 });
    await sql`vacuum analyze`.execute(harness.db);
    const { rows } = await sql<{
      version: string;
    }>`select current_setting('server_version_num') as version`.execute(harness.db);
    version = Math.floor(Number(rows[0]?.version) / 10_000);
  });
  afterAll(() => harness?.close());

  /** As of a large table, which is not scanned. */
  const planOf = ({ sql: text, parameters, preparation }: PreparedQuery<unknown>): Promise<string> =>
    harness.db.transaction().execute(async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx);
      const explain = CompiledQuery.raw(`explain (costs off) ${text}`, [...parameters]);
      const { rows } = await trx.executeQuery<Record<string, string>>(explain);
      return [
        `-- ${preparation ? 'prepared' : 'not prepared'}`,
        ...rows.map((row) => row['QUERY PLAN']),
      ].join('\n');
    });

  it.runIf(onPostgres).each(Object.entries(QUESTIONS))(
    'reads a page with the recorded statements and query plans: %s',
    async (name, asked) => {
      const { db, sent } = recording(harness.db);
      const of = { principal: { tlpCeiling: 'RED' as const, now: NOW }, ...asked };
      await readPage(db, of, sql<{ one: number }>`1 as one`, BOUNDS);
      const file = `../golden/lists/${name.replaceAll(/\W+/g, '-')}`;
      await expect(`${sent.map((query) => query.sql.trim()).join('\n;\n')}\n`).toMatchFileSnapshot(
        `${file}.sql`,
      );
      if (version !== VERSION) return;
      const plans = [];
      for (const query of sent) plans.push(await planOf(query));
      await expect(`${plans.join('\n\n')}\n`).toMatchFileSnapshot(`${file}.plan.txt`);
    },
  );
});
