import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { redisStore } from '../../src/rate-limit/redis.ts';
import type { RateLimitStore } from '../../src/rate-limit/store.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';

const START = new Date('2026-06-01T12:00:00.250Z').getTime();

/** Some requests at once, after some time without any. */
const bursts = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 1, 999, 1_000, 9_999, 10_000, 29_500, 30_000, 60_000),
    requests: fc.integer({ min: 1, max: 8 }),
  }),
  { minLength: 1, maxLength: 8 },
);
const limits = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  windowSeconds: fc.constantFrom(10, 30, 60),
});

/** A fixed window as a person would count it: it begins with a request, and the next begins with one after its end. */
function countedWindow(windowSeconds: number) {
  let end = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (now: number) => {
    if (now >= end) [end, count] = [now + windowSeconds * 1000, 0];
    count++;
    return { count, end };
  };
}

describe('rate-limit windows in memory', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START }));
  afterEach(() => void vi.useRealTimers());

  it('match a simple model, separately for each key', async () => {
    const property = fc.asyncProperty(limits, bursts, fc.nat(3), async (limit, schedule, others) => {
      const store = memoryStore();
      const expected = countedWindow(limit.windowSeconds);
      for (const { afterMs, requests } of schedule) {
        vi.setSystemTime(Date.now() + afterMs);
        for (let i = 0; i < others; i++) await store.consume('other', limit);
        const told = await Promise.all(Array.from({ length: requests }, () => store.consume('key', limit)));
        const counted = Array.from({ length: requests }, () => expected(Date.now()));
        expect(told).toEqual(
          counted.map(({ count, end }) => ({ consumed: count, msBeforeNext: end - Date.now() })),
        );
      }
    });
    await fc.assert(property, runs(100));
  });
});

onEveryEngine((engine) => {
  describe('rate-limit headers', () => {
    const clock = { now: new Date(START), slow: 0 };
    const store = memoryStore();
    const points = 5;
    const windowSeconds = 30;
    let harness: Harness;
    beforeAll(async () => {
      const rateLimits: RateLimitStore = {
        ...store,
        // Asking the store takes time, and the store's clock goes on meanwhile.
        consume: async (key, limit) => {
          const consumed = await store.consume(key, limit);
          clock.now = new Date(clock.now.getTime() + clock.slow);
          return { ...consumed, msBeforeNext: consumed.msBeforeNext - clock.slow };
        },
      };
      harness = await startHarness(engine, {
        rateLimits,
        clock: () => clock.now,
        rateLimit: { limit: points, windowSeconds },
      });
    });
    afterAll(() => harness.close());
    beforeEach(() => {
      clock.slow = 0;
      clock.now = new Date(START);
      vi.useFakeTimers({ toFake: ['Date'], now: START });
    });
    afterEach(() => void vi.useRealTimers());

    it('are on every authenticated response and agree with the window', async () => {
      const url = fc.constantFrom(
        '/api/v1/actors',
        '/api/v1/actors?page=0',
        '/api/v1/actors/x',
        '/api/v1/nothing',
      );
      const property = fc.asyncProperty(bursts, url, async (schedule, address) => {
        clock.now = new Date(START);
        vi.setSystemTime(START);
        const key = await harness.newKey();
        const expected = countedWindow(windowSeconds);
        for (const { afterMs, requests } of schedule) {
          clock.now = new Date(clock.now.getTime() + afterMs);
          vi.setSystemTime(clock.now);
          for (let i = 0; i < requests; i++) {
            const { count, end } = expected(clock.now.getTime());
            const { statusCode, headers } = await harness.get(address, { key });
            expect(headers).toMatchObject({
              'x-ratelimit-limit': String(points),
              'x-ratelimit-remaining': String(Math.max(0, points - count)),
              'x-ratelimit-reset': String(Math.ceil(end / 1000)),
            });
            const wait = count > points ? String(Math.ceil((end - clock.now.getTime()) / 1000)) : undefined;
            expect([statusCode === 429, headers['retry-after']]).toEqual([count > points, wait]);
          }
        }
      });
      await fc.assert(property, runs(30));
    });

    it("report no reset before the window's end when the store is slow", async () => {
      clock.slow = 400;
      const { headers } = await harness.get('/api/v1/actors', { key: await harness.newKey() });
      expect(Number(headers['x-ratelimit-reset']) * 1000).toBeGreaterThanOrEqual(
        START + windowSeconds * 1000,
      );
    });
  });
});

describe.skipIf(inject('redisUrl') === null)('rate-limit windows shared by two nodes', () => {
  const stores: RateLimitStore[] = [];
  const errors: Error[] = [];
  beforeAll(async () => {
    const url = inject('redisUrl') ?? '';
    for (const _ of ['one', 'other']) stores.push(await redisStore(url, (error) => errors.push(error)));
  });
  afterAll(() => Promise.all(stores.map((store) => store.close())));

  const consume = (node: number, key: string, limit: { limit: number; windowSeconds: number }) => {
    const store = stores[node % stores.length];
    if (!store) throw new Error('no store');
    return store.consume(key, limit);
  };

  it('count every request once, on either node', async () => {
    const nodes = fc.array(fc.nat(1), { minLength: 1, maxLength: 60, size: 'max' });
    const property = fc.asyncProperty(limits, nodes, async (limit, all) => {
      const key = randomUUID();
      const told = await Promise.all(all.map((node) => consume(node, key, limit)));
      expect(told.map(({ consumed }) => consumed).sort((a, b) => a - b)).toEqual(all.map((_, i) => i + 1));
      for (const { msBeforeNext } of told) {
        expect(msBeforeNext).toBeGreaterThan(0);
        expect(msBeforeNext).toBeLessThanOrEqual(limit.windowSeconds * 1000);
      }
    });
    await fc.assert(property, runs(40));
    expect(errors).toEqual([]);
  });

  it('restart after their end, and never exceed the limit', async () => {
    const limit = { limit: 7, windowSeconds: 1 };
    const key = randomUUID();
    const times = new Map<number, number>();
    // Until a third window has begun, as many at once as a busy client sends.
    while ((times.get(1) ?? 0) < 3) {
      const told = await Promise.all(Array.from({ length: 20 }, (_, node) => consume(node, key, limit)));
      for (const { consumed } of told) times.set(consumed, (times.get(consumed) ?? 0) + 1);
    }
    const windows = times.get(1) ?? 0;
    for (let n = 1; n <= limit.limit; n++)
      expect([n, times.get(n) ?? 0]).toEqual([n, expect.toSatisfy((count: number) => count <= windows)]);
  });
});
