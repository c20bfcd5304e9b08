import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withRevision } from '../../src/db/revision/revision.ts';
import type { FeedDefinition } from '../../src/feeds/feed.ts';
import { changeFeed, createFeed } from '../../src/feeds/feeds.service.ts';
import { stixImporter } from '../../src/importers/stix.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { inputOf, runImporter } from '../importers/run-importer.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, relationshipRecord } from '../support/records.ts';

/** More than the default page and a batch. */
const COUNT = 1_100;
const ROOT = '/taxii2/root';
const TYPE = 'application/taxii+json;version=2.1';
const BY = { who: 'test', now: NOW, reason: 'ours' };
const FEED: FeedDefinition = {
  slug: 'hosts',
  name: 'Hosts',
  description: 'Hosts to block',
  format: 'txt',
  query: 'types=DOMAIN,IPV4&limit=10',
  tlpCeiling: 'GREEN',
};

interface StixObject {
  type: string;
  id: string;
  name?: string;
  modified?: string;
  valid_until?: string;
  revoked?: boolean;
  object_refs?: string[];
}
interface Envelope {
  more: boolean;
  next?: string;
  objects?: StixObject[];
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const host = (index: number, fields = {}) => indicatorRecord('DOMAIN', `host-${index}.example`, fields);
  const get = (path: string, options = {}) => harness.get(`${ROOT}/${path}`, options);
  const objectsOf = async (query = '', options = {}, collection = 'all') => {
    const response = await get(`collections/${collection}/objects/?${query}`, options);
    expect([response.statusCode, response.body.slice(0, 200)]).toEqual([200, expect.anything()]);
    const body = response.json() as Envelope;
    const first = response.headers['x-taxii-date-added-first'] as string | undefined;
    const last = response.headers['x-taxii-date-added-last'] as string | undefined;
    return { ...body, objects: body.objects ?? [], first, last };
  };
  /** Follows `next`, as every client does. */
  async function pull(query = '', options = {}, collection = 'all') {
    const objects: StixObject[] = [];
    let page = await objectsOf(query, options, collection);
    let last = page.last;
    for (let pages = 1; ; pages++) {
      objects.push(...page.objects);
      last = page.last ?? last;
      if (!page.more) return { objects, pages, last: last ?? '' };
      page = await objectsOf(`next=${page.next}&${query.match(/limit=\d+/)?.[0] ?? ''}`, options, collection);
    }
  }
  const names = (objects: readonly StixObject[]) => objects.map(({ name }) => name).filter(Boolean);
  const indicators = (objects: readonly StixObject[]) =>
    names(objects.filter(({ type }) => type === 'indicator')).sort();

