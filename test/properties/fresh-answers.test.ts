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
import { sumAt } from '../support/sums.ts';
import { runs } from './runs.ts';

const NAMES = ['one', 'two', 'three'].map((name) => `${name}.test-feed.net`);
const PATHS = [
  ...['', 'tag=c2', 'minConfidence=50', 'type=DOMAIN&severity=MEDIUM', 'q=two'].map(
    (list) => `/api/v1/indicators?pageSize=50&${list}`,
  ),
  ...NAMES.map((name) => `/api/v1/indicators/${indicatorId('DOMAIN', name)}`),
];
const LIST = '/api/v1/indicators?pageSize=50';
const LOOKUP = `/api/v1/lookup?value=unknown.net&${NAMES.map((name) => `value=${name}&value=http://a.${name}/b`).join('&')}`;
/** Above the first are all, above the second some. */
const CEILINGS = ['RED', 'GREEN'] as const;
const ASKED = [...PATHS, LIST, LOOKUP].flatMap((path) => CEILINGS.map((ceiling) => ({ path, ceiling })));
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
      tlp: fc.constantFrom('GREEN' as const, 'AMBER' as const),
      tags: fc.subarray(['c2', 'phishing']),
      lifeMs: fc.option(fc.integer({ min: 1, max: 5_000 })),
    }),
    fc.record({ kind: fc.constantFrom('whitelist' as const, 'take back' as const, 'unpin' as const), name }),
    fc.record({ kind: fc.constant('pin' as const), name, confidence }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
    // By a clock that may be ahead.
    fc.record({ kind: fc.constant('sums' as const), aheadMs: fc.constantFrom(0, 2_000) }),
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
  const keys = new Map<string, string>();

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
    for (const tlpCeiling of CEILINGS) keys.set(tlpCeiling, await nodes[0].newKey({ tlpCeiling }));
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
        const { name: value, confidence: score, tlp, tags, lifeMs } = change;
        const expiresAt = lifeMs === null ? null : new Date(now.getTime() + lifeMs);
        return node.load([
          indicatorRecord('DOMAIN', value, { statedAt: now, confidence: score, tlp, tags, expiresAt }),
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
      case 'sums':
        return sumAt(node.db, new Date(now.getTime() + change.aheadMs));
      case 'wait':
        return;
    }
  };
  const ask = async (node: Harness, { path, ceiling }: (typeof ASKED)[number]) =>
    (await node.get(path, { key: keys.get(ceiling) ?? '' })).body;
  /** Look-ups read other statements than lists, and filters first. */
  const requireSameValues = async (ceiling: (typeof CEILINGS)[number]) => {
    const listed = JSON.parse(await ask(uncached, { path: LIST, ceiling })).data;
    const found = JSON.parse(await ask(uncached, { path: LOOKUP, ceiling })).data;
    const values = new Set<string>(listed.map(({ value }: { value: string }) => value));
    for (const { asked, known } of found)
      expect({ asked, known }).toEqual({ asked, known: [...values].some((value) => asked.includes(value)) });
  };
  /** The next schedule may begin with the node that has not done this. */
  const clean = async () => {
    for (const value of NAMES) await apply(nodes[0], { kind: 'take back', name: value });
    for (const asked of ASKED) {
      const expected = await ask(uncached, asked);
      await vi.waitUntil(async () => (await ask(nodes[1], asked)) === expected, {
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
            for (const asked of ASKED) {
              const expected = await ask(uncached, asked);
              expect(await ask(wrote as Harness, asked), asked.path).toBe(expected);
              for (;;) {
                const began = performance.now();
                if ((await ask(other as Harness, asked)) === expected) break;
                expect(began - committed, asked.path).toBeLessThanOrEqual(MAX_STALE_MS);
              }
            }
            for (const ceiling of CEILINGS) await requireSameValues(ceiling);
          }
        })
        .afterEach(clean),
      runs(15),
    );
  });
});
