import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord } from '../support/records.ts';

const TYPE = 'application/taxii+json;version=2.1';
const ROOT = '/taxii2/root';
const OBJECTS = `${ROOT}/collections/all/objects/`;
const MANIFEST = `${ROOT}/collections/all/manifest/`;
const COUNT = 25;
const NONE = '00000000-0000-4000-8000-000000000000';
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** docs/integrations/taxii-conformance.md names these tests. */
onEveryEngine((engine) => {
  let harness: Harness;
  let objects: { id: string; type: string; spec_version: string; modified?: string }[];
  let dates: string[];
  let object: string;
  let withDates: string[];
  beforeAll(async () => {
    harness = await startHarness(engine);
    await harness.load([
      ...Array.from({ length: COUNT }, (_, i) =>
        indicatorRecord('DOMAIN', `host-${i}.example`, {
          externalIds: [`host:${i}`],
          forDetection: i % 5 !== 0,
        }),
      ),
      actorRecord('Actor'),
      campaignRecord('Operation'),
      relationshipRecord('campaign:Operation', 'attributed-to', 'actor:Actor'),
      relationshipRecord('host:1', 'indicates', 'actor:Actor'),
      relationshipRecord('host:5', 'indicates', 'campaign:Operation'),
    ]);
    const by = { who: 'test', now: NOW, reason: 'ours' };
    const feed = {
      name: 'Hosts',
      description: '',
      format: 'txt',
      query: 'types=DOMAIN',
      tlpCeiling: 'GREEN',
    };
    await createFeed(harness.db, { slug: 'hosts', ...feed } as never, by);
    objects = (await harness.get(OBJECTS)).json().objects;
    dates = (await harness.get(MANIFEST)).json().objects.map((record: Record_) => record.date_added);
    object = `${OBJECTS}${objects.at(-1)?.id}/`;
    withDates = [OBJECTS, MANIFEST, object, `${object}versions/`];
  });
  afterAll(() => harness.close());

  interface Record_ {
    id: string;
    date_added: string;
    version: string;
    media_type: string;
  }
  const get = (url: string, options = {}) => harness.get(url, options);
  const json = async (url: string) => (await get(url)).json();
  const status = async (url: string, options = {}) => (await get(url, options)).statusCode;
  const everyResource = () => [
    '/taxii2/',
    `${ROOT}/`,
    `${ROOT}/collections/`,
    `${ROOT}/collections/all/`,
    ...withDates,
  ];

  describe('TAXII 2.1, §2 and §3', () => {
    it('every resource has the media type with its version, and the same headers for HEAD', async () => {
      for (const url of everyResource()) {
        const [read, head] = [await get(url), await get(url, { method: 'HEAD' })];
        expect([url, read.statusCode, read.headers['content-type']]).toEqual([url, 200, TYPE]);
        expect(JSON.parse(read.body)).toEqual(expect.any(Object));
        const { 'content-type': type, 'x-taxii-date-added-last': last } = head.headers;
        expect([head.statusCode, head.body, type, last]).toEqual([
          200,
          '',
          TYPE,
          read.headers['x-taxii-date-added-last'],
        ]);
      }
    });

    it('no list is empty', async () => {
      const none = 'match[spec_version]=2.0';
      for (const url of withDates) expect(await json(`${url}?${none}`)).toEqual({});
      const key = await harness.newKey({ scopes: ['feeds:read'], tlpCeiling: 'CLEAR' });
      expect((await get(`${ROOT}/collections/`, { key })).json()).toEqual({});
    });

    it.each([
      'application/taxii+json;version=2.1',
      'application/taxii+json; version=2.1',
      'application/taxii+json;version="2.1"',
      'Application/TAXII+JSON; Version=2.1',
      'application/taxii+json',
      'application/taxii+json;version=2.1,application/stix+json;version=2.1',
      'application/taxii+json;version=2.1;q=0.5, text/html',
      'application/taxii+json;version=2.1;charset=utf-8',
      'application/taxii+json; charset=utf-8',
      'application/stix+json;version=2.1',
      'application/vnd.oasis.stix+json; version=2.0',
      'application/vnd.oasis.stix+json; version=2.1',
      'application/json',
      'application/*',
      '*/*',
    ])('Accept: %s is no 406', async (accept) => {
      for (const url of everyResource())
        expect([url, await status(url, { headers: { accept } })]).toEqual([url, 200]);
    });

    it.each([
      'application/vnd.oasis.taxii+json; version=2.0',
      'application/taxii+json;version=2.0',
      'text/html',
    ])('Accept: %s is 406', async (accept) => {
      for (const url of everyResource())
        expect([url, await status(url, { headers: { accept } })]).toEqual([url, 406]);
    });

    it('Content-Type of a GET is ignored', async () => {
      for (const type of [TYPE, 'application/vnd.oasis.taxii+json', 'nonsense'])
        expect(await status(OBJECTS, { headers: { 'content-type': type } })).toBe(200);
    });

    it('the dates in headers are those of the first and the last object, also where there is none', async () => {
      const dated = async (url: string) => {
        const { headers } = await get(url);
        return [headers['x-taxii-date-added-first'], headers['x-taxii-date-added-last']];
      };
      for (const url of withDates)
        for (const date of await dated(url))
          expect([url, date]).toEqual([url, expect.stringMatching(TIMESTAMP)]);
      expect(await dated(OBJECTS)).toEqual([dates[0], dates.at(-1)]);
      expect(await dated(`${MANIFEST}?limit=3`)).toEqual([dates[0], dates[2]]);
      // An empty response: the place from which the next poll goes on.
      const last = dates.at(-1);
      for (const url of withDates) expect(await dated(`${url}?added_after=${last}`)).toEqual([last, last]);
      const beginning = '1970-01-01T00:00:00.000000Z';
      expect(await dated(`${OBJECTS}?match[type]=malware`)).toEqual([beginning, beginning]);
    });

    it('objects and manifest are sorted by the date, and collections always alike', async () => {
      expect(dates).toEqual([...dates].sort());
      const { collections } = await json(`${ROOT}/collections/`);
      expect((await json(`${ROOT}/collections/`)).collections).toEqual(collections);
    });

    it.each([
      ['added_after=yesterday'],
      ['added_after=2026-02-30T00:00:00Z'],
      ['added_after='],
      ['added_after=2026-01-01T00:00:00Z&added_after=2026-01-02T00:00:00Z'],
      ['limit=0'],
      ['limit=-1'],
      ['limit=1.5'],
      ['limit=ten'],
      ['limit=2&limit=3'],
      ['next=made-up'],
      ['next='],
      ['match[type]='],
      ['match[type]=indicator, malware'],
      ['match[type]=indicator,,malware'],
      ['match[type]=indicator&match[type]=malware'],
      ['match[version]=newest'],
      ['match[version]=last,last'],
      ['match[version]=all,first'],
      ['match[version]=2026-01-01T00:00:00.000Z,2026-01-01T00:00:00.000Z'],
      ['match[name]=x'],
      ['unknown=x'],
    ])('the malformed query %s is 400', async (query) => {
      for (const url of [OBJECTS, MANIFEST]) {
        const response = await get(`${url}?${query}`);
        expect([url, response.statusCode]).toEqual([url, 400]);
        expect(response.json().title).not.toBe('');
      }
    });

    it('added_after may have any precision', async () => {
      const [date = ''] = dates.slice(-5);
      const countAfter = async (text: string) =>
        (await json(`${OBJECTS}?added_after=${encodeURIComponent(text)}`)).objects.length;
      expect(await countAfter(date)).toBe(4);
      // As .NET and Go write it.
      expect(await countAfter(date.replace('Z', '0Z'))).toBe(4);
      expect(await countAfter(date.replace('Z', '000Z'))).toBe(4);
      expect(await countAfter(date.replace('Z', '+00:00'))).toBe(4);
      expect(await countAfter(date.replace(/\.\d+/, ''))).toBeGreaterThan(4);
    });

    it('limit bounds a response, and more states whether there is more', async () => {
      const total = objects.length;
      for (const [limit, length, more] of [
        [1, 1, true],
        [total - 1, total - 1, true],
        [total, total, false],
        [total + 1, total, false],
        [1e9, total, false],
      ] as const)
        for (const url of [OBJECTS, MANIFEST]) {
          const page = await json(`${url}?limit=${limit}`);
          expect([page.objects.length, page.more, typeof page.next]).toEqual([
            length,
            more,
            more ? 'string' : 'undefined',
          ]);
        }
    });

    it('next and added_after each lead through the rest', async () => {
      const ids = objects.map(({ id }) => id);
      for (const url of [OBJECTS, MANIFEST]) {
        for (const by of ['next', 'added_after']) {
          const read: string[] = [];
          for (let query = 'limit=4', more = true; more; ) {
            const response = await get(`${url}?${query}`);
            const page = response.json();
            read.push(...page.objects.map(({ id }: { id: string }) => id));
            more = page.more;
            const last = response.headers['x-taxii-date-added-last'];
            query = `limit=4&${by}=${by === 'next' ? page.next : last}`;
          }
          expect([url, by, read]).toEqual([url, by, ids]);
        }
      }
    });

    it('filters are combined by and, the values of one by or', async () => {
      const [first, second] = objects.filter(({ type }) => type === 'indicator');
      const query = `match[id]=${first?.id},${second?.id},${objects[0]?.id}`;
      expect((await json(`${OBJECTS}?${query}`)).objects).toHaveLength(3);
      expect((await json(`${OBJECTS}?${query}&match[type]=indicator,malware`)).objects).toEqual([
        first,
        second,
      ]);
      expect((await json(`${MANIFEST}?${query}&match[type]=indicator`)).objects).toHaveLength(2);
    });

    it('match[spec_version] gives no other version, and 2.1 is the default', async () => {
      for (const url of [OBJECTS, MANIFEST, object]) {
        expect(await json(`${url}?match[spec_version]=2.0`)).toEqual({});
        expect(await json(`${url}?match[spec_version]=2.0,2.1`)).toEqual(await json(url));
      }
      expect(objects.filter(({ spec_version: version }) => version !== '2.1')).toEqual([]);
    });

    it('match[type] of any type is no error', async () => {
      for (const type of ['malware', 'language-content', 'x-own', 'bundle'])
        expect([type, await json(`${OBJECTS}?match[type]=${type}`)]).toEqual([type, {}]);
    });

    it('match[version] gives the last version by default, the first, all, or those of a time', async () => {
      const versions = [...new Set(objects.map(({ modified }) => modified))];
      const [version] = versions.slice(-1);
      expect((await json(`${OBJECTS}?match[version]=last`)).objects).toEqual(objects);
      expect((await json(`${OBJECTS}?match[version]=first,last`)).objects).toEqual(objects);
      expect((await json(`${OBJECTS}?match[version]=all`)).objects).toEqual(objects);
      const found = (await json(`${OBJECTS}?match[version]=${version},2001-01-01T00:00:00.000Z`)).objects;
      expect(found).toEqual(objects.filter(({ modified }) => modified === version));
    });

    it('errors have the media type, a title and the status', async () => {
      const cases: [number, string, object][] = [
        [400, `${OBJECTS}?limit=0`, {}],
        [401, OBJECTS, { key: null }],
        [403, OBJECTS, { key: await harness.newKey({ scopes: ['actors:read'] }) }],
        [404, `${ROOT}/nothing/`, {}],
        [406, OBJECTS, { headers: { accept: 'text/html' } }],
        [414, `${OBJECTS}?match[id]=${'x'.repeat(9_000)}`, {}],
      ];
      for (const [code, url, options] of cases) {
        const response = await get(url, options);
        expect([response.statusCode, response.headers['content-type']]).toEqual([code, TYPE]);
        expect(response.json()).toMatchObject({ title: expect.any(String), http_status: String(code) });
      }
    });

    it('a URL without the slash at its end is answered too', async () => {
      for (const url of everyResource())
        expect((await get(url.replace(/\/$/, ''))).json()).toEqual((await get(url)).json());
    });
  });

  describe('TAXII 2.1, §4', () => {
    it('the discovery has one API root, which is the default', async () => {
      const discovery = await json('/taxii2/');
      expect(discovery).toMatchObject({ title: expect.any(String), default: `${ROOT}/` });
      expect(discovery.api_roots).toEqual([`${ROOT}/`]);
    });

    it.each([
      ['https://tipline.example', 'https://tipline.example/taxii2/root/'],
      ['http://tipline.example', '/taxii2/root/'],
    ])('the URL of the API root at %s is %s', async (publicAddress, root) => {
      const other = await startHarness(engine, { publicAddress });
      try {
        expect((await other.get('/taxii2/')).json()).toMatchObject({ default: root, api_roots: [root] });
      } finally {
        await other.close();
      }
    });

    it('the API root states its version and the length of a body', async () => {
      expect(await json(`${ROOT}/`)).toMatchObject({
        title: expect.any(String),
        versions: [TYPE],
        max_content_length: expect.any(Number),
      });
      expect((await json(`${ROOT}/`)).max_content_length).toBeGreaterThan(0);
    });

    it('every status is unknown', async () => {
      for (const url of [`${ROOT}/status/${NONE}/`, `${ROOT}/status/x/`]) expect(await status(url)).toBe(404);
    });
  });

  describe('TAXII 2.1, §5', () => {
    it('without a valid key every resource is 401 with challenges', async () => {
      const requests = [...everyResource().map((url) => [url, null]), [OBJECTS, 'tip_wrong']] as const;
      for (const [url, key] of requests) {
        const { statusCode, headers } = await get(url ?? '', { key });
        expect([url, statusCode, headers['www-authenticate']]).toEqual([
          url,
          401,
          expect.stringMatching(/^Bearer.*, Basic realm=/),
        ]);
      }
    });

    it('a collection has an id of version 4, an alias of its own, and can be read only', async () => {
      const { collections } = await json(`${ROOT}/collections/`);
      const [ids, aliases] = ['id', 'alias'].map((name) =>
        collections.map((one: { [name: string]: string }) => one[name]),
      ) as [string[], string[]];
      for (const names of [ids, aliases]) expect(new Set(names).size).toBe(collections.length);
      expect(ids.filter((id) => !UUID_V4.test(id))).toEqual([]);
      for (const one of collections)
        expect(one).toMatchObject({
          title: expect.any(String),
          can_read: true,
          can_write: false,
          media_types: ['application/stix+json;version=2.1'],
        });
    });

    it('a collection that does not exist is 404', async () => {
      const one = `${ROOT}/collections/${NONE}/`;
      for (const url of [one, `${one}objects/`, `${one}manifest/`, `${one}objects/${objects[0]?.id}/`])
        expect([url, await status(url)]).toEqual([url, 404]);
    });

    it('the manifest has a record for each object', async () => {
      const records: Record_[] = (await json(MANIFEST)).objects;
      expect(records.map(({ id }) => id)).toEqual(objects.map(({ id }) => id));
      for (const [index, { date_added: added, version, media_type: type }] of records.entries()) {
        const { modified, created } = objects[index] as { modified?: string; created?: string };
        expect(added).toMatch(TIMESTAMP);
        expect([version, type]).toEqual([modified ?? created ?? added, 'application/stix+json;version=2.1']);
      }
    });

    it('an object is in an envelope, and an unknown one 404', async () => {
      for (const one of objects) expect((await json(`${OBJECTS}${one.id}/`)).objects).toEqual([one]);
      for (const id of [`indicator--${NONE}`, `malware--${NONE}`, 'nonsense'])
        for (const url of [`${OBJECTS}${id}/`, `${OBJECTS}${id}/versions/`])
          expect([url, await status(url)]).toEqual([url, 404]);
    });

    it('the filters of an object are its version and that of STIX', async () => {
      expect(await status(`${object}?match[type]=indicator`)).toBe(400);
      expect(await status(`${object}?match[id]=x`)).toBe(400);
      expect(await status(`${object}versions/?match[version]=all`)).toBe(400);
      expect(await status(`${object}?match[version]=all&match[spec_version]=2.1&limit=1`)).toBe(200);
    });

    it('versions are the times of modification', async () => {
      for (const one of objects) {
        const [record] = (await json(`${MANIFEST}?match[id]=${one.id}`)).objects;
        expect((await json(`${OBJECTS}${one.id}/versions/`)).versions).toEqual([record.version]);
      }
    });

    it('adding and deleting objects is 403, and 404 where the collection is not visible', async () => {
      const body = { payload: '{"objects":[]}', headers: { 'content-type': TYPE } };
      const unread = `${ROOT}/collections/${NONE}/objects/`;
      const cases: [number, string, object][] = [
        [403, OBJECTS, { method: 'POST', ...body }],
        [403, OBJECTS, { method: 'POST' }],
        [403, object, { method: 'DELETE' }],
        [403, `${OBJECTS}indicator--${NONE}/`, { method: 'DELETE' }],
        [404, unread, { method: 'POST', ...body }],
        [404, `${unread}indicator--${NONE}/`, { method: 'DELETE' }],
        [401, OBJECTS, { method: 'POST', ...body, key: null }],
      ];
      for (const [code, url, options] of cases) {
        const response = await get(url, options);
        expect([url, response.statusCode, response.headers['content-type']]).toEqual([url, code, TYPE]);
      }
      expect((await json(OBJECTS)).objects).toEqual(objects);
    });

    it('other methods are 405', async () => {
      for (const [method, url] of [
        ['PUT', OBJECTS],
        ['POST', MANIFEST],
        ['POST', object],
        ['POST', '/taxii2/'],
        ['PATCH', `${ROOT}/collections/all/`],
      ] as const) {
        const { statusCode, headers } = await get(url, { method });
        expect([url, statusCode, headers.allow]).toEqual([url, 405, 'GET, HEAD']);
      }
    });
  });
});