  describe('the resources of TAXII', () => {
    it('lead from the discovery to the collections', async () => {
      await createFeed(harness.db, FEED, BY);
      const discovery = await harness.get('/taxii2/');
      expect(discovery.headers['content-type']).toBe(TYPE);
      const { default: root, api_roots: roots } = discovery.json();
      expect(roots).toEqual([root]);
      expect((await harness.get(root)).json()).toMatchObject({ versions: [TYPE] });
      const { collections } = (await harness.get(`${root}collections/`)).json();
      expect(collections.map(({ title }: { title: string }) => title)).toEqual([
        'All indicators',
        'Up to TLP:CLEAR',
        'Up to TLP:GREEN',
        'Up to TLP:AMBER',
        'Up to TLP:AMBER+STRICT',
        'Up to TLP:RED',
        'Hosts',
      ]);
      for (const collection of collections) {
        expect(collection).toMatchObject({ can_read: true, can_write: false });
        expect((await harness.get(`${root}collections/${collection.id}/`)).json()).toEqual(collection);
        expect((await harness.get(`${root}collections/${collection.alias}`)).json()).toEqual(collection);
      }
    });

    it('have errors in the media type of the standard', async () => {
      const none = '00000000-0000-4000-8000-000000000000';
      const cases: [number, string, object][] = [
        [401, '/taxii2/', { key: null }],
        [401, '/taxii2/nowhere/', { key: null }],
        [404, '/taxii2/nowhere/', {}],
        [404, `${ROOT}/collections/${none}/`, {}],
        [404, `${ROOT}/collections/all/objects/indicator--${none}/`, {}],
        [404, `${ROOT}/status/${none}/`, {}],
        [405, `${ROOT}/collections/all/objects/`, { method: 'PUT' }],
        [403, `${ROOT}/collections/all/objects/indicator--${none}/`, { method: 'DELETE' }],
        [406, '/taxii2/', { headers: { accept: 'application/vnd.oasis.taxii+json; version=2.0' } }],
        [406, '/taxii2/', { headers: { accept: 'text/html' } }],
        [400, `${ROOT}/collections/all/objects/?added_after=yesterday`, {}],
        [400, `${ROOT}/collections/all/objects/?limit=0`, {}],
        [400, `${ROOT}/collections/all/objects/?next=made-up`, {}],
        [400, `${ROOT}/collections/all/objects/?match[version]=newest`, {}],
        [400, `${ROOT}/collections/all/objects/?match[name]=x`, {}],
      ];
      for (const [status, url, options] of cases) {
        const response = await harness.get(url, options);
        expect([url, response.statusCode, response.headers['content-type']]).toEqual([url, status, TYPE]);
        expect(response.json()).toMatchObject({
          title: expect.any(String),
          http_status: String(status),
          error_id: response.headers['x-request-id'],
        });
      }
    });
  });

