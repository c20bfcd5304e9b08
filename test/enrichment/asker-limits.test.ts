import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { greynoise } from '../../src/enrichment/providers/greynoise.ts';
import { otx } from '../../src/enrichment/providers/otx.ts';
import {
  type Outcome,
  openProviderClient,
  type ProviderSettings,
} from '../../src/enrichment/providers/provider-client.ts';
import { shodan } from '../../src/enrichment/providers/shodan.ts';
import { virustotal } from '../../src/enrichment/providers/virustotal.ts';
import type { OutboundRequest } from '../../src/outbound/outbound.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { redisStore } from '../../src/rate-limit/redis.ts';
import { runs } from '../properties/runs.ts';
import {
  type Answer,
  type Asked,
  KEY,
  providerServer,
  settingsFor,
  testAsker,
  testClock,
  windowStore,
} from './provider-server.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const [ONE, TWO, THREE] = ['one', 'two', 'three'].map((name) => `${name}-${KEY}`) as [string, string, string];

const address = { type: 'IPV4', normalized: '192.0.2.1' } as const;
const known = { pulse_info: { count: 1 } };
const spent: Answer = { status: 429, body: { detail: 'Over throttling limit (10000/hour)' } };

const keyOf = ({ headers }: Asked) => String(headers['x-otx-api-key']);
const kinds = (outcomes: Outcome[]) =>
  outcomes.map((outcome) => ('reason' in outcome ? outcome.reason : outcome.kind));

/** OTX behind a local server, with a clock, its windows, and what asking it is in short. */
async function otxAt(answer: (asked: Asked) => Answer | null, fields: Partial<ProviderSettings> = {}) {
  const clock = testClock();
  const store = windowStore(clock);
  const server = await providerServer(answer);
  const refused: number[] = [];
  const asker = testAsker({
    clock,
    rateLimits: store,
    onKeyRefused: (_provider, place) => refused.push(place),
  });
  const settings = settingsFor(server.baseUrl, { perMinute: 1_000, perDay: 100_000, ...fields });
  const ask = () => asker.ask(otx, settings, address);
  const wait = async () => {
    const outcome = await ask();
    if (outcome.kind !== 'later') throw new Error(outcome.kind);
    return { reason: outcome.reason, ms: outcome.retryAt.getTime() - clock().getTime() };
  };
  return { clock, store, server, refused, ask, wait, asked: () => server.asked.map(keyOf) };
}

async function times<T>(count: number, ask: () => Promise<T>): Promise<T[]> {
  const outcomes = [];
  for (let i = 0; i < count; i++) outcomes.push(await ask());
  return outcomes;
}

