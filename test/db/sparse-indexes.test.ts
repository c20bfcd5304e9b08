import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
    expect(await rebuildSparseIndex(database, LEAST)).toEqual(sparse[0]);
    expect(await sizeOf('seen_at')).toBeLessThan(before / 3);
    expect(await sizeOf('seen_at')).toBeLessThan(1.1 * Number(sparse[0]?.needed));
    expect(await count()).toBe(counted);
    expect(await rebuildSparseIndex(database, LEAST)).toBeNull();
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
    expect(await rebuildSparseIndex({ db, kind, diskProblem: async () => 'full' }, LEAST)).toBeNull();
    expect(await rebuildSparseIndex(database, LEAST)).not.toBeNull();
  });

  it.runIf(engine.name === 'postgresql')('stay as they are where a rebuild is cancelled', async () => {
    await sight(10);
    const { db } = database;
    const rebuilt = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => {
        // A rebuild waits for older transactions.
        await sql`select count(*) from seen`.execute(trx);
        const rebuilding = rebuildSparseIndex(database, LEAST);
        for (let cancelled = 0; cancelled === 0; ) {
          const { rows } = await sql<{ ok: boolean }>`
            select pg_cancel_backend(pid) as ok from pg_stat_activity
            where datname = current_database() and query like 'reindex%' and wait_event_type = 'Lock'`.execute(
            db,
          );
          cancelled = rows.length;
        }
        return { rebuilding };
      });
    expect(await rebuilt.rebuilding).toMatchObject({ index: 'seen_at', error: { code: '57014' } });
    const { rows } = await sql`select from pg_index where not indisvalid`.execute(db);
    expect(rows).toEqual([]);
    expect(await rebuildSparseIndex(database, LEAST)).toMatchObject({ index: 'seen_at' });
  });
});
