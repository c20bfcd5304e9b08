import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { PLANNED_ONCE, PLANNED_ONCE_TEXTS, PREPARED, PREPARED_TEXTS } from '../../src/db/postgres.ts';
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
        expect(await ask(PLANNED_ONCE_TEXTS)).toEqual([once]);
        expect(await ask(PLANNED_ONCE_TEXTS)).toEqual([once]);
        expect(await ask(PREPARED)).toEqual([custom]);
        expect(await ask(PLANNED_ONCE)).toEqual([{ mode: 'force_generic_plan' }]);
        expect(await ask(PLANNED_ONCE_TEXTS)).toEqual([once]);
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
      for (const mark of [PLANNED_ONCE_TEXTS, PREPARED]) {
        const failing = connection.transaction().execute(async (trx) => {
          await asking(PLANNED_ONCE_TEXTS).execute(trx);
          await sql`${sql.raw(mark)} select 1 / 0`.execute(trx);
        });
        await expect(failing).rejects.toThrow('division by zero');
        expect(await ask('')).toEqual({ mode: 'force_custom_plan' });
        expect(await ask(PLANNED_ONCE_TEXTS)).toBeTruthy();
        expect(await ask('')).toEqual({ mode: 'force_custom_plan' });
      }
    });
    await close();
  });

  it.runIf(!onPostgres)('is told nothing by what is written before a statement', async () => {
    const { db, close } = await engine.open();
    for (const mark of [PREPARED, PREPARED_TEXTS, PLANNED_ONCE, PLANNED_ONCE_TEXTS])
      expect((await asking(mark).execute(db)).rows).toEqual([{ mode: 'auto' }]);
    await close();
  });
});