  describe('the objects of a collection', () => {
    it('come in pages, each object once, at increasing times, which the manifest has too', {
      tags: ['nightly'],
    }, async () => {
      await harness.load(Array.from({ length: COUNT }, (_, i) => host(i, { forDetection: i % 10 !== 0 })));
      const { objects, pages } = await pull();
      const observed = COUNT / 10;
      expect([objects.length, pages]).toEqual([COUNT + observed + 7, 2]);
      expect(new Set(objects.map(({ id }) => id)).size).toBe(objects.length);
      for (const limit of [1, 2, 3, 100, 5_000]) {
        const asked = limit < 100 ? 'match[type]=observed-data,domain-name&' : '';
        const again = await pull(`${asked}limit=${limit}`);
        expect(again.objects).toEqual(
          asked ? objects.filter(({ type }) => ['observed-data', 'domain-name'].includes(type)) : objects,
        );
      }
      const records = (await get('collections/all/manifest/?limit=5000')).json().objects;
      expect(records.map(({ id }: StixObject) => id)).toEqual(objects.map(({ id }) => id));
      const dates = records.map((record: { date_added: string }) => record.date_added);
      expect(dates).toEqual([...new Set(dates)].sort());
      for (const [index, { modified }] of objects.entries())
        expect([modified, dates[index] >= (modified?.replace('Z', '000Z') ?? '')]).toEqual([modified, true]);
      const page = await objectsOf(`added_after=${dates[499]}&limit=10`);
      expect(page.objects).toEqual(objects.slice(500, 510));
      expect([page.first, page.last]).toEqual([dates[500], dates[509]]);
    });

    it('come again after they have changed, and not before', async () => {
      await harness.load(Array.from({ length: 20 }, (_, i) => host(i)));
      const { last } = await pull();
      expect(await objectsOf(`added_after=${last}`)).toMatchObject({ objects: [], last });
      await harness.load([host(3, { confidence: 90 }), host(30)]);
      const changed = await pull(`added_after=${last}`);
      expect(names(changed.objects).sort()).toEqual(['host-3.example', 'host-30.example']);
      expect((await pull(`added_after=${changed.last}`)).objects).toEqual([]);
      expect(indicators((await pull()).objects)).toHaveLength(21);
    });

    it('that change while a client reads pages come once more, at the end', async () => {
      await harness.load(Array.from({ length: 20 }, (_, i) => host(i)));
      const first = await objectsOf('match[type]=indicator&limit=10');
      await harness.load([host(0, { confidence: 90 }), host(19, { confidence: 90 })]);
      const rest = await pull(`next=${first.next}&limit=10`);
      const all = names([...first.objects, ...rest.objects]);
      expect(all.slice(-2).sort()).toEqual(['host-0.example', 'host-19.example']);
      expect([all.length, new Set(all).size]).toEqual([21, 20]);
    });

    it('that are hidden come with their end to clients that may have them, and to no other', async () => {
      await harness.load([host(1), host(2), host(3, { forDetection: false }), host(4)]);
      const { last, objects } = await pull();
      const before = new Map(objects.map((object) => [object.id, object]));
      harness.clock.now = new Date(NOW.getTime() + 60_000);
      for (const index of [1, 3])
        await addEntry(
          harness.db,
          `host-${index}.example`,
          undefined,
          { ...BY, now: harness.clock.now },
          'RED',
        );
      const ends = (await pull(`added_after=${last}`)).objects;
      expect(ends.map(({ type }) => type)).toEqual(['indicator', 'observed-data']);
      const [indicator, observed] = ends;
      expect(indicator).toMatchObject({
        name: 'host-1.example',
        valid_until: harness.clock.now.toISOString(),
      });
      expect(observed).toMatchObject({ revoked: true });
      const { records } = await runImporter(
        stixImporter,
        inputOf(JSON.stringify({ type: 'bundle', objects: ends })),
      );
      expect(records).toMatchObject([
        { value: 'host-1.example', expiresAt: harness.clock.now, records: [] },
        { value: 'host-3.example', withdrawn: 'revoked by its source', isCompleteStatement: true },
      ]);
      for (const end of ends) expect(end.modified).toBe(harness.clock.now.toISOString());
      for (const { id } of ends) {
        expect(before.has(id)).toBe(true);
        for (const path of [`objects/${id}/`, `objects/${id}/versions/`])
          expect([path, (await get(`collections/all/${path}`)).statusCode]).toEqual([path, 404]);
        expect((await get(`collections/all/manifest/?added_after=${last}&match[id]=${id}`)).json()).toEqual(
          {},
        );
      }
      expect(indicators((await pull()).objects)).toEqual(['host-2.example', 'host-4.example']);
      expect(indicators((await pull('added_after=1970-01-01T00:00:00Z')).objects)).toEqual([
        'host-2.example',
        'host-4.example',
      ]);
      harness.clock.now = new Date(NOW.getTime() + 120_000);
      await removeEntry(harness.db, 'host-1.example', undefined, { ...BY, now: harness.clock.now });
      const [again] = (await pull(`added_after=${last}`)).objects.filter(({ id }) => id === indicator?.id);
      expect(again?.valid_until).toBeUndefined();
      expect((again?.modified ?? '') > (indicator?.modified ?? '')).toBe(true);
    });

    it('that are hidden while a client reads pages come with their end', async () => {
      await harness.load(Array.from({ length: 20 }, (_, i) => host(i)));
      const first = await objectsOf('match[type]=indicator&limit=10');
      const [gone] = first.objects;
      await addEntry(
        harness.db,
        gone?.name ?? '',
        undefined,
        { ...BY, now: new Date(NOW.getTime() + 1_000) },
        'RED',
      );
      const rest = await pull(`next=${first.next}&limit=10`);
      expect(rest.objects).toHaveLength(11);
      expect(rest.objects.at(-1)).toMatchObject({ id: gone?.id, valid_until: '2026-06-01T12:00:01.000Z' });
    });

    it('of one indicator end together with those of others, in pages of any length', async () => {
      const run = await harness.loadRun([host(1)], 'Detecting');
      await harness.load([host(1, { forDetection: false }), ...[2, 3, 4, 5].map((index) => host(index))]);
      const { last } = await pull();
      await startUndo(harness.db, run, { who: 'cli:test', now: NOW });
      await runPendingUndos(harness.db, { now: () => NOW });
      const first = await objectsOf(`added_after=${last}&limit=1`);
      for (const index of [1, 2, 3, 4, 5])
        await addEntry(harness.db, `host-${index}.example`, undefined, BY, 'RED');
      for (const limit of [1, 2, 3, 4, 5, 6]) {
        const { objects } = await pull(`next=${first.next}&limit=${limit}`);
        expect([limit, objects.map(({ type }) => type)]).toEqual([
          limit,
          ['indicator', 'observed-data', 'indicator', 'indicator', 'indicator', 'indicator'],
        ]);
      }
    });

    it('end for keys below a raised TLP, with what was visible before', async () => {
      await harness.load([host(1, { tags: ['old'] })]);
      const green = { key: await harness.newKey({ tlpCeiling: 'GREEN' }) };
      const { last } = await pull('', green);
      await harness.load([
        host(1, { tlp: 'AMBER', tags: ['secret'], confidence: 99, description: 'secret' }),
      ]);
      const [end, ...others] = (await pull(`added_after=${last}`, green)).objects;
      expect(others).toEqual([]);
      expect(end).toMatchObject({ name: 'host-1.example', valid_until: expect.any(String), labels: ['old'] });
      expect(JSON.stringify(end)).not.toContain('secret');
      const [now] = (await pull(`added_after=${last}`)).objects;
      expect(now).toMatchObject({ id: end?.id, labels: ['old', 'secret'] });
      expect(now).not.toHaveProperty('valid_until');
    });

    it('become others when the mark for detection changes, and the old ones end', async () => {
      const run = await harness.loadRun([host(1)], 'Detecting');
      await harness.load([host(1, { forDetection: false })]);
      const { last, objects } = await pull();
      await startUndo(harness.db, run, { who: 'cli:test', now: NOW });
      await runPendingUndos(harness.db, { now: () => NOW });
      const changed = (await pull(`added_after=${last}`)).objects;
      const [old] = objects.filter(({ name }) => name === 'host-1.example');
      expect(changed.map(({ type }) => type)).toEqual(['indicator', 'observed-data', 'domain-name']);
      expect(changed[0]).toMatchObject({ id: old?.id, valid_until: expect.any(String) });
      expect((await get(`collections/all/objects/${old?.id}/`)).statusCode).toBe(404);
      const { last: then } = await pull();
      await harness.load([host(1)]);
      const back = (await pull(`added_after=${then}`)).objects;
      expect(back.map(({ type, revoked = false }) => [type, revoked])).toEqual([
        ['observed-data', true],
        ['indicator', false],
      ]);
    });

    it('state their expiry, so that it is no change', async () => {
      const expiresAt = new Date(NOW.getTime() + 1_000);
      await harness.load([host(1, { expiresAt }), host(2)]);
      const { last } = await pull();
      harness.clock.now = expiresAt;
      expect((await pull(`added_after=${last}`)).objects).toEqual([]);
      expect(indicators((await pull()).objects)).toEqual(['host-2.example']);
    });

    it('are found by id, type, version and version of STIX', { tags: ['nightly'] }, async () => {
      await harness.load([
        host(1),
        host(2, { forDetection: false }),
        indicatorRecord('CVE', 'CVE-2026-1234'),
        indicatorRecord('SHA256', 'ab'.repeat(32), { forDetection: false }),
      ]);
      const { objects } = await pull();
      for (const object of objects) {
        const { id, type } = object;
        const one = (await get(`collections/all/objects/${id}/`)).json();
        expect(one).toEqual({ more: false, objects: [object] });
        expect((await pull(`match[id]=${id}`)).objects).toEqual([object]);
        expect((await pull(`match[type]=${type}`)).objects).toEqual(
          objects.filter((other) => other.type === type),
        );
        const [record] = (await get(`collections/all/manifest/?match[id]=${id}`)).json().objects;
        const versions = (await get(`collections/all/objects/${id}/versions/`)).json();
        expect(versions).toEqual({ more: false, versions: [record.version] });
        for (const version of ['first', 'last', 'all', record.version]) {
          const query = `match[version]=${version}&match[spec_version]=2.1`;
          expect((await get(`collections/all/objects/${id}/?${query}`)).json().objects).toEqual([object]);
          expect((await pull(`${query}&match[id]=${id}`)).objects).toEqual([object]);
        }
        for (const query of ['match[version]=2020-01-01T00:00:00Z', 'match[spec_version]=2.0'])
          expect((await get(`collections/all/objects/${id}/?${query}`)).json()).toEqual({});
      }
      const ids = objects.map(({ id }) => id).slice(3, 9);
      expect((await pull(`match[id]=${ids.join(',')}&limit=2`)).objects.map(({ id }) => id)).toEqual(ids);
    });

    it('are found among many ids that have no such object, in pages of any length', async () => {
      const count = 20;
      await harness.load(Array.from({ length: count }, (_, i) => host(i, { forDetection: i === count - 1 })));
      harness.clock.now = new Date(NOW.getTime() + 60_000);
      await harness.load([host(count, { forDetection: true })]);
      const { objects } = await pull();
      const [last, later] = objects.filter(({ type }) => type === 'indicator');
      const uuids = objects.flatMap(({ type, id }) => (type === 'observed-data' ? [id.slice(-36)] : []));
      expect(uuids).toHaveLength(count - 1);
      const ids = [...uuids.map((uuid) => `indicator--${uuid}`), last?.id, later?.id].join(',');
      for (const limit of [1, 2, 5]) {
        expect([limit, (await pull(`match[id]=${ids}&limit=${limit}`)).objects]).toEqual([
          limit,
          [last, later],
        ]);
        const version = `match[version]=${later?.modified}`;
        expect((await pull(`match[id]=${ids}&${version}&limit=${limit}`)).objects).toEqual([later]);
      }
    });
  });

