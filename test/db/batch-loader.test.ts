import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { batchLoader } from '../../src/db/batch-loader.ts';
import { onEveryEngine } from '../support/engines.ts';

const ID = '5c0f4a6e-7d1b-4f5c-9a52-1d2f0c3b4a59';
const OTHER = '0f4a6e5c-7d1b-4f5c-9a52-1d2f0c3b4a59';
const NOW = new Date('2026-06-01T12:00:00Z');
const viewer = { tlpCeiling: 'AMBER' as const, now: NOW };

/** Both ids are there, always. */
const findAny = () =>
  batchLoader('test', (given, { tlpCeiling, now }, among) =>
    given
      .selectFrom(sql<{ id: string }>`(values (${ID}::uuid), (${OTHER}::uuid))`.as<'t'>(sql`t (id)`))
      .select([
        sql<string>`t.id`.as('id'),
        sql<string>`${tlpCeiling}::tlp`.as('ceiling'),
        sql<Date>`${now}::timestamptz`.as('now'),
        // Those of one statement have it in common.
        sql<string>`pg_current_xact_id()::text`.as('statement'),
        sql<string>`current_setting('plan_cache_mode')`.as('mode'),
      ])
      .where(among('t.id')),
  );

onEveryEngine((engine) => {
  it('queries with the id, the instant and the TLP ceiling of each call', async () => {
    const { db, close } = await engine.open();
    const find = findAny();
    const later = new Date(NOW.getTime() + 1);
    const asked = { ceiling: 'AMBER', now: NOW };
    expect(await find(db, viewer, ID)).toMatchObject({ id: ID, ...asked });
    expect(await find(db, { tlpCeiling: 'RED', now: later }, OTHER)).toMatchObject({
      id: OTHER,
      ceiling: 'RED',
      now: later,
    });
    expect(await find(db, viewer, OTHER.toUpperCase())).toMatchObject({ id: OTHER, ...asked });
    expect(await find(db, viewer, '00000000-0000-4000-8000-000000000000')).toBeUndefined();
    await close();
  });

  it.runIf(engine.name === 'postgresql')('uses a generic plan', async () => {
    const { db, close } = await engine.open();
    expect(await findAny()(db, viewer, ID)).toMatchObject({ mode: 'force_generic_plan' });
    await close();
  });

  it('batches concurrent calls per TLP ceiling, as of the latest instant', async () => {
    const { db, close } = await engine.open();
    const find = findAny();
    const asked = Array.from({ length: 40 }, (_, i) => ({
      id: i % 3 ? ID : OTHER,
      viewer: {
        tlpCeiling: i % 2 ? ('GREEN' as const) : ('RED' as const),
        now: new Date(NOW.getTime() + i),
      },
    }));
    const rows = await Promise.all(asked.map((one) => find(db, one.viewer, one.id)));
    rows.forEach((row, i) => {
      expect(row).toMatchObject({ id: asked[i]?.id, ceiling: asked[i]?.viewer.tlpCeiling });
      expect(Number(row?.now)).toBeGreaterThanOrEqual(NOW.getTime() + i);
    });
    expect(new Set(rows.map((row) => row?.statement)).size).toBeLessThanOrEqual(6);
    await close();
  });

  it('rejects all waiting calls when the query fails, and serves later ones', async () => {
    const { db, close } = await engine.open();
    const find = batchLoader('test', (given, _, among) =>
      given
        .selectFrom(sql<{ id: string }>`(values (${ID}::uuid), (${OTHER}::uuid))`.as<'t'>(sql`t (id)`))
        .select([
          sql<string>`t.id`.as('id'),
          sql<number>`1 / (case when t.id = ${OTHER}::uuid then 0 else 1 end)`.as('quotient'),
        ])
        .where(among('t.id')),
    );
    const failed = await Promise.allSettled([OTHER, OTHER, OTHER, OTHER].map((id) => find(db, viewer, id)));
    expect(failed.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(await find(db, viewer, ID)).toMatchObject({ id: ID });
    await close();
  });

  // The embedded engine does one thing after the other.
  it.skipIf(engine.name === 'embedded')('does not delay other calls behind a slow statement', async () => {
    const { db, close } = await engine.open();
    const find = batchLoader('test', (given, _, among) =>
      given
        .selectFrom(sql<{ id: string }>`(values (${ID}::uuid), (${OTHER}::uuid))`.as<'t'>(sql`t (id)`))
        .select([
          sql<string>`t.id`.as('id'),
          sql`pg_sleep(case t.id when ${OTHER} then 1 else 0 end)`.as('slept'),
        ])
        .where(among('t.id')),
    );
    const order: string[] = [];
    const slow = find(db, viewer, OTHER).then(() => order.push('slow'));
    const quick = [ID, ID].map((id) => find(db, viewer, id).then(() => order.push('quick')));
    await Promise.all([slow, ...quick]);
    expect(order).toEqual(['quick', 'quick', 'slow']);
    await close();
  });

  it("rejects a statement that contains a different instant than the call's", async () => {
    const { db, close } = await engine.open();
    const find = batchLoader('test', (given, { now }) =>
      given.selectNoFrom([
        sql<string>`''`.as('id'),
        sql<Date>`${new Date(now.getTime() - 1)}::timestamptz`.as('before'),
      ]),
    );
    await expect(find(db, viewer, ID)).rejects.toThrow('another instant');
    await close();
  });
});
