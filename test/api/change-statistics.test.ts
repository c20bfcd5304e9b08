import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endOf, findHeld, findReached } from '../../src/changes/history.queries.ts';
import { type Db, inSnapshot } from '../../src/db/database.ts';
import { readRevision } from '../../src/db/revision/revision.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

/** More than a batch of an import. */
const ROWS = 6_000;
/** Rows of a page whose states are compared. */
const ASKED = 100;

onEveryEngine((engine) => {
  let harness: Harness;
  let ids: string[];
  /** What a client has, before all indicators have changed. */
  let point: { revision: number; at: number };
  const load = (confidence: number) =>
    harness.load(
      Array.from({ length: ROWS }, (_, i) =>
        indicatorRecord('DOMAIN', `n${i}.test-feed.net`, { confidence }),
      ),
    );
  beforeAll(async () => {
    harness = await startHarness({ open: engine.openNew });
    await load(10);
    await load(20);
    // Statistics of states that have ended by now, and none of those that end from here on.
    await sql`analyze`.execute(harness.db);
    point = { revision: await readRevision(harness.db), at: NOW.getTime() };
    await load(30);
    const rows = await harness.db.selectFrom('indicator').select('id').limit(ASKED).execute();
    ids = rows.map(({ id }) => id);
  });
  afterAll(() => harness.close());

  /** Returns how many former states PostgreSQL reads for some work. */
  const statesRead = (work: (db: Db) => Promise<void>): Promise<number> =>
    inSnapshot(harness.db, async (trx) => {
      const before = await statesReadBy(trx);
      await work(trx);
      return (await statesReadBy(trx)) - before;
    });
  /** Those of transactions before may be among them. */
  async function statesReadBy(trx: Db): Promise<number> {
    const { rows } = await sql<{ read: number }>`select (seq_tup_read + idx_tup_fetch)::int as read
      from pg_stat_xact_user_tables where relname = 'indicator_history'`.execute(trx);
    return rows[0]?.read ?? 0;
  }

  it('reads the state of each indicator alone that a client holds, while statistics lack the latest changes', async () => {
    const read = await statesRead(async (db) => {
      expect((await findHeld(db, ids, {}, 'RED', point)).size).toBe(ASKED);
    });
    expect(read).toBeGreaterThanOrEqual(ASKED);
    expect(read).toBeLessThan(10 * ASKED);
  });

  it('reads the states of each indicator alone that a pass has reached, while statistics lack the latest changes', async () => {
    const token = '';
    const pass = {
      base: { revision: 0, at: 0, token },
      reached: endOf(point.revision),
      horizon: point.revision,
    };
    const read = await statesRead(async (db) => {
      expect(await findReached(db, ids, pass)).toHaveLength(ASKED);
    });
    expect(read).toBeGreaterThanOrEqual(ASKED);
    expect(read).toBeLessThan(10 * ASKED);
  });
});