  it('objects that are found only by comparing all take one connection, and few requests wait for it', {
    tags: ['nightly'],
  }, async () => {
    const [ALLOWED, REQUESTS] = [17, 30];
    let [reading, most, rejected] = [0, 0, 0];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const counting = await startHarness({
      async open() {
        const database = await engine.open();
        const read: typeof database.read = async (work) => {
          most = Math.max(most, ++reading);
          await begun;
          return database.read(work).finally(() => reading--);
        };
        return { ...database, read };
      },
    });
    const requests = Array.from({ length: REQUESTS }, async (_, n) => {
      const kind = n % 2 === 0 ? 'relationship' : 'domain-name';
      const id = `${kind}--00000000-0000-5000-8000-${String(n).padStart(12, '0')}`;
      const response = await counting.get(`${ROOT}/collections/all/objects/?match[id]=${id}`);
      if (response.statusCode === 503 && ++rejected === REQUESTS - ALLOWED) begin();
      return [response.statusCode, response.headers['retry-after'] ?? null];
    });
    const responses = await Promise.all(requests);
    expect(responses.filter(([status]) => status === 200)).toHaveLength(ALLOWED);
    expect(responses.filter(([status]) => status === 503)).toEqual(
      Array.from({ length: REQUESTS - ALLOWED }, () => [503, '5']),
    );
    expect(most).toBe(1);
    await counting.close();
  });