describe('a provider quota', () => {
  it('is enforced per minute, and renewed afterwards', async () => {
    const { clock, ask, wait } = await otxAt(() => ({ body: known }), { perMinute: 2 });
    expect(kinds(await times(3, ask))).toEqual(['answered', 'answered', 'quota']);
    clock.pass(20 * SECOND);
    expect(await wait()).toEqual({ reason: 'quota', ms: 40 * SECOND });
    clock.pass(40 * SECOND);
    expect((await ask()).kind).toBe('answered');
  });

  it('is enforced per day', async () => {
    const { clock, ask, wait } = await otxAt(() => ({ body: known }), { perDay: 3 });
    await times(3, ask);
    clock.pass(HOUR);
    expect(await wait()).toEqual({ reason: 'quota', ms: 23 * HOUR });
  });

  it('per day is not consumed while the one per minute is exhausted', async () => {
    const { store, ask } = await otxAt(() => ({ body: known }), { perMinute: 2, perDay: 10 });
    await times(50, ask);
    const day = [...store.windows].find(([name]) => name.endsWith(':day'));
    expect(day?.[1].consumed).toBe(2);
  });

  it('is counted under names that do not reveal the key', async () => {
    const { store, ask } = await otxAt(() => ({ body: known }));
    await ask();
    const names = [...store.windows.keys()];
    expect(names).toEqual([
      expect.stringMatching(/^quota:otx:[0-9a-f]{32}:minute$/),
      expect.stringMatching(/^quota:otx:[0-9a-f]{32}:day$/),
    ]);
    expect(names.join()).not.toContain(KEY);
  });

  it.each([
    ['virustotal', virustotal, 4, { data: { attributes: { last_analysis_stats: {} } } }],
    ['greynoise', greynoise, 7, { noise: false, riot: true }],
  ])('defaults to the free tier of %s', async (_name, provider, expected, body) => {
    const clock = testClock();
    const server = await providerServer(() => ({ body }));
    const asker = testAsker({ clock });
    await times(20, () => asker.ask(provider, settingsFor(server.baseUrl), address));
    expect(server.asked).toHaveLength(expected);
  });

  it('for Shodan is one request per second, whatever else is allowed', async () => {
    const clock = testClock();
    const server = await providerServer(() => ({ body: { ip_str: '192.0.2.1' } }));
    const asker = testAsker({ clock });
    const ask = () => asker.ask(shodan, settingsFor(server.baseUrl, { perMinute: 600 }), address);
    expect(kinds(await times(2, ask))).toEqual(['answered', 'quota']);
    clock.pass(SECOND);
    expect((await ask()).kind).toBe('answered');
  });

  it('of zero sends no request', async () => {
    const { wait, asked } = await otxAt(() => ({ body: known }), { perDay: 0 });
    expect(await wait()).toEqual({ reason: 'quota', ms: DAY });
    expect(asked()).toEqual([]);
  });

  const stores: [string, boolean, () => Promise<ReturnType<typeof memoryStore>[]>][] = [
    ['in memory', true, async () => Array(2).fill(memoryStore())],
    [
      'in Redis',
      inject('redisUrl') !== null,
      () => Promise.all([1, 2].map(() => redisStore(inject('redisUrl') ?? '', () => {}))),
    ],
  ];
  for (const [place, isThere, openStores] of stores) {
    it.skipIf(!isThere)(`is shared exactly by two clients on one store ${place}`, async () => {
      const nodes = await openStores();
      const server = await providerServer(() => ({ body: known }));
      // A key of its own, as the store outlives the test.
      const keys = [`${place}-${process.pid}-${KEY}`.replaceAll(' ', '-')];
      const settings = settingsFor(server.baseUrl, { keys, perMinute: 7, perDay: 100 });
      const askers = nodes.map((rateLimits) => testAsker({ clock: testClock(), rateLimits }));
      const asking = Array.from(
        { length: 40 },
        (_, i) => askers[i % 2]?.ask(otx, settings, address) as Promise<Outcome>,
      );
      const outcomes = kinds(await Promise.all(asking));
      expect(server.asked).toHaveLength(7);
      expect(outcomes.filter((kind) => kind === 'quota')).toHaveLength(33);
      for (const node of new Set(nodes)) await node.close();
    });
  }

  it('is never exceeded in any window, for arbitrary schedules', async () => {
    const step = fc.record({
      pass: fc.integer({ min: 0, max: 20 * SECOND }),
      asks: fc.integer({ min: 0, max: 6 }),
      node: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 12 }),
        async (scheduler, steps, perMinute, perDay) => {
          const clock = testClock();
          const store = windowStore(clock);
          /** What each key asked, by the windows of the store it was counted in. */
          const sent = new Map<string, number>();
          const request = async (wanted: OutboundRequest) => {
            const key = wanted.credentials?.['x-otx-api-key'] ?? '';
            for (const unit of ['minute', 'day']) {
              const name = `${key} ${unit} ${Math.floor(clock().getTime() / (unit === 'day' ? DAY : MINUTE))}`;
              sent.set(name, (sent.get(name) ?? 0) + 1);
            }
            return { status: 200, headers: {}, url: wanted.url, body: Buffer.from(JSON.stringify(known)) };
          };
          // Windows that begin on the minute and at midnight, so that the test can count on its own.
          const aligned: typeof store.consume = (key, limit) => {
            const length = limit.windowSeconds * SECOND;
            return store.consume(`${key}:${Math.floor(clock().getTime() / length)}`, limit);
          };
          const rateLimits = { consume: scheduler.scheduleFunction(aligned) };
          const outbound = { request: scheduler.scheduleFunction(request) };
          const nodes = [1, 2].map(() => openProviderClient({ outbound, rateLimits, clock }));
          const settings = settingsFor('https://otx.example.com', { keys: [ONE, TWO], perMinute, perDay });
          for (const { pass, asks, node } of steps) {
            const asking = Array.from({ length: asks }, () =>
              nodes[Number(node)]?.ask(otx, settings, address),
            );
            await scheduler.waitFor(Promise.all(asking));
            clock.pass(pass);
          }
          for (const [name, count] of sent) {
            expect(count).toBeLessThanOrEqual(name.includes(' day ') ? perDay : perMinute);
          }
        },
      ),
      runs(60),
    );
  });
});

