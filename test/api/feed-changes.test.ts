import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openChangeFeed } from '../../src/changes/change-feed.ts';
import { collectionOf, type FeedDefinition } from '../../src/feeds/feed.ts';
import { changeFeed, createFeed, isCollection, removeFeed } from '../../src/feeds/feeds.service.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

/** More than a page and a batch. */
const COUNT = 600;
const LIMIT = 250;
const BY = { who: 'test', now: NOW, reason: 'ours' };
const FEED: FeedDefinition = {
  slug: 'all',
  name: 'All',
  description: '',
  format: 'txt',
  query: 'types=DOMAIN,IPV4',
  tlpCeiling: 'GREEN',
};
const FIRST: FeedDefinition = { ...FEED, slug: 'first', query: `${FEED.query}&limit=${LIMIT}` };

interface Row {
  id: string;
  value: string;
}
interface Body {
  changes: ({ op: 'upsert'; indicator: Row } | ({ op: 'remove' } & Row))[];
  cursor: string;
  hasMore: boolean;
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
    await harness.load([
      ...Array.from({ length: COUNT }, (_, i) => host(i, { confidence: Math.floor(i / 6) })),
      indicatorRecord('DOMAIN', 'amber.example', { confidence: 100, tlp: 'AMBER' }),
      indicatorRecord('DOMAIN', 'report-only.example', { confidence: 100, forDetection: false }),
      indicatorRecord('MUTEX', 'of another type', { confidence: 100 }),
    ]);
    await createFeed(harness.db, FEED, BY);
    await createFeed(harness.db, FIRST, BY);
  });
  afterEach(() => harness.close());

  const host = (index: number, fields = {}) => indicatorRecord('DOMAIN', `host-${index}.example`, fields);
  const ask = (slug: string, query = '', options = {}) =>
    harness.get(`/api/v1/feeds/${slug}/changes?${query}`, options);
  const follow = async (slug: string, query = ''): Promise<Body> => (await ask(slug, query)).json();
  const named = ({ changes }: Pick<Body, 'changes'>) =>
    changes.map((change) => `${change.op} ${'indicator' in change ? change.indicator.value : change.value}`);
  /** Reads all pages. */
  async function all(
    slug: string,
    query = '',
  ): Promise<{ changes: Body['changes']; cursor: string; pages: number }> {
    const changes: Body['changes'] = [];
    let body = await follow(slug, `limit=100&${query}`);
    for (let pages = 1; ; pages++) {
      changes.push(...body.changes);
      if (!body.hasMore) return { changes, cursor: body.cursor, pages };
      body = await follow(slug, `limit=100&cursor=${body.cursor}`);
    }
  }
  async function members(slug: string): Promise<string[]> {
    const { body } = await harness.get(`/api/v1/feeds/${slug}?format=ndjson`);
    return body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).value)
      .sort();
  }

  describe('the changes of a saved feed', () => {
    it.each(['all', 'first'])('of %s begin with what the feed has in every format', async (slug) => {
      const { changes, pages } = await all(slug);
      const values = changes.map((change) => ('indicator' in change ? change.indicator.value : 'removed'));
      expect(values.sort()).toEqual(await members(slug));
      const text = (await harness.get(`/api/v1/feeds/${slug}`)).body;
      expect(text.split('\n').filter(Boolean).sort()).toEqual(await members(slug));
      expect([values.length, pages]).toEqual(slug === 'all' ? [COUNT, 6] : [LIMIT, 3]);
    });

    it('go on from X-Change-Cursor of the feed in any format', async () => {
      for (const path of ['first', 'first?format=csv', 'all', 'all?format=stix']) {
        const cursor = (await harness.get(`/api/v1/feeds/${path}`)).headers['x-change-cursor'];
        const [slug = ''] = path.split('?');
        expect(await follow(slug, `cursor=${cursor}`)).toEqual({ changes: [], cursor, hasMore: false });
      }
    });

    it('of a limit have what comes in instead of what leaves', async () => {
      const { cursor } = await all('first');
      const lowest = COUNT - LIMIT;
      await harness.load([host(1_000, { confidence: 100 })]);
      const added = await follow('first', `cursor=${cursor}`);
      const [left, ...others] = named(added).filter((change) => change.startsWith('remove'));
      expect(others).toEqual([]);
      // Of equal confidence, any one may be the last.
      expect(Number(/\d+/.exec(left ?? '')?.[0])).toBeLessThan(lowest + 6);
      expect(named(added).filter((change) => change.startsWith('upsert'))).toEqual([
        'upsert host-1000.example',
      ]);
      await addEntry(harness.db, 'host-1000.example', undefined, BY, 'RED');
      const removed = await follow('first', `cursor=${added.cursor}`);
      expect(named(removed).sort()).toEqual([
        'remove host-1000.example',
        (left ?? '').replace('remove', 'upsert'),
      ]);
      await removeEntry(harness.db, 'host-1000.example', undefined, BY);
      expect(named(await follow('first', `cursor=${cursor}`)).sort()).toEqual(named(added).sort());
    });

    it('of a limit follow an expiry', async () => {
      await harness.load([host(1_000, { confidence: 100, expiresAt: new Date(NOW.getTime() + 1_000) })]);
      const { cursor } = await all('first');
      harness.clock.now = new Date(NOW.getTime() + 1_000);
      const { changes } = await follow('first', `cursor=${cursor}`);
      expect(changes.map(({ op }) => op).sort()).toEqual(['remove', 'upsert']);
      expect(named({ changes })).toContain('remove host-1000.example');
    });

    it('keep a copy while rows change between pages', async () => {
      const copy = new Map<string, string>();
      let body = await follow('first', 'limit=60');
      for (let step = 0; ; step++) {
        for (const change of body.changes)
          if (change.op === 'upsert') copy.set(change.indicator.id, change.indicator.value);
          else expect(copy.delete(change.id)).toBe(true);
        if (!body.hasMore) break;
        await harness.load([host(2_000 + step, { confidence: 100 })]);
        await addEntry(harness.db, `host-${590 - step}.example`, undefined, BY, 'RED');
        body = await follow('first', `limit=60&cursor=${body.cursor}`);
      }
      expect([...copy.values()].sort()).toEqual(await members('first'));
    });

    it('end with 410 when its filters, limit or TLP ceiling are changed, and not with its name or style', async () => {
      const { cursor } = await all('first');
      const status = async () => (await ask('first', `cursor=${cursor}`)).statusCode;
      await changeFeed(harness.db, 'first', { name: 'Other', query: `${FIRST.query}&style=plain` }, BY);
      expect(await status()).toBe(200);
      for (const change of [
        { query: `${FIRST.query}&minConfidence=1` },
        { query: `${FEED.query}&limit=${LIMIT - 1}` },
        { query: FIRST.query, tlpCeiling: 'AMBER' as const },
        { query: FIRST.query, tlpCeiling: 'GREEN' as const, format: 'ndjson' as const },
      ]) {
        await changeFeed(harness.db, 'first', change, BY);
        expect({ change, status: await status() }).toEqual({ change, status: 410 });
      }
      await changeFeed(harness.db, 'first', FIRST, BY);
      expect(await status()).toBe(200);
    });

    it.each([
      ['its TLP ceiling is lowered', () => changeFeed(harness.db, 'all', { tlpCeiling: 'GREEN' }, BY)],
      ['it is removed', () => removeFeed(harness.db, 'all', BY)],
    ])('are not returned by a request that was waiting when %s', async (_, change) => {
      const feed = await changeFeed(harness.db, 'all', { tlpCeiling: 'RED' }, BY);
      const copied = collectionOf(feed);
      const changes = openChangeFeed(harness, 'a secret of the tests', () => harness.clock.now);
      const principal = { tlpCeiling: 'RED' as const, now: NOW };
      const { cursor } = await changes.next(
        { ...copied, cursor: undefined, limit: 10_000 },
        principal,
        0,
        () => true,
        (change) => change,
      );
      const isValid = () => isCollection(harness.db, 'all', copied.collection.id);
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const isEnded = () => {
        begin();
        return false;
      };
      const waiting = changes.next(
        { ...copied, cursor, limit: 10, isValid },
        principal,
        20,
        isEnded,
        (change) => change,
      );
      await begun;
      await change();
      await harness.load([host(3_000, { tlp: 'RED' })]);
      expect(await waiting).toEqual({ changes: [], cursor, hasMore: false });
    });

    it('do not go on from a cursor of another feed or list, nor a list from theirs', async () => {
      const [first, other] = [(await all('first')).cursor, (await all('all')).cursor];
      const list = (await harness.get('/api/v1/indicators/changes?limit=10000')).json().cursor;
      for (const cursor of [other, list]) {
        const response = await ask('first', `cursor=${cursor}`);
        expect([response.statusCode, response.json().error]).toEqual([
          400,
          expect.stringMatching(/^The cursor belongs to /),
        ]);
      }
      const response = await harness.get(`/api/v1/indicators/changes?cursor=${first}`);
      expect([response.statusCode, response.json().error]).toEqual([
        400,
        'The cursor belongs to a saved feed: begin without a cursor.',
      ]);
    });

    it('are for keys of one TLP ceiling, the lower one of the feed and the key', async () => {
      const { cursor } = await all('all');
      const green = await harness.newKey({ tlpCeiling: 'GREEN' });
      expect((await ask('all', `cursor=${cursor}`, { key: green })).statusCode).toBe(200);
      const clear = await harness.newKey({ tlpCeiling: 'CLEAR' });
      expect((await ask('all', `cursor=${cursor}`, { key: clear })).statusCode).toBe(409);
    });

    it('are read by a key that is bound to the feed, also by HTTP Basic, and not by one of another', async () => {
      const key = await harness.newKey({ feeds: ['first'] });
      const basic = { authorization: `Basic ${Buffer.from(`any:${key}`).toString('base64')}` };
      expect((await ask('first', '', { key })).statusCode).toBe(200);
      expect((await ask('first', '', { key: null, headers: basic })).statusCode).toBe(200);
      expect((await ask('all', '', { key })).statusCode).toBe(403);
      expect((await ask('none', '', { key })).statusCode).toBe(403);
      expect((await ask('none')).statusCode).toBe(404);
    });
  });
});
