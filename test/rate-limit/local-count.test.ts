import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createClient } from '@redis/client';
import fc from 'fast-check';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { memoryStore, withLocalFallback } from '../../src/rate-limit/memory.ts';
import { redisStore } from '../../src/rate-limit/redis.ts';
import { readRedisFacts } from '../../src/rate-limit/redis-facts.ts';
import { runs } from '../properties/runs.ts';
import { freePort, startRedis, stop } from '../support/servers.ts';

const START = new Date('2026-06-01T12:00:00Z').getTime();
const POINTS = 10;
const WINDOW_SECONDS = 60;

/** A store that several nodes share, which can go away, and come back with its counts or without. */
function fallibleStore() {
  const fresh = () => new RateLimiterMemory({ points: POINTS, duration: WINDOW_SECONDS });
  const state = { store: fresh(), isThere: true };
  const asked = <T>(answer: () => Promise<T>) =>
    state.isThere ? answer() : Promise.reject(new Error('it does not answer'));
  return {
    lose: () => void (state.store = fresh()),
    setThere: (isThere: boolean) => void (state.isThere = isThere),
    limiter: {
      consume: (key: string | number, points?: number) => asked(() => state.store.consume(key, points)),
      reward: (key: string | number, points?: number) => asked(() => state.store.reward(key, points)),
      get: (key: string | number) => asked(() => state.store.get(key)),
    },
  };
}

const nodesOf = (store: ReturnType<typeof fallibleStore>, many: number) =>
  Array.from({ length: many }, () =>
    withLocalFallback(store.limiter, new RateLimiterMemory({ points: POINTS, duration: WINDOW_SECONDS })),
  );

const isAllowed = async (node: ReturnType<typeof withLocalFallback>, key: string) =>
  (await node.consume(key, 1).catch((result: RateLimiterRes) => result)).consumedPoints <= POINTS;

describe('the local count beside a shared store', () => {
  beforeEach(() => void vi.useFakeTimers({ now: START }));
  afterEach(() => void vi.useRealTimers());

  it('bounds each node to the limit per window, however often the store fails or loses counts', async () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), node: fc.nat(2) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('lose', 'down', 'up') }) },
      ),
      { maxLength: 120, size: 'max' },
    );
    const property = fc.asyncProperty(steps, async (all) => {
      vi.setSystemTime(START);
      const store = fallibleStore();
      const nodes = nodesOf(store, 3);
      const allowed = [0, 0, 0];
      for (const step of all) {
        if ('node' in step) {
          const node = nodes[step.node];
          if (node && (await isAllowed(node, 'key'))) allowed[step.node] = (allowed[step.node] ?? 0) + 1;
        } else if (step.do === 'lose') store.lose();
        else store.setThere(step.do === 'up');
      }
      expect(Math.max(...allowed)).toBeLessThanOrEqual(POINTS);
      const failed = all.some((step) => step.do !== 'ask' && step.do !== 'up');
      if (!failed) expect(allowed.reduce((a, b) => a + b)).toBeLessThanOrEqual(POINTS);
    });
    await fc.assert(property, runs(100));
  });

  it("ends with the store's window, started by another node", async () => {
    const store = fallibleStore();
    const [first, second] = nodesOf(store, 2);
    if (!first || !second) throw new Error('two');
    await first.consume('key', 1);
    vi.advanceTimersByTime((WINDOW_SECONDS - 1) * 1000);
    for (let i = 0; i < POINTS - 1; i++) expect(await isAllowed(second, 'key')).toBe(true);
    expect(await isAllowed(second, 'key')).toBe(false);
    vi.advanceTimersByTime(1000);
    for (let i = 0; i < POINTS; i++) expect(await isAllowed(second, 'key')).toBe(true);
    expect(await isAllowed(second, 'key')).toBe(false);
  });

  it("ends with the window even if the store's clock is some milliseconds late", async () => {
    const store = fallibleStore();
    const late: typeof store.limiter = {
      ...store.limiter,
      consume: async (key, points) => {
        const { consumedPoints, msBeforeNext } = await store.limiter.consume(key, points);
        return new RateLimiterRes(0, msBeforeNext + 5, consumedPoints);
      },
    };
    const node = withLocalFallback(late, new RateLimiterMemory({ points: POINTS, duration: WINDOW_SECONDS }));
    for (let i = 0; i < POINTS - 1; i++) await node.consume('key', 1);
    vi.advanceTimersByTime(WINDOW_SECONDS * 1000);
    for (let n = 1; n <= POINTS; n++) expect((await node.consume('key', 1)).consumedPoints).toBe(n);
  });

  it('is refunded together with the store', async () => {
    const store = fallibleStore();
    const [first, second] = nodesOf(store, 2);
    if (!first || !second) throw new Error('two');
    for (let i = 0; i < 100; i++) {
      for (const node of [first, second]) {
        await node.consume('key', 1);
        await node.reward('key', 1);
      }
    }
    expect([(await first.get('key'))?.consumedPoints, (await second.get('key'))?.consumedPoints]).toEqual([
      0, 0,
    ]);
  });
});