describe('several API keys', () => {
  it('are used round-robin', async () => {
    const { ask, asked } = await otxAt(() => ({ body: known }), { keys: [ONE, TWO, THREE] });
    await times(4, ask);
    expect(asked()).toEqual([ONE, TWO, THREE, ONE]);
  });

  it('have separate quotas: the next one with quota left is used', async () => {
    const { ask, asked } = await otxAt(() => ({ body: known }), { keys: [ONE, TWO], perMinute: 2 });
    expect(kinds(await times(5, ask))).toEqual(['answered', 'answered', 'answered', 'answered', 'quota']);
    expect(asked().sort()).toEqual([ONE, ONE, TWO, TWO]);
  });

  it('with the same value share one quota', async () => {
    const { ask, asked } = await otxAt(() => ({ body: known }), { keys: [ONE, ONE, ''], perMinute: 1 });
    await times(3, ask);
    expect(asked()).toEqual([ONE]);
  });

  it('fail over within a query when one is rate-limited', async () => {
    const { ask, asked } = await otxAt((question) => (keyOf(question) === ONE ? spent : { body: known }), {
      keys: [ONE, TWO],
    });
    expect(kinds(await times(3, ask))).toEqual(['answered', 'answered', 'answered']);
    expect(asked()).toEqual([ONE, TWO, TWO, TWO]);
  });

  it('continue when one is rejected, which is reported once', async () => {
    const { ask, asked, refused } = await otxAt(
      (question) => (keyOf(question) === TWO ? { status: 403, body: {} } : { body: known }),
      { keys: [ONE, TWO] },
    );
    expect(kinds(await times(4, ask))).toEqual(['answered', 'answered', 'answered', 'answered']);
    expect(asked().filter((key) => key === TWO)).toHaveLength(1);
    expect(refused).toEqual([1]);
  });

  it('report the earliest time at which one is usable', async () => {
    const { ask, wait } = await otxAt(
      (question) => ({ ...spent, headers: { 'retry-after': keyOf(question) === ONE ? '600' : '90' } }),
      { keys: [ONE, TWO] },
    );
    await ask();
    expect(await wait()).toEqual({ reason: 'rate limited', ms: 90 * SECOND });
  });
});

