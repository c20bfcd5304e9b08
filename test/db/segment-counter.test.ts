import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createSegmentCounter } from '../../src/indicators/segments/count-segments.queries.ts';
import { ENGINES, onEveryEngine } from '../support/engines.ts';
import { indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { until } from '../support/processes.ts';

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

  it('analyzes the history of indicators when it has its first rows', { tags: ['nightly'] }, async () => {
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

describe.each(ENGINES.filter(({ name }) => name === 'postgresql'))('several workers on $name', (engine) => {
  it('leave the count to the one that has begun it, which may take longer than its job', async () => {
    const harness = await startHarness(engine);
    await harness.load([indicatorRecord('DOMAIN', 'd.example')]);
    const blocking = await harness.db.startTransaction().execute();
    await sql`lock table list_segment_state in exclusive mode`.execute(blocking);
    const ended: (boolean | string)[] = [];
    const worker = () =>
      createSegmentCounter(harness.db)(NOW).then(
        (result) => ended.push(result),
        (error) => ended.push(error.message),
      );
    const waiting = async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        harness.db,
      );
      return rows[0]?.n ?? 0;
    };
    const first = worker();
    await until('the first worker counts', async () => (await waiting()) === 1);
    const second = worker();
    await until('the second worker waits or has ended', async () => (await waiting()) + ended.length === 2);
    await blocking.rollback().execute();
    await Promise.all([first, second]);
    expect(ended).toEqual([false, true]);
    await harness.close();
  });
});
