import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { type Preparation, prepare, RawRow } from '../../src/db/database.ts';
import { MAX_PREPARED } from '../../src/db/postgres/engine.ts';
import { onEveryEngine } from '../support/engines.ts';

const send = async <Row>(db: Db, text: string, preparation?: Preparation): Promise<Row[]> => {
  const query = sql<Row>`${sql.raw(text)}`.compile(db);
  return (await db.executeQuery(preparation ? prepare(query, preparation) : query)).rows;
};
/** How the statement itself is planned. */
const planMode = async (db: Db, preparation?: Preparation): Promise<string | null> => {
  const text = "select current_setting('plan_cache_mode') as mode";
  const [row] = await send<{ mode: string } | RawRow>(db, text, preparation);
  return row instanceof RawRow ? row.text('mode') : (row?.mode ?? null);
};
const CUSTOM: Preparation = { name: 'custom', plan: 'custom' };
const GENERIC: Preparation = { name: 'generic', plan: 'generic' };
const raw = (preparation: Preparation): Preparation => ({ ...preparation, isRaw: true });
const [forCustom, forGeneric] = ['force_custom_plan', 'force_generic_plan'];

onEveryEngine((engine) => {
  const onPostgres = engine.name === 'postgresql';

  it.runIf(onPostgres)('plans each statement in the requested mode, in any order', async () => {
    const { db, close } = await engine.open();
    await db.connection().execute(async (connection) => {
      const asked = [
        undefined,
        raw(GENERIC),
        raw(GENERIC),
        CUSTOM,
        GENERIC,
        raw(GENERIC),
        raw(CUSTOM),
        undefined,
      ];
      const modes = [];
      for (const preparation of asked) modes.push(await planMode(connection, preparation));
      expect(modes).toEqual(
        asked.map((preparation) => (preparation?.plan === 'generic' ? forGeneric : forCustom)),
      );
    });
    await close();
  });

  it.runIf(onPostgres)('returns raw rows as text of named columns', async () => {
    const { db, close } = await engine.open();
    const text = 'select 7 as number, null as nothing, array[1, 2] as list';
    const [row] = await send<RawRow>(db, text, raw(CUSTOM));
    expect(['number', 'nothing', 'list'].map((column) => row?.text(column))).toEqual(['7', null, '{1,2}']);
    expect(() => row?.text('another')).toThrow('there is no column another');
    await close();
  });

  it.runIf(onPostgres)('keeps working after a failed transaction, in either mode', async () => {
    const { db, close } = await engine.open();
    await db.connection().execute(async (connection) => {
      for (const preparation of [raw(GENERIC), CUSTOM]) {
        const failing = connection.transaction().execute(async (trx) => {
          await planMode(trx, raw(GENERIC));
          await send(trx, 'select 1 / 0', preparation);
        });
        await expect(failing).rejects.toThrow('division by zero');
        expect(await planMode(connection)).toBe(forCustom);
        expect(await planMode(connection, raw(GENERIC))).toBe(forGeneric);
        expect(await planMode(connection)).toBe(forCustom);
      }
    });
    await close();
  });

  it.runIf(!onPostgres)('has no effect on the embedded database', async () => {
    const { db, close } = await engine.open();
    for (const preparation of [CUSTOM, GENERIC, raw(CUSTOM), raw(GENERIC)])
      expect(await planMode(db, preparation)).toBe('auto');
    await close();
  });

  describe.runIf(onPostgres)('with more statements than a connection caches', () => {
    const numbered = (db: Db, n: number) => send<{ n: number }>(db, `select ${n}::int as n`, CUSTOM);
    const prepared = async (db: Db) => {
      const { rows } = await sql<{
        statement: string;
      }>`select statement from pg_prepared_statements where name like 'tipline%'`.execute(db);
      return rows.map(({ statement }) => Number(/select (\d+)/.exec(statement)?.[1]));
    };

    it('evicts the least recently used', async () => {
      const { db, close } = await engine.open();
      await db.connection().execute(async (connection) => {
        for (let n = 0; n < MAX_PREPARED + 50; n++) {
          expect(await numbered(connection, n)).toEqual([{ n }]);
          await numbered(connection, 0);
        }
        const kept = await prepared(connection);
        expect(kept).toHaveLength(MAX_PREPARED);
        expect([0, 1, 51, MAX_PREPARED + 49].map((n) => kept.includes(n))).toEqual([true, false, true, true]);
        expect(await numbered(connection, 1)).toEqual([{ n: 1 }]);
      });
      await close();
    });

    it('evicts them after failed transactions', async () => {
      const { db, close } = await engine.open();
      await db.connection().execute(async (connection) => {
        for (let n = 1000; n < 1000 + MAX_PREPARED; n++) await numbered(connection, n);
        const failing = connection.transaction().execute(async (trx) => {
          for (let n = 2000; n < 2010; n++) await numbered(trx, n);
          await send(trx, 'select 1 / 0', CUSTOM).catch(() => {});
          await numbered(trx, 2010);
        });
        await expect(failing).rejects.toThrow('aborted');
        await numbered(connection, 2011);
        await numbered(connection, 2012);
        expect((await prepared(connection)).length).toBeLessThanOrEqual(MAX_PREPARED);
      });
      await close();
    });
  });
});