describe.skipIf(inject('redisUrl') === null)('two nodes whose Redis is killed and restarts empty', () => {
  it('each allow no more than the limit per window', async () => {
    const port = await freePort();
    let redis = await startRedis(port);
    onTestFinished(() => stop(redis?.process, 'SIGKILL'));
    const nodes = [
      await redisStore(redis?.url ?? '', () => {}),
      await redisStore(redis?.url ?? '', () => {}),
    ];
    onTestFinished(async () => {
      for (const node of nodes) await node.close();
    });
    const limit = { limit: 300, windowSeconds: 600, mayLease: true };
    let allowed = 0;
    const ask = async () => {
      for (let round = 0; round < 20; round++) {
        const told = await Promise.all(
          nodes.flatMap((node) => Array.from({ length: 20 }, () => node.consume('key', limit))),
        );
        allowed += told.filter(({ consumed }) => consumed <= limit.limit).length;
      }
    };
    const isUp = () =>
      Promise.all(nodes.map((node) => node.ping())).then(
        () => true,
        () => false,
      );
    await ask();
    const [healthy, after] = [allowed, [] as number[]];
    for (let i = 0; i < 2; i++) {
      await stop(redis?.process, 'SIGKILL');
      await ask();
      redis = await startRedis(port);
      await vi.waitUntil(isUp, { timeout: 20_000 });
      await ask();
      after.push(allowed);
    }
    expect(healthy).toBeLessThanOrEqual(limit.limit);
    expect(after[0]).toBeLessThanOrEqual(nodes.length * limit.limit);
    // Another failure gives nothing more.
    expect(after[1]).toBe(after[0]);
  });
});

describe.skipIf(inject('redisUrl') === null)('a Redis that rejects writes', () => {
  it('is reported with its reason, but not for each request', async () => {
    const redis = await startRedis();
    onTestFinished(() => stop(redis?.process, 'SIGKILL'));
    const reported: Error[] = [];
    const store = await redisStore(redis?.url ?? '', (error) => void reported.push(error));
    onTestFinished(() => store.close());
    const client = await createClient({ url: redis?.url ?? '' }).connect();
    onTestFinished(() => client.destroy());
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    const limit = { limit: 10, windowSeconds: 60 };
    for (let n = 1; n <= 3; n++) expect((await store.consume('key', limit)).consumed).toBe(n);
    expect(reported.map(({ message }) => message)).toEqual([expect.stringContaining('READONLY')]);
    await expect(store.ping()).rejects.toThrow('READONLY');
  });
});

describe.skipIf(inject('redisUrl') === null)('a Redis that hangs, and goes on', () => {
  it('counts one late request of a key, not all those of its outage', async () => {
    const redis = await startRedis();
    onTestFinished(() => stop(redis?.process, 'SIGKILL'));
    const store = await redisStore(redis?.url ?? '', () => {});
    onTestFinished(() => store.close());
    const limit = { limit: 10, windowSeconds: 60 };
    redis?.process.kill('SIGSTOP');
    for (let n = 1; n <= 4; n++) expect((await store.consume('key', limit)).consumed).toBe(n);
    redis?.process.kill('SIGCONT');
    await store.ping();
    const client = await createClient({ url: redis?.url ?? '' }).connect();
    onTestFinished(() => client.destroy());
    expect(await client.get('tipline:rate:60:key')).toBe('1');
    expect((await store.consume('key', limit)).consumed).toBe(5);
    expect(await client.get('tipline:rate:60:key')).toBe('2');
  });
});

