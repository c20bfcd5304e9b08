import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { SigmaDocument } from '../../src/formats/sigma.ts';
import { collect } from '../../src/sigma/sigma.service.ts';
import { ENGINES } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { actorRecord, relationshipRecord } from '../support/records.ts';

const INDICATORS = 2_000;
const PARALLEL = 10;

/** The database, and how many of its transactions were open at most. */
function counting<T extends { db: object }>(database: T) {
  const count = { open: 0, most: 0 };
  const counted = <Builder extends object>(builder: Builder): Builder =>
    new Proxy(builder, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const result = value.apply(target, args);
          if (name !== 'execute') return counted(result);
          count.most = Math.max(count.most, ++count.open);
          return result.then((trx: object) => ending(trx));
        };
      },
    });
  const ending = (trx: object) =>
    new Proxy(trx, {
      get(target, name) {
        if (name === 'commit' || name === 'rollback') count.open--;
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const db = new Proxy(database.db, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === 'startTransaction') return () => counted(value.call(target));
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { count, database: { ...database, db } };
}

describe('rules that are read by many requests at once', () => {
  let harness: Harness | undefined;
  afterEach(async () => {
    await harness?.close();
    harness = undefined;
  });

  // The embedded database has one connection, and ends its transactions before it reads.
  it.runIf(ENGINES.some(({ name }) => name === 'postgresql'))(
    'hold at most four connections of one key',
    { tags: ['nightly'] },
    async () => {
      const engine = ENGINES.find(({ name }) => name === 'postgresql');
      const counted = counting((await engine?.open()) as Awaited<ReturnType<(typeof ENGINES)[0]['open']>>);
      harness = await startHarness({ open: async () => counted.database });
      const { get, load } = harness;
      await load([
        actorRecord('Bear'),
        ...Array.from({ length: INDICATORS }, (_, i) => [
          indicatorRecord('DOMAIN', `d${i}.example`, { externalIds: [`i${i}`] }),
          relationshipRecord(`i${i}`, 'indicates', 'actor:Bear'),
        ]).flat(),
      ]);
      const { id } = (await get('/api/v1/actors')).json().data[0];
      const urls = ['', '/queries?language=splunk-spl'].map((end) => `/api/sigma/actor/${id}${end}`);
      counted.count.most = 0;
      const responses = await Promise.all(
        Array.from({ length: PARALLEL }, (_, i) => get(urls[i % urls.length] ?? '')),
      );
      expect(responses.map(({ statusCode }) => statusCode)).toEqual(responses.map(() => 200));
      expect(counted.count.most).toBeGreaterThan(1);
      expect(counted.count.most).toBeLessThanOrEqual(4);
    },
  );

  it('let other requests continue after each rule', async () => {
    async function* rules() {
      for (let i = 0; i < 20; i++) yield {} as SigmaDocument;
      return 0;
    }
    let [turns, isDone] = [0, false];
    const other = async () => {
      while (!isDone) {
        await setImmediate();
        turns++;
      }
    };
    const others = other();
    expect((await collect(rules())).rules).toHaveLength(20);
    isDone = true;
    await others;
    expect(turns).toBeGreaterThanOrEqual(20);
  });
});
