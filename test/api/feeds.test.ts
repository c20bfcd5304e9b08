import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedDefinition } from '../../src/feeds/feed.ts';
import { changeFeed, createFeed, removeFeed } from '../../src/feeds/feeds.service.ts';
import { FORMAT_NAMES } from '../../src/formats/catalogue.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

/** More than a page and a batch. */
const COUNT = 600;
const BY = { who: 'test', now: NOW };
const EDGE: FeedDefinition = {
  slug: 'edge',
  name: 'Edge firewalls',
  description: '',
  format: 'txt',
  query: 'type=DOMAIN&minConfidence=50',
  tlpCeiling: 'GREEN',
};

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
    await harness.load([
      ...Array.from({ length: COUNT }, (_, i) =>
        indicatorRecord('DOMAIN', `h${i}.evil.com`, { confidence: i % 101 }),
      ),
      indicatorRecord('DOMAIN', 'amber.com', { confidence: 100, tlp: 'AMBER' }),
      indicatorRecord('IPV4', '203.0.113.7', { confidence: 100 }),
    ]);
    await createFeed(harness.db, EDGE, BY);
  });
  afterEach(() => harness.close());

  const bound = (...slugs: string[]) => harness.newKey({ feeds: slugs });
  const read = (path = '/api/v1/feeds/edge', key?: string) => harness.get(path, key ? { key } : {});
  const lines = (body: string) => body.split('\n').filter((line) => line !== '');
  const expected = Array.from({ length: COUNT }, (_, i) => i).filter((i) => i % 101 >= 50).length;

  describe('a saved feed', () => {
    it('is the export of its query, with its file name', async () => {
      const response = await read();
      expect(response.statusCode).toBe(200);
      expect(lines(response.body)).toHaveLength(expected);
      expect(response.headers['content-disposition']).toBe('attachment; filename="tipline-edge.txt"');
      const green = await harness.newKey({ tlpCeiling: 'GREEN' });
      const same = await harness.get(`/api/v1/exports/txt?${EDGE.query}`, { key: green });
      expect(response.body).toBe(same.body);
    });

    it('has what the lower one of its TLP ceiling and that of the key shows', async () => {
      expect((await read()).body).not.toContain('amber.com');
      await changeFeed(harness.db, 'edge', { tlpCeiling: 'RED' }, BY);
      expect((await read()).body).toContain('amber.com');
      expect((await read(undefined, await harness.newKey({ tlpCeiling: 'CLEAR' }))).body).not.toContain(
        'amber.com',
      );
    });

    it('is a MISP event that is named after it, without its filters', async () => {
      const filters = { query: 'tag=operation-secret', tlpCeiling: 'RED' as const };
      await createFeed(harness.db, { ...EDGE, ...filters, slug: 'event', format: 'misp' }, BY);
      await createFeed(harness.db, { ...EDGE, ...filters, slug: 'list' }, BY);
      const key = await harness.newKey({ tlpCeiling: 'CLEAR' });
      for (const [path, info] of [
        ['/api/v1/feeds/event', 'Tipline: feed event'],
        ['/api/v1/feeds/list?format=misp', 'Tipline: feed list'],
        ['/api/v1/exports/misp?tag=operation-secret', 'Tipline: tag=operation-secret'],
        ['/api/v1/feeds/event', 'Tipline: feed event'],
      ])
        expect((await read(path, key)).json().Event.info).toBe(info);
    });

    it('is a MISP event of its own, whatever its name and filters, for each TLP ceiling', async () => {
      const shared = { format: 'misp', query: 'minConfidence=50' } as const;
      await createFeed(harness.db, { ...EDGE, ...shared, slug: 'inside', tlpCeiling: 'RED' }, BY);
      await createFeed(harness.db, { ...EDGE, ...shared, slug: 'partners' }, BY);
      const uuidsOf = async (path: string, key?: string) => {
        const { Event, response } = (await read(path, key)).json();
        const events = (response ?? [{ Event }]).map((one: { Event: { uuid: string } }) => one.Event.uuid);
        const [attribute] = (Event ?? response[0].Event).Attribute;
        return [...events, attribute.uuid] as string[];
      };
      const paths = [
        '/api/v1/feeds/inside',
        '/api/v1/feeds/partners',
        `/api/v1/exports/misp?${shared.query}`,
      ];
      const own = await Promise.all(paths.map((path) => uuidsOf(path)));
      expect(new Set(own.flat()).size).toBe(own.flat().length);
      await changeFeed(harness.db, 'partners', { name: 'Other partners', query: 'minConfidence=60' }, BY);
      expect((await uuidsOf('/api/v1/feeds/partners'))[0]).toBe(own[1]?.[0]);
      // What a key of a lower ceiling reads is another event.
      const [green, clear] = [{ tlpCeiling: 'GREEN' }, { tlpCeiling: 'CLEAR' }] as const;
      expect((await uuidsOf('/api/v1/feeds/partners', await harness.newKey(green)))[0]).toBe(own[1]?.[0]);
      expect((await uuidsOf('/api/v1/feeds/partners', await harness.newKey(clear)))[0]).not.toBe(own[1]?.[0]);
      await changeFeed(harness.db, 'inside', { query: 'group=source' }, BY);
      await changeFeed(harness.db, 'partners', { query: 'group=source' }, BY);
      const grouped = await Promise.all(paths.slice(0, 2).map((path) => uuidsOf(path)));
      expect(new Set(grouped.flat()).size).toBe(grouped.flat().length);
    });

    it('leaves out what is whitelisted at once, and has an entity tag', async () => {
      const first = await read();
      const headers = { 'if-none-match': String(first.headers.etag) };
      expect((await harness.get('/api/v1/feeds/edge', { headers })).statusCode).toBe(304);
      await addEntry(harness.db, 'h60.evil.com', undefined, { ...BY, reason: 'ours' }, 'RED');
      const second = await harness.get('/api/v1/feeds/edge', { headers });
      expect(lines(second.body)).toHaveLength(expected - 1);
    });

    it.each(FORMAT_NAMES)('is read as %s with its filters, limit and order', async (format) => {
      await changeFeed(harness.db, 'edge', { query: 'type=DOMAIN&limit=1&order=confidence&style=plain' }, BY);
      const response = await read(`/api/v1/feeds/edge?format=${format}`);
      expect(response.statusCode).toBe(200);
      expect(response.headers['x-total-count']).toBe(String(COUNT));
      expect(String(response.headers['x-skipped'] ?? response.trailers['x-skipped'])).toContain(
        `limit=${COUNT - 1}`,
      );
    });

    it('is changed at once', async () => {
      await read();
      await changeFeed(harness.db, 'edge', { query: 'type=IPV4', format: 'csv' }, BY);
      expect((await read()).body).toContain('203.0.113.7');
    });

    it.each([
      ['filters', { query: 'minConfidence=30' }],
      ['TLP ceiling', { tlpCeiling: 'AMBER' }],
    ] as const)(
      'has serials and revisions that increase when its %s change, and change back',
      async (_, change) => {
        await harness.load([
          indicatorRecord('IPV4', '203.0.113.8', { confidence: 40 }),
          indicatorRecord('IPV4', '203.0.113.9', { confidence: 100, tlp: 'AMBER' }),
        ]);
        const first = { query: 'minConfidence=50', tlpCeiling: 'GREEN' } as const;
        await changeFeed(harness.db, 'edge', first, BY);
        const numbers = async (format: string, number: RegExp) => {
          const { body } = await read(`/api/v1/feeds/edge?format=${format}`);
          const rule = body
            .split('\n')
            .find((line) => line.includes('203.0.113.7') || line.includes(' SOA '));
          return Number(number.exec(rule ?? '')?.[1]);
        };
        const seen: number[][] = [];
        for (const definition of [first, change, first, change, first]) {
          await changeFeed(harness.db, 'edge', definition, BY);
          seen.push(
            [
              await numbers('rpz', /hostmaster\.localhost\. (\d+) /),
              await numbers('suricata', /rev:(\d+);/),
              (await read('/api/v1/feeds/edge?format=misp')).json().Event.timestamp,
            ].map(Number),
          );
          // The same again.
          expect(await numbers('rpz', /hostmaster\.localhost\. (\d+) /)).toBe(seen.at(-1)?.[0]);
        }
        for (const column of [0, 1, 2])
          for (const [place, numbers] of seen.entries())
            if (place > 0) expect(numbers[column]).toBeGreaterThan(seen[place - 1]?.[column] ?? Number.NaN);
        // A plain export is another one.
        expect((await read('/api/v1/exports/rpz?minConfidence=50')).statusCode).toBe(200);
      },
    );

    it('is 404 if there is none', async () => {
      expect((await read('/api/v1/feeds/none')).statusCode).toBe(404);
      await removeFeed(harness.db, 'edge', BY);
      expect((await read()).statusCode).toBe(404);
    });

    it.each([
      ['a slug in capitals', { slug: 'Edge' }, /lower-case/],
      ['a reserved slug', { slug: 'misp' }, /reserved/],
      ['a slug that another feed has', {}, /already/],
      ['a parameter that there is not', { slug: 'b', query: 'typ=IPV4' }, /Unknown query parameter "typ"/],
      ['a page', { slug: 'b', query: 'page=1' }, /Unknown query parameter "page"/],
      [
        'an option of another format',
        { slug: 'b', query: 'csvGuard=off' },
        /csvGuard is for format csv only/,
      ],
      ['a list of several kinds', { slug: 'b', query: 'style=paloalto' }, /one kind of value/],
    ])('cannot be made with %s', async (_, change, message) => {
      await expect(createFeed(harness.db, { ...EDGE, ...change }, BY)).rejects.toThrow(message);
      await expect(bound('b')).rejects.toThrow('There is no feed b.');
    });

    it('is not changed to a query that is not valid', async () => {
      await expect(changeFeed(harness.db, 'edge', { query: 'x=1' }, BY)).rejects.toThrow(/Unknown/);
      expect((await read()).statusCode).toBe(200);
    });

    it('is audited: made, changed and removed', async () => {
      await changeFeed(harness.db, 'edge', { name: 'Edge' }, BY);
      await removeFeed(harness.db, 'edge', BY);
      const rows = await harness.db
        .selectFrom('audit')
        .select('action')
        .where('action', 'like', 'feed.%')
        .orderBy('id')
        .execute();
      expect(rows.map(({ action }) => action)).toEqual(['feed.create', 'feed.change', 'feed.remove']);
    });
  });

  describe('a key that is bound to feeds', () => {
    it('reads these, also as the password of HTTP Basic', async () => {
      const key = await bound('edge');
      expect((await read(undefined, key)).statusCode).toBe(200);
      const basic = { authorization: `Basic ${Buffer.from(`any:${key}`).toString('base64')}` };
      expect((await harness.get('/api/v1/feeds/edge', { key: null, headers: basic })).statusCode).toBe(200);
      expect((await read('/api/v1/feeds', key)).json().data).toMatchObject([{ slug: 'edge', format: 'txt' }]);
    });

    it('can read nothing else, existing or not', async () => {
      await createFeed(harness.db, { ...EDGE, slug: 'other' }, BY);
      const key = await bound('edge');
      const paths = [
        '/api/v1/indicators',
        '/api/v1/actors',
        '/api/v1/exports/csv',
        '/api/v1/lookup?value=evil.com',
        '/api/v1/indicators/changes',
        '/api/v1/feeds/misp/manifest.json',
        '/api/v1/none',
        '/api/v1/feeds/edge/none',
      ];
      for (const path of paths) {
        const { statusCode, body } = await read(path, key);
        expect({ path, statusCode, code: JSON.parse(body).code }).toEqual({
          path,
          statusCode: 403,
          code: 'insufficient_scope',
        });
      }
      const [other, none] = [await read('/api/v1/feeds/other', key), await read('/api/v1/feeds/none', key)];
      expect([other.statusCode, other.body]).toEqual([403, none.body]);
      expect(none.statusCode).toBe(403);
    });

    it('reads nothing once its feed is gone, which it cannot be while the key is usable', async () => {
      const key = await bound('edge');
      await expect(removeFeed(harness.db, 'edge', BY)).rejects.toThrow(
        'API keys bound to the feed edge: 1. Revoke them first.',
      );
      await harness.db.deleteFrom('feed').execute();
      expect((await read(undefined, key)).statusCode).toBe(403);
      expect((await read('/api/v1/indicators', key)).statusCode).toBe(403);
    });
  });

  it('a list has the bounds of feeds', async () => {
    await createFeed(harness.db, { ...EDGE, slug: 'guarded', minEntries: 10, minShare: 80 }, BY);
    expect((await read('/api/v1/feeds')).json().data).toMatchObject([
      { slug: 'edge', minEntries: null, minShare: null },
      { slug: 'guarded', minEntries: 10, minShare: 80 },
    ]);
  });

  it('a feed has no bound above its limit', async () => {
    const problem = 'minEntries must not be above the limit of the feed, 100.';
    const limited = { ...EDGE, slug: 'limited', query: `${EDGE.query}&limit=100` };
    await expect(createFeed(harness.db, { ...limited, minEntries: 101 }, BY)).rejects.toThrow(problem);
    await createFeed(harness.db, { ...limited, minEntries: 100 }, BY);
    await expect(changeFeed(harness.db, 'limited', { minEntries: 101 }, BY)).rejects.toThrow(problem);
    await changeFeed(harness.db, 'edge', { minEntries: 101 }, BY);
    await expect(changeFeed(harness.db, 'edge', { query: limited.query }, BY)).rejects.toThrow(problem);
    await changeFeed(harness.db, 'edge', { query: limited.query, minEntries: 100 }, BY);
  });

  it('a list has no feeds above the TLP ceiling of the key', async () => {
    await createFeed(harness.db, { ...EDGE, slug: 'secret', query: 'tag=secret', tlpCeiling: 'RED' }, BY);
    const slugs = async (key?: string) =>
      (await read('/api/v1/feeds', key)).json().data.map(({ slug }: { slug: string }) => slug);
    expect(await slugs()).toEqual(['edge', 'secret']);
    expect(await slugs(await harness.newKey({ tlpCeiling: 'AMBER' }))).toEqual(['edge']);
  });

  it('a key without the scope feeds:read reads no feeds; one without scopes reads all', async () => {
    const key = await harness.newKey({ scopes: ['indicators:read'] });
    expect((await read(undefined, key)).statusCode).toBe(403);
    expect((await read(undefined, await harness.newKey({ scopes: ['feeds:read'] }))).statusCode).toBe(200);
    expect((await read('/api/v1/feeds')).json().data).toHaveLength(1);
  });
});