describe.skipIf(inject('redisUrl') === null)(
  'a connection to a Redis that is gone without closing it',
  () => {
    it('is given up, also while requests come, and the next one counts for all nodes', async () => {
      const redis = await startRedis();
      onTestFinished(() => stop(redis?.process, 'SIGKILL'));
      let [isGone, connections] = [false, 0];
      // As an address that moves to another machine.
      const address = createServer((client) => {
        const isFirst = connections++ === 0;
        const server = connect(Number(new URL(redis?.url ?? '').port), '127.0.0.1');
        client.on('data', (data) => {
          if (!isFirst || !isGone) server.write(data);
        });
        server.on('data', (data) => client.write(data));
        client.on('error', () => {}).on('close', () => server.destroy());
        server.on('error', () => {});
      }).listen(0, '127.0.0.1');
      await once(address, 'listening');
      onTestFinished(() => void address.close());
      const { port } = address.address() as AddressInfo;
      const store = await redisStore(`redis://127.0.0.1:${port}`, () => {});
      onTestFinished(() => store.close());
      const other = await redisStore(redis?.url ?? '', () => {});
      onTestFinished(() => other.close());
      const limit = { limit: 1_000, windowSeconds: 600 };
      await store.consume('key', limit);
      isGone = true;
      // Health checks ask as well.
      const isBack = async () => {
        await store.consume('key', limit);
        return store.ping().then(
          () => true,
          () => false,
        );
      };
      await vi.waitUntil(isBack, { timeout: 30_000, interval: 100 });
      const { consumed } = await other.consume('key', limit);
      expect((await store.consume('key', limit)).consumed).toBeGreaterThan(consumed);
      expect(connections).toBeGreaterThan(1);
    });
  },
);

it('the facts of a Redis that accepts connections and answers nothing are not waited for', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  await expect(readRedisFacts(`redis://127.0.0.1:${port}`)).rejects.toThrow('timeout');
});

describe.skipIf(inject('redisUrl') === null)('the facts of a Redis whose user may not send INFO', () => {
  it('are its version and that it accepts writes', async () => {
    const redis = await startRedis();
    onTestFinished(() => stop(redis?.process, 'SIGKILL'));
    const { host } = new URL(redis?.url ?? '');
    const client = await createClient({ url: redis?.url ?? '' }).connect();
    onTestFinished(() => client.destroy());
    const rights = ['~tipline:*', '+@all', '-@dangerous'];
    await client.sendCommand(['ACL', 'SETUSER', 'tipline', 'on', '>secret', ...rights]);
    expect(await readRedisFacts(`redis://tipline:secret@${host}`)).toEqual({
      version: expect.stringMatching(/^\d+\.\d/),
      policy: '',
      rejection: null,
    });
  });
});

it('a window in memory is not longer after the clock is set back', async () => {
  vi.useFakeTimers({ now: START });
  onTestFinished(() => void vi.useRealTimers());
  const store = memoryStore();
  const limit = { limit: 3, windowSeconds: WINDOW_SECONDS };
  await store.consume('key', limit);
  vi.setSystemTime(START - 3_600_000);
  expect(await store.consume('key', limit)).toEqual({ consumed: 2, msBeforeNext: WINDOW_SECONDS * 1000 });
});

describe.skipIf(inject('redisUrl') === null)('a window whose length has been changed', () => {
  it('does not wait for the old one to end', async () => {
    const redis = await startRedis();
    onTestFinished(() => stop(redis?.process, 'SIGKILL'));
    const [before, after] = [
      await redisStore(redis?.url ?? '', () => {}),
      await redisStore(redis?.url ?? '', () => {}),
    ];
    onTestFinished(() => before.close());
    onTestFinished(() => after.close());
    for (let n = 1; n <= 3; n++) await before.consume('key', { limit: 10, windowSeconds: 3600 });
    const { consumed, msBeforeNext } = await after.consume('key', { limit: 2, windowSeconds: 10 });
    expect({ consumed, isShort: msBeforeNext <= 10_000 }).toEqual({ consumed: 1, isShort: true });
  });
});
