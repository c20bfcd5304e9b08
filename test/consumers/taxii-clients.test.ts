import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, relationshipRecord } from '../support/records.ts';

const run = promisify(execFile);
const TYPE = 'application/taxii+json;version=2.1';
const TITLE = 'All indicators';
const COUNT = 55;
const DAY = 86_400_000;

interface StixObject {
  type: string;
  id: string;
  spec_version?: string;
  modified?: string;
  name?: string;
  pattern?: string;
  valid_until?: string;
  revoked?: boolean;
  source_ref?: string;
}
interface Page {
  status: number;
  headers: Record<string, unknown>;
  more?: boolean;
  next?: string;
  objects?: StixObject[];
}
type Query = Record<string, string>;

/** What a client does at its interval. Returns the objects that it has received. */
type Poll = () => Promise<StixObject[]>;

/** The Python package taxii2-client, where it is installed. */
const hasTaxii2Client = spawnSync('python3', ['-c', 'import taxii2client.v21, stix2']).status === 0;

/** Each client sends what its source code, or its documentation, sends. docs/integrations/taxii.md lists them. */
onEveryEngine((engine) => {
  let harness: Harness;
  let key: string;
  beforeEach(async () => {
    harness = await startHarness(engine);
    key = await harness.newKey();
  });
  afterEach(() => harness.close());

  const host = (index: number, fields = {}) =>
    indicatorRecord('DOMAIN', `host-${index}.example`, { externalIds: [`host:${index}`], ...fields });
  const basic = () => `Basic ${btoa(`user:${key}`)}`;
  async function get(url: string, headers: Record<string, string>, query: Query = {}): Promise<Page> {
    const parameters = new URLSearchParams(query);
    const response = await harness.get(parameters.size === 0 ? url : `${url}?${parameters}`, {
      key: null,
      headers,
    });
    return { status: response.statusCode, headers: response.headers, ...response.json() };
  }
  const lastAdded = ({ headers }: Page) => headers['x-taxii-date-added-last'] as string | undefined;

  /** Returns the URL of the collection that a client finds by its title, from the discovery on. */
  async function findByTitle(headers: Record<string, string>, title = TITLE): Promise<string> {
    const { api_roots: roots, default: root } = (await get('/taxii2/', headers)) as unknown as {
      api_roots: string[];
      default: string;
    };
    expect(roots).toContain(root);
    const { collections } = (await get(`${root}collections/`, headers)) as unknown as {
      collections: { id: string; title: string; can_read: boolean }[];
    };
    const found = collections.find((collection) => collection.title === title);
    expect(found).toMatchObject({ can_read: true });
    return `${root}collections/${found?.id}/`;
  }

  /** The indicators of a client: it keeps the newest version of each, and drops those that have ended. */
  function copyOf(received: readonly StixObject[]): string[] {
    const copy = new Map<string, StixObject>();
    for (const object of received) {
      const before = copy.get(object.id);
      if (!before || String(object.modified) >= String(before.modified)) copy.set(object.id, object);
    }
    return [...copy.values()]
      .filter(({ type, revoked, valid_until: until }) => {
        const isOver = until !== undefined && Date.parse(until) <= harness.clock.now.getTime();
        return type === 'indicator' && !revoked && !isOver;
      })
      .map(({ name }) => String(name))
      .sort();
  }
  /** The sources of the relationships of a client. */
  function relationshipsOf(received: readonly StixObject[]): (string | undefined)[] {
    const newest = new Map(received.map((object) => [object.id, object]));
    return [...newest.values()]
      .filter(({ type, revoked }) => type === 'relationship' && !revoked)
      .map(({ source_ref }) => received.find(({ id }) => id === source_ref)?.name);
  }
  const listed = async () =>
    (await harness.get('/api/v1/indicators?pageSize=500'))
      .json()
      .data.map(({ value }: { value: string }) => value)
      .sort();
  const duplicates = (objects: readonly StixObject[]) =>
    objects.map(({ id }) => id).filter((id, place, ids) => ids.indexOf(id) < place);

  /**
   * Three polls: of everything, of nothing new, and of changes. Asserts that the client receives each object once, and that its
   * copy is what the list has.
   * @param repeats whether the client asks again for what it has, so that its later polls are not bounded
   */
  async function follow(poll: Poll, repeats: boolean): Promise<StixObject[]> {
    harness.clock.now = new Date();
    await harness.load([
      ...Array.from({ length: COUNT }, (_, i) => host(i)),
      actorRecord('Actor'),
      relationshipRecord('host:3', 'indicates', 'actor:Actor'),
      relationshipRecord('host:7', 'indicates', 'actor:Actor'),
    ]);
    const first = await poll();
    expect(duplicates(first)).toEqual([]);
    expect(copyOf(first)).toEqual(await listed());
    const second = await poll();
    if (!repeats) expect(second).toEqual([]);
    harness.clock.now = new Date(harness.clock.now.getTime() + DAY);
    await harness.load([host(3, { confidence: 90, statedAt: harness.clock.now }), host(COUNT)]);
    await addEntry(
      harness.db,
      'host-7.example',
      undefined,
      { who: 'test', reason: 'ours', now: harness.clock.now },
      'RED',
    );
    const third = await poll();
    expect(duplicates(third)).toEqual([]);
    const names = third.map(({ name }) => name).filter((name) => name?.startsWith('host-'));
    expect(names).toEqual(
      expect.arrayContaining(['host-3.example', `host-${COUNT}.example`, 'host-7.example']),
    );
    if (!repeats) expect(names).toHaveLength(3);
    const all = [...first, ...second, ...third];
    expect(copyOf(all)).toEqual(await listed());
    expect(copyOf(all)).not.toContain('host-7.example');
    expect(relationshipsOf(all)).toEqual(['host-3.example']);
    return all;
  }

  it('Elastic (ti_custom): asks for an interval, then with the header; page two without the filters', async () => {
    const url = '/taxii2/root/collections/all/objects';
    const headers = { accept: TYPE, 'content-type': TYPE, authorization: `Bearer ${key}` };
    const limit = '20';
    let cursor: string | undefined;
    await follow(async () => {
      const events: StixObject[] = [];
      let query: Query = {
        added_after: cursor ?? new Date(Date.now() - 90 * DAY).toISOString().replace(/\.\d+/, ''),
        limit,
      };
      for (;;) {
        const page = await get(`${url}/`, headers, query);
        expect(page.status).toBe(200);
        // Without objects the program fails, and begins with the same cursor at the next interval.
        if (!page.objects) return events;
        events.push(...page.objects);
        cursor = lastAdded(page);
        if (!page.next) return events;
        query = { next: page.next, limit };
      }
    }, false);
  });

  it('OpenCTI (connector taxii2): by title, with the time of its last run; keeps next for its next run', async () => {
    const headers = { accept: TYPE, authorization: basic() };
    const filters: Query = { limit: '20' };
    let lastRun: number | null = null;
    await follow(async () => {
      const now = Math.floor(Date.now() / 1_000);
      const since = lastRun === null ? Date.now() - 90 * DAY : lastRun * 1_000;
      filters.added_after = new Date(since).toISOString().replace('Z', '000Z');
      const collection = await findByTitle(headers);
      const objects: StixObject[] = [];
      let page = await get(`${collection}objects/`, headers, filters);
      // Objects whose first one has no spec_version would be read as TAXII 2.0.
      if (page.objects) expect(page.objects[0]?.spec_version).toBe('2.1');
      for (;;) {
        objects.push(...(page.objects ?? []));
        if (page.more !== true) break;
        expect(page.next).toBeDefined();
        delete filters.added_after;
        filters.next = String(page.next);
        page = await get(`${collection}objects/`, headers, filters);
      }
      lastRun = now;
      return objects;
    }, true);
  });

  it('OpenCTI (connector taxii2): next of one collection is an error for another, not its beginning', async () => {
    const headers = { accept: TYPE, authorization: basic() };
    await harness.load(Array.from({ length: COUNT }, (_, i) => host(i)));
    const [one, other] = [await findByTitle(headers), await findByTitle(headers, 'Up to TLP:RED')];
    const { next = '' } = await get(`${one}objects/`, headers, { limit: '20' });
    expect((await get(`${other}objects/`, headers, { limit: '20', next })).status).toBe(400);
  });

  it('XSOAR (TAXII2ApiModule): by title, some types, with the greatest time of modification; no fallback to 2.0', async () => {
    const headers = { accept: TYPE, authorization: basic() };
    const types = { 'match[type]': 'indicator,vulnerability,relationship' };
    let modified: string | undefined;
    await follow(async () => {
      const collection = await findByTitle(headers);
      const objects: StixObject[] = [];
      const kept = { ...types, ...(modified && { added_after: modified }) };
      let limit = 100;
      let page = await get(`${collection}objects/`, headers, { ...kept, limit: String(limit) });
      // As `as_pages` of taxii2client.
      limit = page.objects?.length ?? 0;
      for (;;) {
        if (!page.objects) return objects;
        objects.push(...page.objects);
        for (const object of page.objects)
          if (!modified || String(object.modified) > modified) modified = object.modified;
        if (!page.more) return objects;
        page = await get(`${collection}objects/`, headers, {
          ...kept,
          limit: String(limit),
          next: String(page.next),
        });
      }
    }, true);
  });

  it('FortiGate: one request for STIX 2.0, which replaces its list', async () => {
    const headers = {
      accept: 'application/vnd.oasis.stix+json; version=2.0',
      'user-agent': 'curl/7.58.0',
      connection: 'close',
      authorization: basic(),
    };
    const values = async () => {
      const page = await get('/taxii2/root/collections/all/objects/', headers, { limit: '5000' });
      expect(page.status).toBe(200);
      const patterns = (page.objects ?? []).flatMap(
        ({ pattern }) => /value = '([^']+)'/.exec(pattern ?? '')?.[1] ?? [],
      );
      return patterns.sort();
    };
    await harness.load(Array.from({ length: COUNT }, (_, i) => host(i)));
    expect(await values()).toEqual(await listed());
    await addEntry(harness.db, 'host-7.example', undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED');
    expect(await values()).toEqual(await listed());
    expect(await values()).not.toContain('host-7.example');
  });

  it('taxii2client (as_pages): pages with the filters and the limit of what page one had', async () => {
    const headers = { accept: TYPE, 'user-agent': 'taxii2-client/2.3.0', authorization: basic() };
    let after: string | undefined;
    await follow(async () => {
      const collection = await findByTitle(headers);
      const filters = { ...(after && { added_after: after }), 'match[spec_version]': '2.1' };
      let page = await get(`${collection}objects/`, headers, { limit: '9000', ...filters });
      const objects = [...(page.objects ?? [])];
      const limit = String(objects.length);
      while (page.more) {
        after = lastAdded(page);
        page = await get(`${collection}objects/`, headers, { limit, next: String(page.next), ...filters });
        objects.push(...(page.objects ?? []));
      }
      after = lastAdded(page);
      return objects;
    }, false);
  });

  it('Microsoft Sentinel: by the id of the collection, with the header of its last response', async () => {
    const headers = { accept: TYPE, authorization: basic() };
    const url = `${await findByTitle(headers)}objects/`;
    let after: string | undefined;
    await follow(async () => {
      const objects: StixObject[] = [];
      for (;;) {
        const page = await get(url, headers, after ? { added_after: after } : {});
        // Without the headers it would begin anew.
        expect(lastAdded(page)).toBeDefined();
        after = lastAdded(page);
        objects.push(...(page.objects ?? []));
        if (!page.more) return objects;
      }
    }, false);
  });

  it('SOCRadar for Sentinel: from 1970 on, then from the last next', async () => {
    const headers = { accept: TYPE, authorization: basic() };
    const url = `${await findByTitle(headers)}objects/`;
    let cursor = '';
    await follow(async () => {
      const objects: StixObject[] = [];
      for (let pages = 0; pages < 100; pages++) {
        const from: Query = cursor ? { next: cursor } : { added_after: '1970-01-01T00:00:00Z' };
        const page = await get(url, headers, { limit: '20', ...from });
        if (!page.objects) break;
        objects.push(...page.objects);
        if (page.next) cursor = page.next;
        if (!page.more) break;
      }
      return objects;
    }, true);
  });

  it('QRadar, ThreatConnect: discovery, collections, objects since the time of the last poll', async () => {
    const headers = { accept: 'application/taxii+json; version=2.1', authorization: basic() };
    let polledAt: string | undefined;
    await follow(async () => {
      const collection = await findByTitle(headers);
      const asked = new Date().toISOString();
      const filters: Query = { limit: '20', ...(polledAt && { added_after: polledAt }) };
      const objects: StixObject[] = [];
      for (let next: string | undefined; ; ) {
        const page = await get(`${collection}objects/`, headers, { ...filters, ...(next && { next }) });
        objects.push(...(page.objects ?? []));
        next = page.next;
        if (!page.more) break;
      }
      polledAt = asked;
      return objects;
    }, true);
  });

  it('python-stix2 (TAXIICollectionSource): an object by id, its versions, and a query', async () => {
    const headers = { accept: TYPE, authorization: basic() };
    const collection = await findByTitle(headers);
    await harness.load(Array.from({ length: COUNT }, (_, i) => host(i)));
    const query = await get(`${collection}objects/`, headers, { limit: '5000', 'match[type]': 'indicator' });
    expect([query.more, query.objects?.length]).toEqual([false, COUNT]);
    for (const { id } of query.objects?.slice(0, 3) ?? []) {
      const one = await get(`${collection}objects/${id}/`, headers);
      const versions = await get(`${collection}objects/`, headers, {
        limit: '5000',
        'match[id]': id,
        'match[version]': 'all',
      });
      expect([one.objects, versions.objects?.map((object) => object.id)]).toEqual([versions.objects, [id]]);
    }
    await addEntry(harness.db, 'host-7.example', undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED');
    const ended = query.objects?.find(({ name }) => name === 'host-7.example');
    // 404 becomes None.
    expect((await get(`${collection}objects/${ended?.id}/`, headers)).status).toBe(404);
    expect(
      await get(`${collection}objects/`, headers, { 'match[id]': String(ended?.id) }),
    ).not.toHaveProperty('objects');
  });

  describe.skipIf(!hasTaxii2Client)('the Python package', () => {
    it('taxii2-client, with stix2, has all objects, changes and ends', async () => {
      const script = fileURLToPath(new URL('taxii-clients.py', import.meta.url));
      const base = await harness.app.listen({ port: 0, host: '127.0.0.1' });
      let after = '';
      await follow(async () => {
        const { stdout } = await run('python3', [script, `${base}/taxii2`, key, TITLE, after], {
          maxBuffer: 100_000_000,
        });
        const polled = JSON.parse(stdout) as { objects: StixObject[]; last: string; parsed: number };
        expect(polled.parsed).toBe(polled.objects.length);
        after = polled.last;
        return polled.objects;
      }, false);
    });
  });
});
