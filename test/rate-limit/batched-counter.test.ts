import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchedCounter } from '../../src/rate-limit/batched-counter.ts';
import { runs } from '../properties/runs.ts';

describe('the batched counter', () => {
  it('returns each call its own count, under any interleaving', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.record({ key: fc.constantFrom('a', 'b'), afterTurns: fc.nat(4) }), { maxLength: 40 }),
      fc.nat(5),
      async (requests, storeTurns) => {
        const counts: Record<string, number> = {};
        const turns = async (count: number) => {
          for (let i = 0; i < count; i++) await null;
        };
        const { count } = batchedCounter(async (key, points) => {
          await turns(storeTurns);
          counts[key] = (counts[key] ?? 0) + points;
          await turns(storeTurns);
          return { consumed: counts[key], msBeforeNext: 5 };
        });
        const told: Record<string, Promise<{ consumed: number }>[]> = { a: [], b: [] };
        for (const { key, afterTurns } of requests) {
          await turns(afterTurns);
          told[key]?.push(count(key));
        }
        for (const of of Object.values(told))
          expect((await Promise.all(of)).map(({ consumed }) => consumed)).toEqual(of.map((_, i) => i + 1));
      },
    );
    await fc.assert(property, runs(300));
  });

  it('batches all calls during a pending request', async () => {
    const asked: number[] = [];
    const { count } = batchedCounter(async (_, points) => {
      asked.push(points);
      await null;
      return { consumed: points, msBeforeNext: 1 };
    });
    await Promise.all(Array.from({ length: 10 }, () => count('key')));
    expect(asked).toEqual([1, 9]);
  });

  it('rejects only the calls of a failed batch', async () => {
    let asked = 0;
    const { count } = batchedCounter(async (_, points) => {
      asked++;
      await null;
      if (asked === 1) throw new Error('down');
      return { consumed: points, msBeforeNext: 1 };
    });
    const [first, second, third] = await Promise.allSettled([count('key'), count('key'), count('key')]);
    expect(first).toMatchObject({ status: 'rejected' });
    expect([second, third]).toMatchObject([{ value: { consumed: 1 } }, { value: { consumed: 2 } }]);
  });
});

describe('the batched counter with leases', () => {
  /** A store that nodes share, whose window ends at a time. */
  const sharedStore = (windowMs: number) => {
    const state = { now: 0, end: windowMs, count: 0, asked: 0, wayBackMs: 0 };
    const countMany = async (_: string, points: number) => {
      await null;
      if (state.now >= state.end) [state.count, state.end] = [0, state.now + windowMs];
      state.asked++;
      state.count += points;
      const answer = { consumed: state.count, msBeforeNext: state.end - state.now };
      state.now += state.wayBackMs;
      return answer;
    };
    const node = (points: number) => {
      return batchedCounter(countMany, { limit: points, clock: () => state.now }).count;
    };
    return { state, node };
  };

  it('never exceeds the limit, and rejects only once it is used up', async () => {
    const bursts = fc.array(
      fc.record({ node: fc.nat(2), requests: fc.integer({ min: 1, max: 90 }), afterMs: fc.nat(400) }),
      { maxLength: 60 },
    );
    const property = fc.asyncProperty(bursts, fc.integer({ min: 1, max: 3000 }), async (schedule, points) => {
      const { state, node } = sharedStore(1000);
      const nodes = [node(points), node(points), node(points)];
      const allowed = new Map<number, number>();
      for (const { node: which, requests, afterMs } of schedule) {
        state.now += afterMs;
        const asked = Array.from({ length: requests }, () => nodes[which]?.('key'));
        for (const told of await Promise.all(asked)) {
          if (!told) continue;
          expect(told.msBeforeNext).toBe(state.end - state.now);
          if (told.consumed > points) expect(state.count).toBeGreaterThanOrEqual(points);
          else allowed.set(state.end, (allowed.get(state.end) ?? 0) + 1);
        }
      }
      for (const count of allowed.values()) expect(count).toBeLessThanOrEqual(points);
    });
    await fc.assert(property, runs(300));
  });

  it('never reports too few, and leases in batches far from the limit', async () => {
    const { state, node } = sharedStore(1000);
    const count = node(1_000_000);
    for (let i = 1; i <= 20_000; i++) expect((await count('key')).consumed).toBeGreaterThanOrEqual(i);
    expect(state.asked).toBeLessThan(30);
  });

  it('renews a lease before it is used up, without losing counts', async () => {
    const windowMs = 60_000;
    let [now, asked, counted] = [0.9, 0, 0];
    const countMany = async (_: string, points: number) => {
      await null;
      asked++;
      counted += points;
      // Whole milliseconds, as stores tell them; the process's own clock has parts of them.
      return { consumed: counted, msBeforeNext: windowMs - Math.floor(now) };
    };
    const { count } = batchedCounter(countMany, { limit: 1_000_000, clock: () => now });
    await count('key');
    await count('key');
    for (let i = 0; i < 10_000; i++) {
      now += 0.7123;
      let isCounted = false;
      void count('key').then(() => {
        isCounted = true;
      });
      await null;
      expect(isCounted).toBe(true);
      await null;
      await null;
    }
    expect(counted - 10_002).toBeLessThanOrEqual(1500);
    expect(asked).toBeLessThan(15);
  });

  it('uses no lease in the next window, however late its response arrived', async () => {
    const { state, node } = sharedStore(1000);
    const count = node(100_000);
    await count('key');
    state.wayBackMs = 50;
    await count('key');
    const { asked } = state;
    await count('key');
    expect(state.asked).toBe(asked);
    state.now = state.end;
    expect([(await count('key')).consumed, state.count]).toEqual([1, 1]);
  });

  it('includes counts of other nodes after a second, without losing its lease', async () => {
    const { state, node } = sharedStore(60_000);
    const [a, b] = [node(100_000), node(100_000)];
    for (let i = 0; i < 20; i++) await a('key');
    for (let i = 0; i < 5_000; i++) await b('key');
    state.now += 1_001;
    const others = state.count;
    expect((await a('key')).consumed).toBeGreaterThan(others);
    for (let i = 0; i < 40; i++) {
      state.now += 1_001;
      await a('key');
    }
    expect(state.count - others).toBe(41);
  });

  it('honors its lease even if other nodes have reached the limit since', async () => {
    const { state, node } = sharedStore(60_000);
    const [a, b] = [node(3_000), node(3_000)];
    for (let i = 0; i < 4; i++) await a('key');
    while ((await b('key')).consumed <= 3_000);
    state.now += 1_001;
    expect((await a('key')).consumed).toBeGreaterThan(3_000);
    const told: number[] = [];
    for (let next = await a('key'); next.consumed <= 3_000; next = await a('key')) told.push(next.consumed);
    expect(new Set(told)).toEqual(new Set([3_000]));
  });

  it('counts one by one near the limit', async () => {
    const { state, node } = sharedStore(1000);
    const count = node(200);
    for (let i = 1; i <= 200; i++) expect((await count('key')).consumed).toBe(i);
    expect(state.asked).toBe(200);
  });

  it('discards a lease when the window ends', async () => {
    const { state, node } = sharedStore(1000);
    const count = node(100_000);
    await count('key');
    await count('key');
    state.now = 1000;
    expect(await count('key')).toEqual({ consumed: 1, msBeforeNext: 1000 });
  });
});
