import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createSegmentCounter } from '../../src/indicators/segments/count-segments.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { indicatorRecord, NOW, startHarness } from '../support/harness.ts';

onEveryEngine((engine) => {
  it('counts the list between large imports, not during them', async () => {
    const harness = await startHarness(engine);
    const count = createSegmentCounter(harness.db, { busy: 3, size: 2, kept: 2 });
    const load = (from: number, rows: number) =>
      harness.load(Array.from({ length: rows }, (_, i) => indicatorRecord('DOMAIN', `d${from + i}.example`)));
    const counted = async () => {
      const { rows } = await sql<{ n: number }>`
        select coalesce(sum(counts[1] + counts[2] + counts[3] + counts[4] + counts[5]), 0)::int as n from list_segment`.execute(
        harness.db,
      );
      return rows[0]?.n;
    };
    await load(0, 5);
    expect([await count(NOW), await counted()]).toEqual([false, 0]);
    await load(5, 2);
    expect([await count(NOW), await counted()]).toEqual([true, 7]);
    await load(7, 4);
    expect([await count(NOW), await counted()]).toEqual([false, 7]);
    expect([await count(NOW), await counted()]).toEqual([true, 11]);
    expect(await count(NOW)).toBe(false);
    await harness.close();
  });

  it('analyzes the history of indicators when it has its first rows', async () => {
    const harness = await startHarness({ open: engine.openNew });
    const count = createSegmentCounter(harness.db);
    const hasStatistics = async () => {
      const { rows } = await sql<{ has: boolean }>`
        select reltuples > 0 as has from pg_class where oid = 'indicator_history'::regclass`.execute(
        harness.db,
      );
      return rows[0]?.has;
    };
    const load = (tags: string[]) => harness.load([indicatorRecord('DOMAIN', 'd.example', { tags })]);
    await load([]);
    expect([await count(NOW), await hasStatistics()]).toEqual([true, false]);
    await load(['changed']);
    expect([await count(NOW), await hasStatistics()]).toEqual([true, true]);
    await harness.close();
  });
});