describe('a 429 response', () => {
  it.each([
    ['seconds', { 'retry-after': '300' }],
    ['a date', { 'retry-after': 'Mon, 01 Jun 2026 12:05:00 GMT' }],
  ])('is honored as its header says in %s, without requests until then', async (_what, headers) => {
    const { clock, ask, wait, asked } = await otxAt(() => ({ ...spent, headers }));
    expect(await wait()).toEqual({ reason: 'rate limited', ms: 5 * MINUTE });
    clock.pass(5 * MINUTE - 1);
    expect(await wait()).toEqual({ reason: 'rate limited', ms: 1 });
    expect(asked()).toHaveLength(1);
    clock.pass(1);
    await ask();
    expect(asked()).toHaveLength(2);
  });

  it('without a header doubles the delay each time, up to an hour', async () => {
    const { clock, wait } = await otxAt(() => spent);
    const waits = await times(8, async () => {
      const { ms } = await wait();
      clock.pass(ms);
      return ms / MINUTE;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('without a header starts at a minute again after a success', async () => {
    const answers = [spent, spent, { body: known }, spent];
    const { clock, ask, wait } = await otxAt(() => answers.shift() ?? spent);
    clock.pass((await wait()).ms);
    clock.pass((await wait()).ms);
    expect((await ask()).kind).toBe('answered');
    expect((await wait()).ms).toBe(MINUTE);
  });

  it('for several concurrent requests counts once', async () => {
    const { clock, ask, wait } = await otxAt(() => spent);
    await Promise.all(Array.from({ length: 6 }, ask));
    expect((await wait()).ms).toBe(MINUTE);
    clock.pass(MINUTE);
    expect((await wait()).ms).toBe(2 * MINUTE);
  });

  it('consumes no quota during the delay', async () => {
    const { store, ask } = await otxAt(() => spent);
    await times(10, ask);
    expect([...store.windows.values()].map(({ consumed }) => consumed)).toEqual([1, 1]);
  });
});

describe('a rejected API key', () => {
  it.each([401, 403])('with %i fails once, then is not used for an hour', async (status) => {
    const { clock, ask, wait, asked, refused } = await otxAt(() => ({ status, body: { detail: KEY } }));
    expect(await ask()).toMatchObject({ kind: 'failed', error: 'the provider refused the key', raw: null });
    expect(await wait()).toEqual({ reason: 'key refused', ms: HOUR });
    expect(asked()).toHaveLength(1);
    expect(refused).toEqual([0]);
    clock.pass(HOUR);
    expect((await ask()).kind).toBe('failed');
  });

  it('does not delay its replacement', async () => {
    const clock = testClock();
    const server = await providerServer((question) =>
      keyOf(question) === ONE ? { status: 401 } : { body: known },
    );
    const asker = testAsker({ clock });
    await asker.ask(otx, settingsFor(server.baseUrl, { keys: [ONE] }), address);
    const outcome = await asker.ask(otx, settingsFor(server.baseUrl, { keys: [TWO] }), address);
    expect(outcome.kind).toBe('answered');
  });

  it('is used at once after it is set again', async () => {
    let isValid = false;
    const server = await providerServer(() => (isValid ? { body: known } : { status: 401 }));
    const asker = testAsker({ clock: testClock() });
    const ask = (keysVersion: string) =>
      asker.ask(otx, settingsFor(server.baseUrl, { keysVersion }), address);
    await ask('first');
    isValid = true;
    expect(await ask('first')).toMatchObject({ kind: 'later', reason: 'key refused' });
    expect((await ask('second')).kind).toBe('answered');
  });
});

describe('a provider without a key', () => {
  it('is not queried', async () => {
    const { wait, asked } = await otxAt(() => ({ body: known }), { keys: [] });
    expect(await wait()).toEqual({ reason: 'no key', ms: HOUR });
    expect(asked()).toEqual([]);
  });
});

describe('the circuit breaker', () => {
  it('opens after five consecutive failures, then sends no request and consumes no quota', async () => {
    const { store, ask, wait, asked } = await otxAt(() => ({ status: 503, body: 'down' }));
    expect(kinds(await times(5, ask))).toEqual(Array(5).fill('failed'));
    expect(await wait()).toEqual({ reason: 'breaker open', ms: MINUTE });
    expect(asked()).toHaveLength(5);
    expect([...store.windows.values()].map(({ consumed }) => consumed)).toEqual([5, 5]);
  });

  it('closes after one successful probe', async () => {
    let isUp = false;
    const { clock, ask, asked } = await otxAt(() => (isUp ? { body: known } : { status: 500, body: {} }));
    await times(5, ask);
    isUp = true;
    clock.pass(MINUTE);
    const outcomes = kinds(await Promise.all(Array.from({ length: 4 }, ask)));
    expect(outcomes.sort()).toEqual(['answered', 'breaker open', 'breaker open', 'breaker open']);
    expect((await ask()).kind).toBe('answered');
    expect(asked()).toHaveLength(7);
  });

  it('keeps the probe for a request that can be sent', async () => {
    const { clock, ask, wait } = await otxAt(() => ({ status: 500, body: {} }), { perDay: 5 });
    await times(5, ask);
    clock.pass(MINUTE);
    expect((await times(3, wait)).map(({ reason }) => reason)).toEqual(['quota', 'quota', 'quota']);
  });

  it('opens for twice as long after a failed probe', async () => {
    const { clock, ask, wait } = await otxAt(() => ({ status: 500, body: {} }));
    await times(5, ask);
    clock.pass(MINUTE);
    expect((await ask()).kind).toBe('failed');
    expect(await wait()).toEqual({ reason: 'breaker open', ms: 2 * MINUTE });
  });

  it('opens for an unreachable server', async () => {
    const { ask } = await otxAt(() => null, { baseUrl: 'http://127.0.0.1:1' });
    expect(kinds(await times(6, ask))).toEqual([...Array(5).fill('failed'), 'breaker open']);
  });

  it.each([
    ['nonsense', { body: '<html>' }],
    ['a refusal', { status: 400, body: {} }],
  ])('stays closed for %s, because the provider responds', async (_what, answer) => {
    const { ask } = await otxAt(() => answer);
    expect(kinds(await times(8, ask))).toEqual(Array(8).fill('failed'));
  });

  it('of one provider does not affect others', async () => {
    const clock = testClock();
    const down = await providerServer(() => ({ status: 500, body: {} }));
    const up = await providerServer(() => ({ body: { noise: false, riot: true } }));
    const asker = testAsker({ clock });
    await times(6, () => asker.ask(otx, settingsFor(down.baseUrl), address));
    expect((await asker.ask(greynoise, settingsFor(up.baseUrl), address)).kind).toBe('answered');
  });
});
