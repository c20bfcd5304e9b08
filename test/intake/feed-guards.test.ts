import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedDefinition, FeedGuard } from '../../src/feeds/feed.ts';
import { findHolds, type Hold } from '../../src/feeds/feed-guards.queries.ts';
import { changeFeed, createFeed, removeFeed } from '../../src/feeds/feeds.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { delistMissing } from '../../src/sources/delist-missing.ts';
import { findStoredSource } from '../../src/sources/feeds.queries.ts';
import { runPendingRemovals, startRemoval } from '../../src/sources/remove-source.ts';
import type { SourceSettings } from '../../src/sources/source-settings.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, METRICS_TOKEN, NOW, startHarness } from '../support/harness.ts';
import { type Feeds, startFeeds } from './feeds.ts';

const DAY = 86_400;
/** More than two batches. */
const COUNT = 1200;

onEveryEngine((engine) => {
  let tipline: Harness;
  let feeds: Feeds;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    feeds = await startFeeds(tipline);
  });
  afterEach(async () => {
    await feeds.close();
    await tipline.close();
  });

  const by = () => ({ who: 'test', now: tipline.clock.now });
  const addFeed = (slug: string, guard: Partial<FeedGuard>, change: Partial<FeedDefinition> = {}) =>
    createFeed(
      tipline.db,
      {
        slug,
        name: slug,
        description: '',
        format: 'txt',
        query: 'type=DOMAIN',
        tlpCeiling: 'GREEN',
        ...change,
        ...guard,
      },
      by(),
    );
  const addList = (settings: Partial<SourceSettings> = {}) =>
    feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: DAY }, ...settings });
  const days = (count: number) => {
    tipline.clock.now = new Date(NOW.getTime() + count * DAY * 1000);
  };
  const host = (i: number) => `h${i}.test-feed.net`;
  /** Runs a source whose list has these members. */
  const runWith = async (id: string, from: number, to: number, options = {}) => {
    const body = Array.from({ length: to - from }, (_, i) => `${host(from + i)}\n`).join('');
    feeds.server.answer({ body });
    const { error, counts } = await feeds.run(id, options);
    expect(error).toBeNull();
    return counts;
  };
  /** Returns the lines of a feed a week later, when everything that was delisted has expired. */
  const linesLater = async (slug: string) => {
    const { now } = tipline.clock;
    tipline.clock.now = new Date(now.getTime() + 7 * DAY * 1000);
    const found = await lines(slug);
    tipline.clock.now = now;
    return found;
  };
  const lines = async (slug: string) =>
    (await tipline.get(`/api/v1/feeds/${slug}`)).body.split('\n').filter((line) => line !== '');
  const holds = async (): Promise<Hold[]> => [...(await findHolds(tipline.db)).values()].flat();

  describe('delisting by a source', () => {
    it('is unchanged for a feed without a bound', async () => {
      await addFeed('edge', {});
      const id = await addList();
      await runWith(id, 0, COUNT);
      expect(await runWith(id, 0, 700)).toMatchObject({
        left: 500,
        heldBack: 0,
        heldBackFeeds: [],
        unguardedFeeds: [],
      });
      expect(await linesLater('edge')).toHaveLength(700);
      expect(await tipline.db.selectFrom('feed_day_count').selectAll().execute()).toEqual([]);
    });

    it('is held back if a feed would have fewer than its minimum, and the feed has an alarm', async () => {
      await addFeed('edge', { minEntries: 701 });
      const id = await addList();
      await runWith(id, 0, COUNT);
      days(1);
      expect(await runWith(id, 0, 700)).toMatchObject({ left: 0, heldBack: 500, heldBackFeeds: ['edge'] });
      const since = tipline.clock.now;
      expect(await holds()).toEqual([{ source: 'Feed', entries: 500, since, asOf: since }]);
      days(2);
      expect(await runWith(id, 0, 690)).toMatchObject({ left: 0, heldBack: 510 });
      expect(await holds()).toEqual([{ source: 'Feed', entries: 510, since, asOf: tipline.clock.now }]);
      expect(await linesLater('edge')).toHaveLength(COUNT);
    });

    it('is not held back if the minimum remains', { tags: ['nightly'] }, async () => {
      await addFeed('edge', { minEntries: 700 });
      const id = await addList();
      await runWith(id, 0, COUNT);
      expect(await runWith(id, 0, 700)).toMatchObject({ left: 500, heldBack: 0 });
      expect(await holds()).toEqual([]);
      expect(await linesLater('edge')).toHaveLength(700);
    });

    it('is held back if a feed would have less than its share of an earlier day', {
      tags: ['nightly'],
    }, async () => {
      await addFeed('edge', { minShare: 75 });
      const id = await addList();
      await runWith(id, 0, COUNT);
      days(1);
      expect(await runWith(id, 0, 900)).toMatchObject({ left: 300, heldBack: 0 });
      expect(await runWith(id, 0, 899)).toMatchObject({ left: 0, heldBack: 1 });
      // Yesterday's number is that of the first run of the day.
      days(2);
      expect(await runWith(id, 0, 899)).toMatchObject({ left: 0, heldBack: 1 });
      days(3);
      expect(await runWith(id, 0, 675)).toMatchObject({ left: 225, heldBack: 0 });
      expect(await runWith(id, 0, 674)).toMatchObject({ left: 0, heldBack: 1 });
    });

    it('compares with the first run of today if there was none before, and keeps counts of eight days', {
      tags: ['nightly'],
    }, async () => {
      const id = await addList();
      await runWith(id, 0, COUNT);
      await addFeed('edge', { minShare: 90 });
      expect(await runWith(id, 0, 1000)).toMatchObject({ left: 0, heldBack: 200 });
      for (let day = 1; day < 12; day++) {
        days(day);
        await runWith(id, 0, COUNT);
      }
      const counts = await tipline.db.selectFrom('feed_day_count').select('entries').execute();
      expect(counts).toEqual(Array.from({ length: 8 }, () => ({ entries: COUNT })));
    });

    it('is not held back when other entries take the place of those that leave', {
      tags: ['nightly'],
    }, async () => {
      await addFeed('edge', { minEntries: COUNT, minShare: 100 });
      const id = await addList();
      await runWith(id, 0, COUNT);
      days(1);
      expect(await runWith(id, 400, COUNT + 400)).toMatchObject({ new: 400, left: 400, heldBack: 0 });
      expect(await linesLater('edge')).toHaveLength(COUNT);
      days(2);
      expect(await runWith(id, 800, COUNT + 800)).toMatchObject({ new: 400, left: 400, heldBack: 0 });
    });

    it('does not count what another source lists, until that one delists it too', {
      tags: ['nightly'],
    }, async () => {
      await addFeed('edge', { minEntries: COUNT });
      const id = await addList();
      const other = await addList({ name: 'Other' });
      await runWith(id, 0, COUNT);
      await runWith(other, 600, COUNT);
      expect(await runWith(id, 0, 600)).toMatchObject({ left: 600, heldBack: 0 });
      expect(await linesLater('edge')).toHaveLength(COUNT);
      expect(await runWith(other, 900, COUNT)).toMatchObject({ left: 0, heldBack: 300 });
      expect(await linesLater('edge')).toHaveLength(COUNT);
    });

    it('does not count what another source reported and that has expired there', {
      tags: ['nightly'],
    }, async () => {
      await addFeed('edge', { minEntries: COUNT });
      const id = await addList();
      const expiresAt = new Date(NOW.getTime() + DAY * 1000);
      const reported = Array.from({ length: 600 }, (_, i) =>
        indicatorRecord('DOMAIN', host(i), { expiresAt }),
      );
      await tipline.load(reported, 'Dated');
      await runWith(id, 0, COUNT);
      days(2);
      expect(await runWith(id, 600, COUNT)).toMatchObject({ left: 0, heldBack: 600 });
    });

    it('does not count what another source has withdrawn', async () => {
      await addFeed('edge', { minEntries: 40 });
      const id = await addList();
      await runWith(id, 0, 50);
      const statedAt = new Date('2026-05-01T00:00:00.000Z');
      const state = (count: number, withdrawn?: string) =>
        tipline.load(
          Array.from({ length: count }, (_, i) => {
            const externalId = `indicator--${i}`;
            const at = new Date(statedAt.getTime() + (withdrawn === undefined ? 0 : DAY * 1000));
            return indicatorRecord('DOMAIN', host(i), {
              statedAt: at,
              externalIds: [externalId],
              records: [{ id: externalId, statedAt: at.toISOString() }],
              ...(withdrawn !== undefined && { withdrawn }),
            });
          }),
          'Bundle',
        );
      await state(20);
      expect(await runWith(id, 1, 50)).toMatchObject({ left: 1, heldBack: 0 });
      await state(20, 'revoked by its source');
      expect(await runWith(id, 20, 50)).toMatchObject({ left: 0, heldBack: 19 });
      expect(await linesLater('edge')).toHaveLength(49);
    });

    it('does not count what stays in the feed without a lifetime', { tags: ['nightly'] }, async () => {
      await addFeed('edge', { minEntries: COUNT });
      const id = await addList({ lifetimes: { IPV4: DAY } });
      await runWith(id, 0, COUNT);
      expect(await runWith(id, 0, 700)).toMatchObject({ left: 500, heldBack: 0 });
      expect(await linesLater('edge')).toHaveLength(COUNT);
    });

    it('counts a feed with a limit up to it', { tags: ['nightly'] }, async () => {
      await addFeed('edge', { minEntries: 600 }, { query: 'type=DOMAIN&limit=600' });
      const id = await addList();
      await runWith(id, 0, COUNT);
      expect(await runWith(id, 0, 600)).toMatchObject({ left: 600, heldBack: 0 });
      expect(await runWith(id, 0, 590)).toMatchObject({ left: 0, heldBack: 10 });
      expect(await linesLater('edge')).toHaveLength(600);
    });

    it('is held back for the entries of each feed that would fall under its bound, and only for these', async () => {
      await addFeed('a', { minEntries: 600 }, { query: 'q=h1' });
      await addFeed('b', { minEntries: 5 }, { query: 'q=h7' });
      await addFeed('c', { minEntries: 111 }, { query: 'q=h8' });
      const id = await addList();
      await runWith(id, 0, COUNT);
      // h1, h10 to h19, h100 to h199, h1000 to h1199; h8, h80 to h89, h800 to h899.
      expect(await runWith(id, 100, 850)).toMatchObject({
        heldBackFeeds: ['a', 'c'],
        heldBack: 11 + 200 + 11 + 50,
        left: 450 - (11 + 200 + 11 + 50),
      });
      expect(await linesLater('a')).toHaveLength(311);
      expect(await linesLater('b')).toHaveLength(100);
      expect(await linesLater('c')).toHaveLength(111);
    });

    it('is decided by the next run even if the copy has not changed', async () => {
      await addFeed('edge', { minEntries: COUNT });
      const id = await addList();
      await runWith(id, 0, COUNT);
      expect(await runWith(id, 0, 700)).toMatchObject({ heldBack: 500 });
      expect(await runWith(id, 0, 700)).toMatchObject({ heldBack: 500 });
      await changeFeed(tipline.db, 'edge', { minEntries: 100 }, by());
      expect(await runWith(id, 0, 700)).toMatchObject({ left: 500, heldBack: 0 });
      expect(await holds()).toEqual([]);
      expect(await linesLater('edge')).toHaveLength(700);
    });

    it('is no alarm any more once the entries are back', async () => {
      await addFeed('edge', { minEntries: COUNT });
      const id = await addList();
      await runWith(id, 0, COUNT);
      await runWith(id, 0, 700);
      expect(await runWith(id, 0, COUNT)).toMatchObject({ left: 0, heldBack: 0, unchanged: COUNT });
      expect(await holds()).toEqual([]);
    });

    it('is accepted by --allow-shrink, and later runs compare with the new number', async () => {
      await addFeed('edge', { minShare: 90 });
      const id = await addList();
      await runWith(id, 0, COUNT);
      days(1);
      await runWith(id, 0, COUNT);
      expect(await runWith(id, 0, 700)).toMatchObject({ heldBack: 500 });
      expect(await runWith(id, 0, 700, { allowShrink: true })).toMatchObject({ left: 500, heldBack: 0 });
      expect(await holds()).toEqual([]);
      expect(await linesLater('edge')).toHaveLength(700);
      expect(await runWith(id, 0, 650)).toMatchObject({ left: 50, heldBack: 0 });
      expect(await runWith(id, 0, 600)).toMatchObject({ left: 0, heldBack: 50 });
    });

    it('states the last copy that contained the entries as their last sighting', {
      tags: ['nightly'],
    }, async () => {
      await addFeed('edge', { minEntries: 800 });
      const id = await addList();
      days(1);
      await runWith(id, 0, COUNT);
      days(2);
      await runWith(id, 0, 700);
      days(3);
      await runWith(id, 0, 700);
      await runWith(id, 0, 700, { allowShrink: true });
      const { lastSeen } = (await tipline.get(`/api/v1/indicators?q=${host(701)}`)).json().data[0];
      expect(lastSeen).toBe(new Date(NOW.getTime() + DAY * 1000).toISOString());
    });

    it.each([
      ['its bound is removed', () => changeFeed(tipline.db, 'edge', { minEntries: null }, by())],
      ['it is removed', () => removeFeed(tipline.db, 'edge', by())],
    ])(
      'states that copy also when the feed holds nothing back any more because %s',
      { tags: ['nightly'] },
      async (_, change) => {
        await addFeed('edge', { minEntries: 800 });
        const id = await addList();
        days(1);
        await runWith(id, 0, COUNT);
        days(2);
        await runWith(id, 0, 700);
        days(30);
        await change();
        expect(await runWith(id, 0, 700)).toMatchObject({ left: 500, heldBack: 0 });
        const { lastSeen } = (await tipline.get(`/api/v1/indicators?q=${host(701)}`)).json().data[0];
        expect(lastSeen).toBe(new Date(NOW.getTime() + DAY * 1000).toISOString());
      },
    );

    it('is decided again after a run that was killed between its batches', {
      tags: ['nightly'],
    }, async () => {
      await addFeed('edge', { minEntries: 500 });
      const id = await addList();
      await runWith(id, 0, COUNT);
      let batches = 0;
      const killed = delistMissing(tipline.db, {
        sourceId: id,
        present: new Set(Array.from({ length: 600 }, (_, i) => indicatorId('DOMAIN', host(i)))),
        lastCopyAt: NOW,
        now: NOW,
        allowShrink: false,
        assertLease: async () => {
          if (++batches > 1) throw new Error('killed');
        },
      });
      await expect(killed).rejects.toThrow('killed');
      expect(await runWith(id, 0, 400)).toMatchObject({ left: 0, heldBack: 300 });
      expect(await runWith(id, 0, 500)).toMatchObject({ left: 200, heldBack: 0 });
      expect(await linesLater('edge')).toHaveLength(500);
    });

    it('is evaluated again when another source delists in between', { tags: ['nightly'] }, async () => {
      await addFeed('edge', { minEntries: 700 });
      const id = await addList();
      const other = await addList({ name: 'Other', address: `${feeds.server.address}/other` });
      await runWith(id, 0, 600);
      await runWith(other, 600, COUNT);
      feeds.server.answer(({ url }) => {
        const from = url === '/other' ? 600 : 0;
        return { body: Array.from({ length: 300 }, (_, i) => `${host(from + i)}\n`).join('') };
      });
      const counts = (await Promise.all([feeds.run(id), feeds.run(other)])).map((result) => result.counts);
      expect(counts.map((of) => of?.left).sort()).toEqual([0, 300]);
      expect(counts.map((of) => of?.heldBack).sort()).toEqual([0, 300]);
      expect(await linesLater('edge')).toHaveLength(900);
    });
  });

  describe('while delisting is held back', () => {
    let id: string;
    beforeEach(async () => {
      await addFeed('edge', { minEntries: COUNT });
      id = await addList();
      await runWith(id, 0, COUNT);
      await runWith(id, 0, 700);
    });

    it('whitelisted entries leave the feed at once, and are delisted', async () => {
      await addEntry(tipline.db, host(701), undefined, { ...by(), reason: 'ours' }, 'RED');
      expect(await lines('edge')).not.toContain(host(701));
      expect(await runWith(id, 0, 700)).toMatchObject({ left: 1, heldBack: 499 });
    });

    it('entries above the TLP ceiling leave the feed at once', async () => {
      await tipline.load([indicatorRecord('DOMAIN', host(702), { tlp: 'RED' })]);
      expect(await lines('edge')).not.toContain(host(702));
    });

    it('entries that a source expires leave the feed', { tags: ['nightly'] }, async () => {
      const expiresAt = new Date(tipline.clock.now.getTime() + DAY * 1000);
      await tipline.load([indicatorRecord('DOMAIN', 'dated.test-feed.net', { expiresAt })], 'Dated');
      expect(await lines('edge')).toContain('dated.test-feed.net');
      expect(await linesLater('edge')).not.toContain('dated.test-feed.net');
      expect(await linesLater('edge')).toHaveLength(COUNT);
    });

    it('the metric counts the entries', async () => {
      await addFeed('other', { minShare: 50 }, { query: 'type=URL' });
      const { body } = await tipline.get('/metrics', { key: METRICS_TOKEN });
      const samples = body.split('\n').filter((line) => line.startsWith('tipline_feed_held_back_entries{'));
      expect(samples).toEqual([
        'tipline_feed_held_back_entries{feed="edge"} 500',
        'tipline_feed_held_back_entries{feed="other"} 0',
      ]);
    });

    it.each([
      ['bound', () => changeFeed(tipline.db, 'edge', { minEntries: null }, by())],
      ['feed', () => removeFeed(tipline.db, 'edge', by())],
    ])('the removal of the %s ends the alarm, and the next run delists', async (_, remove) => {
      await remove();
      expect(await holds()).toEqual([]);
      expect(await runWith(id, 0, 700)).toMatchObject({ left: 500, heldBack: 0 });
    });

    it('the removal of the source ends the alarm', async () => {
      const source = await findStoredSource(tipline.db, id);
      if (source) await startRemoval(tipline.db, source, by());
      expect(await holds()).toEqual([]);
      await runPendingRemovals(tipline.db, { now: () => tipline.clock.now });
      expect(await lines('edge')).toEqual([]);
    });

    it('a source that is no list any more ends the alarm with its next run', async () => {
      await addList({ isSnapshotList: false });
      await runWith(id, 0, 650);
      expect(await holds()).toEqual([]);
    });

    it('a failed run changes nothing', async () => {
      feeds.server.answer({ status: 500 });
      expect((await feeds.run(id)).error).toMatch(/500/);
      expect(await holds()).toMatchObject([{ entries: 500 }]);
      expect(await linesLater('edge')).toHaveLength(COUNT);
    });
  });

  it.each([
    ['query', { query: 'typ=DOMAIN' }],
    ['format', { format: 'later' }],
  ])(
    'a feed whose %s is not valid any more is not guarded, and the counts of the run say so',
    { tags: ['nightly'] },
    async (_, change) => {
      await addFeed('edge', { minEntries: COUNT });
      await addFeed('other', { minEntries: 650 }, { query: 'type=DOMAIN&minConfidence=1' });
      const id = await addList();
      await runWith(id, 0, COUNT);
      await tipline.db.updateTable('feed').set(change).where('slug', '=', 'edge').execute();
      expect(await runWith(id, 0, 700)).toMatchObject({ left: 500, heldBack: 0, unguardedFeeds: ['edge'] });
      expect(await runWith(id, 0, 600)).toMatchObject({ heldBackFeeds: ['other'], unguardedFeeds: ['edge'] });
    },
  );

  it('a changed query is not compared with counts of the earlier one', { tags: ['nightly'] }, async () => {
    await addFeed('edge', { minShare: 90 });
    const id = await addList();
    await runWith(id, 0, COUNT);
    days(1);
    await runWith(id, 0, COUNT);
    await changeFeed(tipline.db, 'edge', { query: 'q=h11' }, by());
    // h11, h110 to h119, h1100 to h1199.
    expect(await runWith(id, 0, 1195)).toMatchObject({ left: 5, heldBack: 0 });
  });
});
