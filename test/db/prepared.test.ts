import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import {
  GENERIC_PLAN,
  GENERIC_PLAN_RAW,
  MAX_PREPARED,
  PREPARED,
  PREPARED_TEXTS,
} from '../../src/db/postgres/prepared-statements.ts';
import { onEveryEngine } from '../support/engines.ts';

const MODE = "select current_setting('plan_cache_mode') as mode";
const asking = (mark: string) => sql<{ mode: string } | string[]>`${sql.raw(mark + MODE)}`;

onEveryEngine((engine) => {
  const onPostgres = engine.name === 'postgresql';

  it.runIf(onPostgres)(
    'plans once what says so, and all else for what is asked, in whatever order',
    async () => {
      const { db, close } = await engine.open();
      await db.connection().execute(async (connection) => {
        const ask = async (mark: string) => (await asking(mark).execute(connection)).rows;
        const [custom, once] = [{ mode: 'force_custom_plan' }, ['force_generic_plan']];
        expect(await ask('')).toEqual([custom]);
        expect(await ask(GENERIC_PLAN_RAW)).toEqual([once]);
        expect(await ask(GENERIC_PLAN_RAW)).toEqual([once]);
        expect(await ask(PREPARED)).toEqual([custom]);
        expect(await ask(GENERIC_PLAN)).toEqual([{ mode: 'force_generic_plan' }]);
        expect(await ask(GENERIC_PLAN_RAW)).toEqual([once]);
        expect(await ask(PREPARED_TEXTS)).toEqual([[custom.mode]]);
        expect(await ask('')).toEqual([custom]);
      });
      await close();
    },
  );

  it.runIf(onPostgres)('goes on after a transaction that failed at either', async () => {
    const { db, close } = await engine.open();
    await db.connection().execute(async (connection) => {
      const ask = async (mark: string) => (await asking(mark).execute(connection)).rows[0];
      for (const mark of [GENERIC_PLAN_RAW, PREPARED]) {
        const failing = connection.transaction().execute(async (trx) => {
          await asking(GENERIC_PLAN_RAW).execute(trx);
          await sql`${sql.raw(mark)} select 1 / 0`.execute(trx);
        });
        await expect(failing).rejects.toThrow('division by zero');
        expect(await ask('')).toEqual({ mode: 'force_custom_plan' });
        expect(await ask(GENERIC_PLAN_RAW)).toBeTruthy();
        expect(await ask('')).toEqual({ mode: 'force_custom_plan' });
      }
    });
    await close();
  });

  it.runIf(!onPostgres)('is told nothing by what is written before a statement', async () => {
    const { db, close } = await engine.open();
    for (const mark of [PREPARED, PREPARED_TEXTS, GENERIC_PLAN, GENERIC_PLAN_RAW])
      expect((await asking(mark).execute(db)).rows).toEqual([{ mode: 'auto' }]);
    await close();
  });

  describe.runIf(onPostgres)('with more statements than a connection keeps', () => {
    const numbered = (n: number) => sql<{ n: number }>`${sql.raw(`${PREPARED}select ${n}::int as n`)}`;
    const prepared = async (db: Db) => {
      const { rows } = await sql<{
        statement: string;
      }>`select statement from pg_prepared_statements where name like 'tipline%'`.execute(db);
      return rows.map(({ statement }) => Number(/select (\d+)/.exec(statement)?.[1]));
    };

    it('replaces the least recently used', async () => {
      const { db, close } = await engine.open();
      await db.connection().execute(async (connection) => {
        for (let n = 0; n < MAX_PREPARED + 50; n++) {
          expect((await numbered(n).execute(connection)).rows).toEqual([{ n }]);
          await numbered(0).execute(connection);
        }
        const kept = await prepared(connection);
        expect(kept).toHaveLength(MAX_PREPARED);
        expect([0, 1, 51, MAX_PREPARED + 49].map((n) => kept.includes(n))).toEqual([true, false, true, true]);
        expect((await numbered(1).execute(connection)).rows).toEqual([{ n: 1 }]);
      });
      await close();
    });

    it('replaces them after transactions that failed', async () => {
      const { db, close } = await engine.open();
      await db.connection().execute(async (connection) => {
        for (let n = 1000; n < 1000 + MAX_PREPARED; n++) await numbered(n).execute(connection);
        const failing = connection.transaction().execute(async (trx) => {
          for (let n = 2000; n < 2010; n++) await numbered(n).execute(trx);
          await sql`${sql.raw(PREPARED)} select 1 / 0`.execute(trx).catch(() => {});
          await numbered(2010).execute(trx);
        });
        await expect(failing).rejects.toThrow('aborted');
        await numbered(2011).execute(connection);
        await numbered(2012).execute(connection);
        expect((await prepared(connection)).length).toBeLessThanOrEqual(MAX_PREPARED);
      });
      await close();
    });
  });
});
