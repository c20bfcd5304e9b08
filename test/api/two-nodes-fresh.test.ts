import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { MAX_STALE_MS } from '../../src/db/revision/watch.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { freshPostgresUrl } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const LISTS = ['', 'tag=c2', 'type=DOMAIN', 'minConfidence=50', 'q=two'];
const url = inject('postgresUrl');
const by = { who: 'test', reason: 'ours', now: NOW };

describe.skipIf(!url)('two nodes on one PostgreSQL', () => {
  let fresh: Awaited<ReturnType<typeof freshPostgresUrl>>;
  let nodes: Harness[];

  beforeAll(async () => {
    fresh = await freshPostgresUrl(url ?? '');
    const open = () =>
      openDatabase({ url: fresh.url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
    const start = () => startHarness({ open });
    nodes = [await start(), await start()];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await fresh.drop();
  });

  const ask = async (node: Harness, list: string) =>
    (await node.get(`/api/v1/indicators?pageSize=50&${list}`)).body;
  /** Of another process each time, which keeps nothing. */
  const truth = async (list: string) => {
    const open = () =>
      openDatabase({ url: fresh.url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
    const other = await startHarness({ open });
    other.clock.now = nodes[0]?.clock.now ?? NOW;
    const answer = await ask(other, list);
    await other.close();
    return answer;
  };

  const record = (name: string, more: object = {}) =>
    indicatorRecord('DOMAIN', `${name}.test-feed.net`, { statedAt: NOW, ...more });
  const later = (ms: number) => new Date(NOW.getTime() + ms);
  const changes: [string, (node: Harness) => Promise<unknown>][] = [
    ['new ones', (node) => node.load([record('one', { tags: ['c2'] }), record('two', { confidence: 20 })])],
    ['another score', (node) => node.load([record('two', { confidence: 80, statedAt: later(1) })])],
    ['another tag', (node) => node.load([record('two', { tags: ['c2'], statedAt: later(2) })])],
    ['one whitelisted', (node) => addEntry(node.db, 'two.test-feed.net', undefined, by, 'RED')],
    ['one taken back', (node) => removeEntry(node.db, 'two.test-feed.net', undefined, by)],
    ['one that will expire', (node) => node.load([record('soon', { expiresAt: later(60_000) })])],
  ];

  it.each(changes)(
    'show %s: the writer at once, the other node within the staleness bound',
    async (_, change) => {
      const [writer, reader] = nodes as [Harness, Harness];
      for (const list of LISTS) for (const node of nodes) await ask(node, list);
      await change(writer);
      const committed = performance.now();
      for (const list of LISTS) {
        const expected = await truth(list);
        expect(await ask(writer, list), list).toBe(expected);
        for (;;) {
          const asked = performance.now();
          if ((await ask(reader, list)) === expected) break;
          expect(asked - committed, list).toBeLessThanOrEqual(MAX_STALE_MS);
        }
      }
      nodes.reverse();
    },
  );

  it('both drop an indicator at the instant it expires', async () => {
    for (const [ms, total] of [
      [59_999, 3],
      [60_000, 2],
    ] as const)
      for (const node of nodes) {
        node.clock.now = later(ms);
        expect(JSON.parse(await ask(node, '')).total).toBe(total);
      }
  });

  it('a change on one ends the wait for changes on the other, whose cursors it understands', async () => {
    const [one, two] = nodes as [Harness, Harness];
    const changes = (node: Harness, query: string) =>
      node.get(`/api/v1/indicators/changes?q=waiting&${query}`);
    const { cursor } = (await changes(one, '')).json();
    const started = performance.now();
    const waiting = changes(two, `cursor=${cursor}&wait=20`);
    await one.load([indicatorRecord('DOMAIN', 'waiting.test-feed.net')]);
    const body = (await waiting).json();
    expect(body.changes).toMatchObject([{ op: 'upsert', indicator: { value: 'waiting.test-feed.net' } }]);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect((await changes(one, `cursor=${body.cursor}`)).json()).toEqual({ ...body, changes: [] });
  });
});
