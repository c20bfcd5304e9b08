import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database, Db } from '../../src/db/database.ts';
import { NoPrewarmError, warmUp } from '../../src/db/postgres/warm-up.ts';
import { onEveryEngine } from '../support/engines.ts';

const BLOCK = 8192;

interface Outcome {
  /** The bytes that were read of each relation. */
  bytes: Record<string, number>;
  statements: number;
  error?: unknown;
}

/** Warms up after `prepare`, in a transaction that is rolled back. */
async function outcomeOf({ db }: Database, prepare: (trx: Db) => Promise<unknown>): Promise<Outcome> {
  const outcome: Outcome = { bytes: {}, statements: 0 };
  const rolledBack = new Error('rolled back');
  await db
    .transaction()
    .execute(async (trx) => {
      await prepare(trx);
      await warmUp(trx, {
        rest: async () => void outcome.statements++,
        onRelation: (name, bytes) => void (outcome.bytes[name] = bytes),
      }).catch((error) => {
        outcome.error = error;
      });
      throw rolledBack;
    })
    .catch((error) => {
      if (error !== rolledBack) throw error;
    });
  return outcome;
}

/** Sources of a block each. */
async function insertBlocks(trx: Db, count: number): Promise<void> {
  await sql`alter table source alter column credentials set storage plain`.execute(trx);
  await sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at, credentials)
    select gen_random_uuid(), n::text, 'file', 'CLEAR', 50, 'LOW', now(), repeat('x', 7500)
    from generate_series(1, ${sql.lit(count)}) as n`.execute(trx);
}

const limitTo = (trx: Db, blocks: number) =>
  sql`select set_config('effective_cache_size', ${String(blocks)}, true)`.execute(trx);

async function hasPrewarm({ db }: Database): Promise<boolean> {
  const { rows } = await sql`select from pg_available_extensions where name = 'pg_prewarm'`.execute(db);
  return rows.length > 0;
}

onEveryEngine((engine) => {
  const itOnPostgres = it.runIf(engine.name === 'postgresql');

  itOnPostgres(
    'reads the relations of details and contexts to their ends, several blocks at a time',
    async (test) => {
      const database = await engine.open();
      test.skip(!(await hasPrewarm(database)), 'pg_prewarm is not installed');
      const { bytes, statements, error } = await outcomeOf(database, async (trx) => {
        await insertBlocks(trx, 1100);
        await limitTo(trx, 100_000);
      });
      await database.close();
      expect(error).toBeUndefined();
      expect(bytes.source).toBeGreaterThanOrEqual(1100 * BLOCK);
      expect(Object.keys(bytes)).toEqual(
        expect.arrayContaining(['indicator_pkey', 'relationship_from', 'indicator']),
      );
      expect(statements).toBeGreaterThan(1);
      expect(statements).toBeLessThan(50);
    },
  );

  itOnPostgres('reads no more than PostgreSQL expects to stay in memory', async (test) => {
    const database = await engine.open();
    test.skip(!(await hasPrewarm(database)), 'pg_prewarm is not installed');
    const { bytes } = await outcomeOf(database, async (trx) => {
      await insertBlocks(trx, 100);
      await limitTo(trx, 50);
    });
    await database.close();
    expect(Object.values(bytes).reduce((a, b) => a + b)).toBe(50 * BLOCK);
  });

  itOnPostgres('names the extension that is missing, where the user may not create it', async () => {
    const database = await engine.open();
    const { error } = await outcomeOf(database, async (trx) => {
      await sql`drop extension if exists pg_prewarm`.execute(trx);
      await sql`create role tipline_reader_of_warm_up`.execute(trx);
      await sql`set local role tipline_reader_of_warm_up`.execute(trx);
    });
    await database.close();
    expect(error).toBeInstanceOf(NoPrewarmError);
  });
});
