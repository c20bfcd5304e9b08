import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  MAX_STALE_MS,
  type Revisions,
  type RevisionWatch,
  watchRevisions,
} from '../../src/db/revision/watch.ts';

describe('the revision watch', () => {
  let now: number;
  let latest: Revisions;
  let asked: number;
  /** How the store answers; it is looked at when it is asked. */
  let answer: () => Promise<Revisions>;
  let watch: RevisionWatch;

  const start = (soleWriter = false) => {
    const ask = () => {
      asked++;
      return answer();
    };
    watch = watchRevisions({ readRevisions: ask, clock: () => now, soleWriter });
  };
  /** Time goes by, as the clock and the timers have it. */
  const pass = async (ms: number) => {
    now += ms;
    await vi.advanceTimersByTimeAsync(ms);
  };
  const holds = (revision: number) => watch.isFresh('revision', revision);

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    [now, latest, asked] = [1_000, { revision: 7, access: 3 }, 0];
    answer = async () => ({ ...latest });
    start();
  });
  afterEach(() => {
    watch.stop();
    vi.useRealTimers();
  });

  it('treats nothing as fresh before its first report', async () => {
    expect(holds(7)).toBe(false);
    await pass(0);
    expect([holds(7), holds(6), holds(8)]).toEqual([true, false, true]);
    expect([watch.isFresh('access', 3), watch.isFresh('access', 2)]).toEqual([true, false]);
  });

  it('treats a response as fresh after a remote commit only within the staleness bound', async () => {
    holds(7);
    await pass(0);
    const committed = now + 1;
    latest.revision = 8;
    const until: number[] = [];
    for (let ms = 0; ms < 600; ms++) {
      await pass(1);
      if (holds(7)) until.push(now);
      expect(holds(8), String(now)).toBe(true);
    }
    expect(Math.max(...until)).toBeLessThanOrEqual(committed + MAX_STALE_MS);
    expect(watch.isLatest('revision', 7)).toBe(false);
  });

  it('reports that a response is outdated well before it becomes stale', async () => {
    holds(7);
    await pass(0);
    latest.revision = 8;
    await pass(60);
    expect([watch.isLatest('revision', 7), holds(7)]).toEqual([false, true]);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['does not answer', () => new Promise<never>(() => {})],
  ])('treats nothing as fresh while the store %s', async (_, broken) => {
    holds(7);
    await pass(0);
    const sound = answer;
    answer = broken;
    await pass(MAX_STALE_MS + 100);
    expect(holds(7)).toBe(false);
    if (_ === 'fails') {
      answer = sound;
      await pass(60);
      expect(holds(7)).toBe(true);
    }
  });

  it('measures freshness from when it queried, not from when the reply arrived', async () => {
    let reply: (revisions: Revisions) => void = () => {};
    answer = () => new Promise((resolve) => (reply = resolve));
    holds(7);
    await pass(MAX_STALE_MS - 10);
    reply({ ...latest });
    await pass(5);
    expect(holds(7)).toBe(true);
    await pass(10);
    expect(holds(7)).toBe(false);
  });

  it('ignores replies to queries sent before its own commit', async () => {
    holds(7);
    await pass(0);
    let reply: (revisions: Revisions) => void = () => {};
    answer = () => new Promise((resolve) => (reply = resolve));
    await pass(60);
    const late = { ...latest };
    watch.invalidate();
    expect([holds(7), holds(8)]).toEqual([false, false]);
    answer = async () => ({ revision: 8, access: 3 });
    reply(late);
    await turn();
    expect([holds(7), holds(8)]).toEqual([false, true]);
  });

  it('starts a new epoch with the first report', async () => {
    const epoch = watch.epoch();
    holds(7);
    await pass(0);
    expect(watch.epoch()).toBe(epoch + 1);
    await pass(60);
    expect(watch.epoch()).toBe(epoch + 1);
  });

  it.each([
    ['its counters have gone back', { revision: 6, access: 3 }],
    ['another server answers', { revision: 9, access: 4, server: 'promoted' }],
    ['a backup was restored', { revision: 9, access: 4, history: 'another' }],
  ])('starts a new epoch when %s', async (_, later) => {
    holds(7);
    await pass(0);
    const [epoch, generation] = [watch.epoch(), watch.generation()];
    watch.invalidate();
    answer = async () => later;
    await pass(0);
    await pass(60);
    expect(watch.epoch()).toBe(epoch + 1);
    expect(watch.generation()).toBeGreaterThan(generation + 1);
    expect([watch.lastKnown('revision'), holds(later.revision), holds(later.revision - 1)]).toEqual([
      later.revision,
      true,
      false,
    ]);
    await pass(60);
    expect(watch.epoch()).toBe(epoch + 1);
  });

  it('stops polling when unused', async () => {
    holds(7);
    await pass(10_000);
    const before = asked;
    await pass(60_000);
    expect(asked).toBe(before);
    expect(holds(7)).toBe(false);
    await pass(0);
    expect(holds(7)).toBe(true);
  });

  it('as sole writer queries once after each commit', async () => {
    watch.stop();
    start(true);
    holds(7);
    await pass(60_000);
    expect([holds(7), asked]).toEqual([true, 1]);
    latest.revision = 8;
    watch.invalidate();
    expect(holds(7)).toBe(false);
    await pass(0);
    expect([holds(7), holds(8), asked]).toEqual([false, true, 2]);
  });
});