  it('a time before 1970 is returned as it was given', async () => {
    const time = '1969-12-31T23:59:59.000001Z';
    const { headers } = await get(`collections/all/objects/?added_after=${time}&match[type]=note`);
    expect(headers['x-taxii-date-added-last']).toBe(time);
  });

  describe('the collection of a feed whose extent has changed', () => {
    const slug = 'hosts';
    const alias = `feed-${slug}`;
    beforeEach(async () => {
      await createFeed(harness.db, { ...FEED, query: 'minConfidence=70' }, BY);
      await harness.load([
        host(1, { confidence: 90 }),
        ...Array.from({ length: 5 }, (_, index) => host(index + 10, { confidence: 40 })),
        host(2, { confidence: 90, tlp: 'AMBER' }),
      ]);
    });
    const low = ['host-10', 'host-11', 'host-12', 'host-13', 'host-14'].map((name) => `${name}.example`);

    it.each([
      ['filters', { query: 'minConfidence=30' }, ['host-1.example', ...low]],
      ['TLP ceiling', { tlpCeiling: 'AMBER' }, ['host-1.example', 'host-2.example']],
    ] as const)(
      'has by its alias what matches other %s, for clients that had read all of it',
      async (_, change, expected) => {
        const before = await pull('', {}, alias);
        expect(indicators(before.objects)).toEqual(['host-1.example']);
        await changeFeed(harness.db, slug, change, BY);
        const added = await pull(`added_after=${before.last}`, {}, alias);
        expect(indicators(added.objects)).toEqual(expected);
        expect(added.last > before.last).toBe(true);
        // Once.
        expect((await pull(`added_after=${added.last}`, {}, alias)).objects).toEqual([]);
        await harness.load([host(3, { confidence: 90 })]);
        const later = await pull(`added_after=${added.last}`, {}, alias);
        expect(indicators(later.objects)).toEqual(['host-3.example']);
        const all = await pull('', {}, alias);
        expect(indicators(all.objects)).toEqual([...expected, 'host-3.example'].sort());
        expect(all.last).toBe(later.last);
      },
    );

    it('is read to its end by the time of the last object too, and in the same order as the manifest', async () => {
      const before = await pull('', {}, alias);
      await changeFeed(harness.db, slug, { query: 'minConfidence=30' }, BY);
      const objects: StixObject[] = [];
      const times: string[] = [];
      for (let after = before.last; ; ) {
        const page = await objectsOf(`added_after=${after}&limit=1`, {}, alias);
        if (page.objects.length === 0) break;
        objects.push(...page.objects);
        after = page.last ?? '';
        times.push(after);
      }
      expect(times).toEqual([...new Set(times)].sort());
      const { objects: records } = (await get(`collections/${alias}/manifest/`)).json();
      expect(
        records.map(({ id, date_added: date }: { id: string; date_added: string }) => [id, date]),
      ).toEqual(objects.map(({ id }, index) => [id, times[index]]));
      expect(indicators(objects)).toEqual(['host-1.example', ...low]);
    });

    it('has the ends of what a client may have', async () => {
      const before = await pull('', {}, alias);
      await addEntry(harness.db, 'host-1.example', undefined, BY, 'RED');
      await changeFeed(harness.db, slug, { query: 'minConfidence=30' }, BY);
      const { objects } = await pull(`added_after=${before.last}&limit=2`, {}, alias);
      expect(indicators(objects)).toEqual(['host-1.example', ...low]);
      const ended = objects.find(({ name }) => name === 'host-1.example');
      expect(ended?.valid_until).toBe(ended?.modified);
    });

    it('has the ends of what clients may have by former filters, and of nothing else', async () => {
      await pull('', {}, alias);
      await changeFeed(harness.db, slug, { query: 'minConfidence=95' }, BY);
      await changeFeed(harness.db, slug, { query: 'tag=none' }, BY);
      const before = await pull('', {}, alias);
      expect(indicators(before.objects)).toEqual([]);
      for (const name of ['host-1.example', 'host-10.example'])
        await addEntry(harness.db, name, undefined, BY, 'RED');
      const { objects } = await pull(`added_after=${before.last}`, {}, alias);
      expect(indicators(objects)).toEqual(['host-1.example']);
      expect(objects[0]?.valid_until).toBe(objects[0]?.modified);
    });

    it('has no object anew where a change leaves the extent', async () => {
      const before = await pull('', {}, alias);
      await changeFeed(harness.db, slug, { name: 'Other hosts' }, BY);
      expect((await pull(`added_after=${before.last}`, {}, alias)).objects).toEqual([]);
    });
  });

