import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Computed,
  createResponseCache,
  type ResponseCache,
} from '../../src/http/cache/response-cache.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const at = (ms: number) => new Date(NOW.getTime() + ms);

describe('the response cache', () => {
  let latest: number;
  /** The oldest revision that may be given out still. */
  let oldest: number;
  let generation: number;
  let epoch: number;
  let clock: number;
  let answers: ResponseCache;
  let computed: number;

  beforeEach(() => {
    [latest, oldest, generation, epoch, clock, computed] = [1, 1, 0, 0, 0, 0];
    const watch = {
      isFresh: (counter: string, revision: number) => counter === 'revision' && revision >= oldest,
      isLatest: (counter: string, revision: number) => counter === 'revision' && revision >= latest,
      generation: () => generation,
      epoch: () => epoch,
    };
    answers = createResponseCache(watch, () => clock);
  });

  const compute =
    (given: Partial<Computed> = {}) =>
    async () => {
      computed++;
      await null;
      return { payload: `of ${latest}`, revision: latest, validUntil: null, ...given };
    };
  const find = async (now = NOW, read = compute()) =>
    (await answers.getOrCompute('q', now, read)).body.toString();

  /** What is cached, without computing anything; undefined: this request is to compute it. */
  const cached = (now = NOW, question = 'q') => answers.findCached(question, now.getTime())?.body.toString();

  it('computes a response once while it is fresh', async () => {
    expect([await find(), await find(), computed]).toEqual(['of 1', 'of 1', 1]);
    expect(cached()).toBe('of 1');
    [latest, oldest] = [2, 2];
    expect(cached()).toBeUndefined();
    expect([await find(), computed]).toEqual(['of 2', 2]);
  });

  it('computes a response once for concurrent requests', async () => {
    expect(await Promise.all([find(), find(), find()])).toEqual(['of 1', 'of 1', 'of 1']);
    expect(computed).toBe(1);
  });

  it('shares a response from a replica only while its revision is current', async () => {
    const lagging = async () => {
      const answer = { payload: 'lagging', revision: 1, validUntil: null, mayLag: true };
      await null;
      return answer;
    };
    const holding = [find(NOW, lagging), find()];
    expect(await Promise.all(holding)).toEqual(['lagging', 'lagging']);
    [latest, oldest] = [2, 2];
    expect(await Promise.all([find(NOW, lagging), find()])).toEqual(['lagging', 'of 2']);
  });

  it('does not share a computation begun before a local commit or too long ago', async () => {
    let finish: (computed: Computed) => void = () => {};
    const slow = () => new Promise<Computed>((resolve) => (finish = resolve));
    const first = find(NOW, slow);
    await null;
    generation++;
    latest = 2;
    expect(await find()).toBe('of 2');
    finish({ payload: 'of 1', revision: 1, validUntil: null });
    expect(await first).toBe('of 1');
    // The one that came late is not kept in place of the newer one.
    oldest = 2;
    expect(cached()).toBe('of 2');

    [latest, oldest] = [3, 3];
    const long = find(NOW, slow);
    clock += 251;
    expect(await find()).toBe('of 3');
    finish({ payload: 'of 2', revision: 2, validUntil: null });
    await long;
  });

  it('expires a response at the instant its content changes with time', async () => {
    await find(NOW, compute({ validUntil: at(10) }));
    expect(cached(at(9))).toBeDefined();
    expect(cached(at(10))).toBeUndefined();
    expect(cached(at(-1))).toBeUndefined();
    await find(at(10));
    expect(computed).toBe(2);
  });

  it('does not return a response for another instant to a waiting request', async () => {
    const both = await Promise.all([
      find(NOW, compute({ validUntil: at(10), payload: 'before' })),
      find(at(10), compute({ payload: 'after' })),
    ]);
    expect(both).toEqual(['before', 'after']);
  });

  it('computes one response for all waiting requests of a later instant', async () => {
    const first = find(NOW, compute({ validUntil: at(10), payload: 'before' }));
    const joined = Array.from({ length: 100 }, (_, i) => find(at(10 + i), compute({ payload: 'after' })));
    expect(await first).toBe('before');
    expect(new Set(await Promise.all(joined))).toEqual(new Set(['after']));
    expect(computed).toBe(2);
  });

  it('computes one response for all requests waiting on a lagging one', async () => {
    const lagging = async () => {
      await null;
      [latest, oldest] = [2, 2];
      return { payload: 'lagging', revision: 1, validUntil: null, mayLag: true };
    };
    const first = find(NOW, lagging);
    const joined = Array.from({ length: 100 }, () => find());
    expect([await first, new Set(await Promise.all(joined)), computed]).toEqual([
      'lagging',
      new Set(['of 2']),
      1,
    ]);
  });

  it('drops responses of an earlier epoch, whatever their revision', async () => {
    let finish: (computed: Computed) => void = () => {};
    latest = 9;
    await find();
    const late = answers.getOrCompute(
      'other',
      NOW,
      () => new Promise<Computed>((resolve) => (finish = resolve)),
    );
    [latest, oldest, epoch] = [5, 5, 1];
    finish({ payload: 'of 9', revision: 9, validUntil: null });
    await late;
    expect([cached(), cached(NOW, 'other')]).toEqual([undefined, undefined]);
    expect([await find(), cached()]).toEqual(['of 5', 'of 5']);
  });

  it('rejects all waiting requests on failure', async () => {
    let asked = 0;
    const fail = async () => {
      asked++;
      await null;
      throw new Error('down');
    };
    const all = await Promise.allSettled([find(NOW, fail), find(NOW, fail), find(NOW, fail)]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect([asked, await find()]).toEqual([1, 'of 1']);
  });

  it('lets one request refresh an outdated response while others use the old one', async () => {
    await find();
    latest = 2;
    expect([cached(), cached(), cached()]).toEqual([undefined, 'of 1', 'of 1']);
    await find();
    expect(cached()).toBe('of 2');
  });

  it('lets another request refresh when the first did not', async () => {
    await find();
    latest = 2;
    expect([cached(), cached()]).toEqual([undefined, 'of 1']);
    clock += 501;
    expect([cached(), cached()]).toEqual([undefined, 'of 1']);
  });

  it('rejects on failure, and computes again for the next request', async () => {
    await expect(find(NOW, () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await find()).toBe('of 1');
  });
});
