import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { MAX_STALE_MS } from '../../src/db/revision/watch.ts';
import { changePin } from '../../src/indicators/confidence/confidence.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { addEntry, removeEntry, WhitelistError } from '../../src/whitelist/whitelist.service.ts';
import { freshPostgresUrl } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';

const NAMES = ['one', 'two', 'three'].map((name) => `${name}.test-feed.net`);
const PATHS = [
  ...['', 'tag=c2', 'minConfidence=50', 'type=DOMAIN&severity=MEDIUM', 'q=two'].map(
    (list) => `/api/v1/indicators?pageSize=50&${list}`,
  ),
  ...NAMES.map((name) => `/api/v1/indicators/${indicatorId('DOMAIN', name)}`),
];
const url = inject('postgresUrl');

const name = fc.constantFrom(...NAMES);
const confidence = fc.integer({ min: 0, max: 100 });
/** What may be done between two requests, on either node. */
const step = fc.record({
  writer: fc.nat(1),
  change: fc.oneof(
    fc.record({
      kind: fc.constant('state' as const),
      name,
      confidence,
      tags: fc.subarray(['c2', 'phishing']),
      lifeMs: fc.option(fc.integer({ min: 1, max: 5_000 })),
    }),
    fc.record({ kind: fc.constantFrom('whitelist' as const, 'take back' as const, 'unpin' as const), name }),
    fc.record({ kind: fc.constant('pin' as const), name, confidence }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
  ),
});
/** An entry that stands there already, or does not. */
const unlessRefused = (error: unknown) => {
  if (!(error instanceof WhitelistError)) throw error;
};
type Change = Parameters<Parameters<typeof step.map>[0]>[0]['change'];

describe.skipIf(!url)('two nodes on one PostgreSQL, for arbitrary changes', () => {
  let fresh: Awaited<ReturnType<typeof freshPostgresUrl>>;
  let nodes: [Harness, Harness];
  /** Keeps nothing. */
  let uncached: Harness;
  let now = NOW;

  beforeAll(async () => {
    fresh = await freshPostgresUrl(url ?? '');
    const open = () =>
      openDatabase({ url: fresh.url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
    const start = (opened: () => Promise<Database>) => startHarness({ open: opened });
    nodes = [await start(open), await start(open)];
    uncached = await start(async () => {
      const database = await open();
      const never = () => false;
      return { ...database, revisions: { ...database.revisions, isFresh: never, isLatest: never } };
    });
  });
  afterAll(async () => {
    for (const node of [...nodes, uncached]) await node.close();
    await fresh.drop();
  });

  const apply = async (node: Harness, change: Change): Promise<unknown> => {
    // Each is later than what was before it.
    now = new Date(now.getTime() + (change.kind === 'wait' ? change.ms : 1));
    for (const each of [...nodes, uncached]) each.clock.now = now;
    const by = { who: 'test', reason: 'ours', now };
    switch (change.kind) {
      case 'state': {
        const { name: value, confidence: score, tags, lifeMs } = change;
        const expiresAt = lifeMs === null ? null : new Date(now.getTime() + lifeMs);
        return node.load([
          indicatorRecord('DOMAIN', value, { statedAt: now, confidence: score, tags, expiresAt }),
        ]);
      }
      case 'whitelist':
        return addEntry(node.db, change.name, undefined, by, 'RED').catch(unlessRefused);
      case 'take back':
        return removeEntry(node.db, change.name, undefined, by).catch(unlessRefused);
      case 'pin':
        return changePin(
          node.db,
          indicatorId('DOMAIN', change.name),
          { kind: 'pin', confidence: change.confidence },
          by,
        );
      case 'unpin':
        return changePin(node.db, indicatorId('DOMAIN', change.name), { kind: 'unpin' }, by);
      case 'wait':
        return;
    }
  };
  const ask = async (node: Harness, path: string) => (await node.get(path)).body;
  /** The next schedule may begin with the node that has not done this. */
  const clean = async () => {
    for (const value of NAMES) await apply(nodes[0], { kind: 'take back', name: value });
    for (const path of PATHS) {
      const expected = await ask(uncached, path);
      await vi.waitUntil(async () => (await ask(nodes[1], path)) === expected, {
        interval: 5,
        timeout: 300_000,
      });
    }
  };

  it('the writer reflects a change at once, the other node within the staleness bound', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          for (const { writer, change } of steps) {
            const [wrote, other] = writer === 0 ? nodes : nodes.toReversed();
            await apply(wrote as Harness, change);
            const committed = performance.now();
            for (const path of PATHS) {
              const expected = await ask(uncached, path);
              expect(await ask(wrote as Harness, path), path).toBe(expected);
              for (;;) {
                const asked = performance.now();
                if ((await ask(other as Harness, path)) === expected) break;
                expect(asked - committed, path).toBeLessThanOrEqual(MAX_STALE_MS);
              }
            }
          }
        })
        .afterEach(clean),
      runs(15),
    );
  });
});