  describe('the collections of a key', () => {
    it('have what it can read', async () => {
      await harness.load([
        host(1, { tlp: 'CLEAR' }),
        host(2, { tlp: 'GREEN' }),
        host(3, { tlp: 'AMBER' }),
        host(4, { tlp: 'GREEN', forDetection: false }),
      ]);
      await createFeed(harness.db, FEED, BY);
      const amber = { key: await harness.newKey({ tlpCeiling: 'AMBER' }) };
      const inside = async (collection: string, options = amber) =>
        indicators((await pull('', options, collection)).objects);
      expect(await inside('all')).toEqual(['host-1.example', 'host-2.example', 'host-3.example']);
      expect(await inside('tlp-green')).toEqual(['host-1.example', 'host-2.example']);
      expect(await inside('feed-hosts')).toEqual(['host-1.example', 'host-2.example']);
      const red = await get('collections/tlp-red/', amber);
      expect([red.statusCode, red.json().title]).toEqual([404, 'There is no such collection.']);
    });

    it('are those of its scopes and of its feeds', async () => {
      const id = await createFeed(harness.db, FEED, BY);
      expect(id).toBeTruthy();
      const feeds = { key: await harness.newKey({ scopes: ['feeds:read'] }) };
      const all = { key: await harness.newKey({ scopes: ['indicators:read'] }) };
      const none = { key: await harness.newKey({ scopes: ['actors:read'] }) };
      const bound = { key: await harness.newKey({ feeds: ['hosts'] } as never) };
      const titles = async (options: object) =>
        ((await get('collections/', options)).json().collections ?? []).map(
          ({ alias }: { alias: string }) => alias,
        );
      expect(await titles(feeds)).toEqual(['feed-hosts']);
      expect((await titles(all)).slice(0, 2)).toEqual(['all', 'tlp-clear']);
      expect(await titles(all)).not.toContain('feed-hosts');
      expect(await titles(bound)).toEqual(['feed-hosts']);
      expect((await get('collections/', none)).statusCode).toBe(403);
      expect((await get('collections/all/', bound)).statusCode).toBe(404);
    });

    it('of the indicators of an actor have what is linked later, and what the actor brings along', async () => {
      const linked = (index: number) => [
        host(index, { externalIds: [`indicator:${index}`] }),
        relationshipRecord(`indicator:${index}`, 'indicates', 'actor:APT'),
      ];
      await harness.load([actorRecord('APT'), ...linked(1), host(2)]);
      const { data } = (await harness.get('/api/v1/actors')).json();
      await createFeed(harness.db, { ...FEED, query: `actorId=${data[0].id}` }, BY);
      const green = { key: await harness.newKey({ tlpCeiling: 'GREEN' }) };
      const added = async (after: string) => {
        const { objects, last } = await pull(after && `added_after=${after}`, green, 'feed-hosts');
        return { added: indicators(objects), last: last || after };
      };
      const first = await added('');
      expect(first.added).toEqual(['host-1.example']);
      await harness.load([actorRecord('APT'), ...linked(2)]);
      const second = await added(first.last);
      expect(second.added).toEqual(['host-2.example']);
      await harness.load([actorRecord('APT', { tlp: 'RED' })]);
      expect((await added('')).added).toEqual([]);
      await withRevision(harness.db, async (trx, revision) => {
        await trx.updateTable('actor').set({ tlp: 'GREEN', revision: revision.next }).execute();
        revision.advance();
      });
      expect((await added(second.last)).added).toEqual(['host-1.example', 'host-2.example']);
    });
  });
});
