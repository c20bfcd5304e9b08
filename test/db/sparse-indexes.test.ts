import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { findSparseIndexes, rebuildSparseIndex } from '../../src/db/sparse-indexes.ts';
import { onEveryEngine } from '../support/engines.ts';

const ROWS = 20_000;
const ROUNDS = 10;
const LEAST = 1_000_000;

onEveryEngine((engine) => {
  let database: Database;
  beforeEach(async () => {
    database = await engine.openNew();
    await sql`create table seen (id int primary key, at timestamptz, name text)`.execute(database.db);
    await sql`create index seen_at on seen (at, id)`.execute(database.db);
    await sql`create index seen_name on seen (name, at)`.execute(database.db);
    await sql`insert into seen select i, '2026-01-01', 'a' from generate_series(1, ${ROWS}) as i`.execute(
      database.db,
    );
  });
  afterEach(() => database.close());

  /** Moves all rows to the end of the index, again and again, but some that stay each time. */
  async function sight(staying: number) {
    for (let round = 1; round <= ROUNDS; round++) {
      await sql`update seen set at = at + interval '1 day' where id % 1000 >= ${staying * round}`.execute(
        database.db,
      );
      await sql`vacuum seen`.execute(database.db);
    }
  }
  const sizeOf = async (index: string) => {
    const { rows } = await sql<{ size: number }>`
      select pg_relation_size(${index}::regclass)::int as size`.execute(database.db);
    return rows[0]?.size ?? 0;
  };
  const count = async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from seen where at > '2026-01-01'`.execute(database.db);
    return rows[0]?.n;
  };

  it('are rebuilt, the one that wastes most first', async () => {
    await sight(10);
    const [counted, before] = [await count(), await sizeOf('seen_at')];
    const sparse = await findSparseIndexes(database, LEAST);
    expect(sparse.map(({ index }) => index)).toEqual(['seen_at']);
    expect(sparse[0]?.bytes).toBe(before);
    expect(await rebuildSparseIndex(database, { least: LEAST })).toEqual(sparse[0]);
    expect(await sizeOf('seen_at')).toBeLessThan(before / 3);
    expect(await sizeOf('seen_at')).toBeLessThan(1.1 * Number(sparse[0]?.needed));
    expect(await count()).toBe(counted);
    expect(await rebuildSparseIndex(database, { least: LEAST })).toBeNull();
  });

  it('are not those whose pages become empty, nor those that waste little', async () => {
    await sight(0);
    expect(await findSparseIndexes(database, LEAST)).toEqual([]);
    await sight(10);
    expect(await rebuildSparseIndex(database)).toBeNull();
  });

  it.runIf(engine.name === 'embedded')('stay while the disk is too full', async () => {
    await sight(10);
    const { db, kind } = database;
    expect(
      await rebuildSparseIndex({ db, kind, diskProblem: async () => 'full' }, { least: LEAST }),
    ).toBeNull();
    expect(await rebuildSparseIndex(database, { least: LEAST })).not.toBeNull();
  });

  describe.runIf(engine.name === 'postgresql')('on a server with older transactions', () => {
    /** Rebuilds while an older transaction has read the table, and cancels that once it waits for this. */
    const rebuildInVain = () =>
      database.db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          await sql`select count(*) from seen`.execute(trx);
          const rebuilding = rebuildSparseIndex(database, { least: LEAST });
          // The second statement drops what the first one has left.
          for (const statement of ['reindex', 'drop']) await cancel(statement);
          return rebuilding;
        });
    async function cancel(statement: string): Promise<void> {
      for (let found = 0; found === 0; ) {
        const { rows } = await sql`
          select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and query like ${`${statement} index concurrently%`} and wait_event_type = 'Lock'`.execute(
          database.db,
        );
        found = rows.length;
      }
    }
    const invalid = async () =>
      (await sql`select from pg_index where not indisvalid`.execute(database.db)).rows.length;

    it('stay until these have ended', async () => {
      await sight(10);
      const wanted = { least: LEAST, oldSeconds: 0 };
      await database.db.transaction().execute(async (trx) => {
        await sql`select`.execute(trx);
        expect(await rebuildSparseIndex(database, wanted)).toBeNull();
      });
      expect(await rebuildSparseIndex(database, wanted)).toMatchObject({ index: 'seen_at' });
    });

    it('stay as they are, and the next rebuild drops what an interrupted one has left', async () => {
      await sight(10);
      expect(await rebuildInVain()).toMatchObject({ index: 'seen_at', error: { code: '57014' } });
      expect(await invalid()).toBe(1);
      expect(await rebuildSparseIndex(database, { least: LEAST })).toMatchObject({ index: 'seen_at' });
      expect(await invalid()).toBe(0);
      expect(await rebuildSparseIndex(database, { least: LEAST })).toBeNull();
    });
  });
});
