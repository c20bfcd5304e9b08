import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { type Browser, signedIn } from './browser.ts';

const EDGE = {
  slug: 'edge',
  name: 'Edge firewalls',
  description: '',
  format: 'txt',
  query: 'type=DOMAIN',
  tlpCeiling: 'GREEN',
};
const KEY = { name: 'firewall', scopes: [], expiresInSeconds: null, tlpCeiling: 'GREEN', networks: [] };

onEveryEngine((engine) => {
  let tipline: Harness;
  let viewer: Browser;
  let analyst: Browser;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    [viewer, analyst] = [await signedIn(tipline, 'viewer'), await signedIn(tipline, 'analyst')];
    await tipline.load([indicatorRecord('DOMAIN', 'evil.com')]);
    await analyst.send('POST', '/app/feeds', EDGE);
  });
  afterEach(() => tipline.close());

  const send = async (url: string, body: object, browser = analyst) => {
    const response = await browser.send('POST', url, body);
    return { status: response.statusCode, ...response.json() };
  };
  const list = async () => (await viewer.send('GET', '/app/feeds')).json().data;

  describe('feeds in the application', () => {
    it('are made, changed and removed by analysts, and listed for everybody', async () => {
      expect(await list()).toMatchObject([EDGE]);
      expect(await send('/app/feeds/edge/change', { name: 'Edge' })).toMatchObject({
        status: 200,
        data: { ...EDGE, name: 'Edge', createdBy: 'analyst@example.org' },
      });
      expect((await send('/app/feeds/edge/remove', {})).status).toBe(200);
      expect(await list()).toEqual([]);
    });

    it('have half a surrogate pair in a name replaced, there and in the audit log', async () => {
      expect((await send('/app/feeds/edge/change', { name: 'Edge \ud800!' })).status).toBe(200);
      expect(await list()).toMatchObject([{ name: 'Edge \ufffd!' }]);
      const rows = await tipline.db
        .selectFrom('audit')
        .select('after')
        .where('action', '=', 'feed.change')
        .execute();
      expect(rows).toMatchObject([{ after: { name: 'Edge \ufffd!' } }]);
    });

    it('are not made, changed or removed by viewers', async () => {
      expect((await send('/app/feeds', { ...EDGE, slug: 'b' }, viewer)).status).toBe(403);
      expect((await send('/app/feeds/edge/change', { name: 'x' }, viewer)).status).toBe(403);
      expect((await send('/app/feeds/edge/remove', {}, viewer)).status).toBe(403);
      expect(await list()).toMatchObject([EDGE]);
    });

    it('have no TLP ceiling above that of the role', async () => {
      expect((await send('/app/feeds', { ...EDGE, slug: 'b', tlpCeiling: 'RED' })).status).toBe(403);
      expect((await send('/app/feeds/edge/change', { tlpCeiling: 'RED' })).status).toBe(403);
      const administrator = await signedIn(tipline, 'administrator');
      expect((await send('/app/feeds/edge/change', { tlpCeiling: 'RED' }, administrator)).status).toBe(200);
      expect((await send('/app/feeds/edge/change', { name: 'x' })).status).toBe(404);
      expect((await send('/app/feeds/edge/remove', {})).status).toBe(404);
    });

    it.each([
      ['a query that is not valid', { ...EDGE, slug: 'b', query: 'typ=x' }, 400, /Unknown query parameter/],
      ['a slug that is taken', EDGE, 409, /already/],
      ['a slug in capitals', { ...EDGE, slug: 'B' }, 400, /lower-case/],
      ['a name of blanks', { ...EDGE, slug: 'b', name: ' \t' }, 400, /^name: must not be blank/],
      ['a minimum of no entries', { ...EDGE, slug: 'b', minEntries: 0 }, 400, /minEntries/],
      ['a part of an entry', { ...EDGE, slug: 'b', minEntries: 1.5 }, 400, /minEntries/],
      [
        'a minimum above the limit',
        { ...EDGE, slug: 'b', query: 'limit=4', minEntries: 5 },
        400,
        /limit of the feed, 4\.$/,
      ],
      ['a share of nothing', { ...EDGE, slug: 'b', minShare: 0 }, 400, /minShare/],
      ['a share above all', { ...EDGE, slug: 'b', minShare: 101 }, 400, /minShare/],
    ])('are not made with %s', async (_, body, status, message) => {
      expect(await send('/app/feeds', body)).toMatchObject({ status, error: expect.stringMatching(message) });
    });

    it('are not renamed to blanks', async () => {
      expect((await send('/app/feeds/edge/change', { name: ' ' })).status).toBe(400);
      expect(await list()).toMatchObject([EDGE]);
    });

    it('have bounds, which are changed and removed one by one', async () => {
      expect(await list()).toMatchObject([{ minEntries: null, minShare: null, heldBack: [], problem: null }]);
      await send('/app/feeds', { ...EDGE, slug: 'guarded', minEntries: 5, minShare: 80 });
      expect((await list())[1]).toMatchObject({ minEntries: 5, minShare: 80 });
      await send('/app/feeds/guarded/change', { minEntries: null });
      expect((await list())[1]).toMatchObject({ minEntries: null, minShare: 80 });
      const { after } = await tipline.db
        .selectFrom('audit')
        .select('after')
        .where('action', '=', 'feed.change')
        .executeTakeFirstOrThrow();
      expect(after).toMatchObject({ minEntries: null, minShare: 80 });
    });

    it('are not changed by somebody who has seen an earlier state', async () => {
      const [{ changedAt }] = await list();
      const change = { tlpCeiling: 'CLEAR', unchangedSince: changedAt };
      expect((await send('/app/feeds/edge/change', change)).status).toBe(200);
      // The clock stands still: the second change still has another time.
      const late = await send('/app/feeds/edge/change', { name: 'Edge', unchangedSince: changedAt });
      expect(late).toMatchObject({ status: 409, code: 'conflict', error: expect.stringMatching(/changed/) });
      expect(await list()).toMatchObject([{ ...EDGE, tlpCeiling: 'CLEAR' }]);
      const [{ changedAt: now }] = await list();
      const next = await send('/app/feeds/edge/change', { name: 'Edge', unchangedSince: now });
      expect(next).toMatchObject({ status: 200, data: { ...EDGE, name: 'Edge', tlpCeiling: 'CLEAR' } });
      expect((await send('/app/feeds/edge/change', { unchangedSince: 'soon' })).status).toBe(400);
    });

    it('are changed once by two at the same time', async () => {
      const [{ changedAt: unchangedSince }] = await list();
      const changes = ['a', 'b'].map((name) => send('/app/feeds/edge/change', { name, unchangedSince }));
      expect((await Promise.all(changes)).map(({ status }) => status).sort()).toEqual([200, 409]);
    });

    it('have times that JSON holds exactly', async () => {
      tipline.clock.now = new Date(tipline.clock.now.getTime() + 60_123);
      await send('/app/feeds/edge/change', { name: 'Edge' });
      const [{ changedAt }] = await list();
      expect(changedAt).toBe(tipline.clock.now.toISOString());
      expect(changedAt).toMatch(/\.123Z$/);
      const change = { name: 'Edges', unchangedSince: changedAt };
      expect((await send('/app/feeds/edge/change', change)).status).toBe(200);
    });

    it('are listed with what is held back, and with why they cannot be read', async () => {
      await send('/app/feeds/edge/change', { minEntries: 5 });
      const since = tipline.clock.now;
      const { id: feed_id } = await tipline.db.selectFrom('feed').select('id').executeTakeFirstOrThrow();
      const source = await tipline.db.selectFrom('source').select(['id', 'name']).executeTakeFirstOrThrow();
      await tipline.db
        .insertInto('feed_hold')
        .values({ feed_id, source_id: source.id, entries: 3, since, as_of: since })
        .execute();
      await tipline.db.updateTable('feed').set({ query: 'typ=x' }).execute();
      const at = since.toISOString();
      expect(await list()).toMatchObject([
        {
          heldBack: [{ source: source.name, entries: 3, since: at, asOf: at }],
          problem: expect.stringMatching(/Unknown query parameter/),
        },
      ]);
    });

    it('above the TLP ceiling of the role are not named in the counts of sources', async () => {
      const administrator = await signedIn(tipline, 'administrator');
      await send('/app/feeds', { ...EDGE, slug: 'secret', tlpCeiling: 'RED' }, administrator);
      const counts = { read: 1, new: 0, updated: 0, unchanged: 1, rejected: 0 };
      const heldBack = { left: 0, heldBack: 7, heldBackFeeds: ['edge', 'secret'], unguardedFeeds: [] };
      await tipline.db
        .updateTable('source')
        .set({
          last_counts: JSON.stringify({ ...counts, ...heldBack, hidden: 0, others: counts, reasons: {} }),
        })
        .execute();
      const feedsOf = async (browser: Browser) =>
        (await browser.send('GET', '/app/sources')).json().data[0].health.lastCounts.heldBackFeeds;
      expect(await feedsOf(viewer)).toEqual(['edge']);
      expect(await feedsOf(administrator)).toEqual(['edge', 'secret']);
    });

    it('are 404 to change or remove if there are none', async () => {
      expect((await send('/app/feeds/none/change', { name: 'x' })).status).toBe(404);
      expect((await send('/app/feeds/none/remove', {})).status).toBe(404);
    });
  });

  describe('a key in the application', () => {
    it('is bound to feeds, and then listed with them', async () => {
      const { key, data } = await send('/app/keys', { ...KEY, feeds: ['edge'] });
      expect(data).toMatchObject({ scopes: ['feeds:read'], feeds: ['edge'] });
      expect((await tipline.get('/api/v1/feeds/edge', { key })).body).toBe('evil.com\n');
      expect((await tipline.get('/api/v1/indicators', { key })).statusCode).toBe(403);
      expect((await analyst.send('GET', '/app/keys')).json().data).toMatchObject([{ feeds: ['edge'] }]);
    });

    it('stays bound when it is rotated', async () => {
      const { data } = await send('/app/keys', { ...KEY, feeds: ['edge'] });
      const rotated = await send(`/app/keys/${data.id}/rotate`, { overlapSeconds: 0 });
      expect(rotated.data.feeds).toEqual(['edge']);
      expect((await tipline.get('/api/v1/indicators', { key: rotated.key })).statusCode).toBe(403);
    });

    it('cannot be bound to a feed above the TLP ceiling of its owner, which counts as none', async () => {
      const administrator = await signedIn(tipline, 'administrator');
      await send('/app/feeds', { ...EDGE, slug: 'secret', tlpCeiling: 'RED' }, administrator);
      const refused = await send('/app/keys', { ...KEY, feeds: ['secret'] });
      expect(refused).toMatchObject({ status: 400, error: 'There is no feed secret.' });
      expect(await send('/app/keys', { ...KEY, feeds: ['secret'] }, administrator)).toMatchObject({
        data: { feeds: ['secret'] },
      });
    });

    it('cannot be bound to a feed that does not exist, or have scopes of its own', async () => {
      expect(await send('/app/keys', { ...KEY, feeds: ['none'] })).toMatchObject({ status: 400 });
      const scopes = ['indicators:read'];
      expect(await send('/app/keys', { ...KEY, scopes, feeds: ['edge'] })).toMatchObject({ status: 400 });
    });
  });
});
