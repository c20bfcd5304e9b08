import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const TYPE = 'application/taxii+json;version=2.1';
const STIX = 'application/stix+json;version=2.1';
const ROOT = '/taxii2/root';
const ALL = `${ROOT}/collections/all`;
const NONE = '00000000-0000-4000-8000-000000000000';
const COUNT = 25;

interface Resource {
  more?: boolean;
  next?: string;
  objects?: { id: string; type: string; created?: string; modified?: string; spec_version?: string }[];
  versions?: string[];
}

/** The requests that the suites of other servers send, with what they assert about the responses, in our words. */
onEveryEngine((engine) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness(engine);
    await harness.load([
      ...Array.from({ length: COUNT }, (_, i) => indicatorRecord('DOMAIN', `host-${i}.example`)),
      indicatorRecord('CVE', 'CVE-2026-1234'),
      indicatorRecord('IPV4', '192.0.2.7', { forDetection: false }),
    ]);
  });
  afterAll(() => harness.close());

  const get = (url: string, options = {}) => harness.get(url, { headers: { accept: TYPE }, ...options });
  async function read(url: string) {
    const response = await get(url);
    expect([url, response.statusCode, response.headers['content-type']]).toEqual([url, 200, TYPE]);
    const { 'x-taxii-date-added-first': first, 'x-taxii-date-added-last': last } = response.headers;
    return { ...(response.json() as Resource), first: String(first), last: String(last) };
  }
  const status = async (url: string, options = {}) => (await get(url, options)).statusCode;

  /**
   * attack-workbench-taxii-server, bruno/attack-taxii-mitre-org. Left out: `health-ping`, which is no part of TAXII; that the three
   * collections of ATT&CK exist; that `media_types` are those of TAXII (the standard has those of the objects there); that a response
   * without `limit` has no `more` (the standard permits `false`); that every object has `created` and `modified` and every marking a
   * `definition` (observables of STIX 2.1 and the markings of TLP 2.0 have none).
   */
  describe('the request collection of attack-workbench-taxii-server', () => {
    it('server-discovery: the default is one of the API roots', async () => {
      const body = (await get('/taxii2/')).json();
      expect(body).toMatchObject({ title: expect.any(String), description: expect.any(String) });
      expect(body.api_roots).toContain(body.default);
    });

    it('get-api-root-information: without the slash', async () => {
      const body = (await get(ROOT)).json();
      expect([typeof body.title, typeof body.description, typeof body.max_content_length]).toEqual([
        'string',
        'string',
        'number',
      ]);
      for (const version of body.versions) expect(version).toMatch(/^application\/taxii\+json/);
    });

    it('get-collections, get-a-collection: properties of the right types', async () => {
      const { collections } = (await get(`${ROOT}/collections/`)).json();
      for (const { id, ...listed } of collections) {
        const one = (await get(`${ROOT}/collections/${id}`)).json();
        expect(one).toEqual({ id, ...listed });
        expect([typeof one.title, typeof one.can_read, typeof one.can_write]).toEqual([
          'string',
          'boolean',
          'boolean',
        ]);
        expect(one.media_types).not.toEqual([]);
      }
    });

    it('get-objects, get-an-object, get-object-versions, get-object-manifests: without the slash', async () => {
      const { objects = [] } = await read(`${ALL}/objects`);
      expect(objects.length).toBeGreaterThan(COUNT);
      for (const object of objects.slice(0, 12)) {
        expect(object.id).toMatch(new RegExp(`^${object.type}--[\\da-f-]{36}$`));
        expect((await read(`${ALL}/objects/${object.id}`)).objects).toEqual([object]);
        const { versions = [] } = await read(`${ALL}/objects/${object.id}/versions/`);
        for (const version of versions) expect(typeof version).toBe('string');
      }
      const manifest = (await get(`${ALL}/manifest`)).json();
      for (const record of manifest.objects)
        expect(record).toEqual({
          id: expect.any(String),
          date_added: expect.any(String),
          version: expect.any(String),
          media_type: STIX,
        });
    });

    it('test-pagination: ten objects a page, none twice, and an end', async () => {
      const ids = new Set<string>();
      let pages = 0;
      for (let query = 'limit=10', more = true; more; pages++) {
        const page = await read(`${ALL}/objects?${query}`);
        expect(page.objects?.length).toBeLessThanOrEqual(10);
        for (const { id } of page.objects ?? []) {
          expect(ids.has(id)).toBe(false);
          ids.add(id);
        }
        more = page.more === true;
        query = `limit=10&next=${page.next}`;
      }
      expect(pages).toBe(Math.ceil(ids.size / 10));
    });
  });

  /**
   * medallion/test/test_backends.py of cti-taxii-server. Left out, as they need a server that accepts objects or has several versions or
   * versions of STIX of them: get_status, add_and_delete_object, add_objects_422, delete_objects_version and _spec_version,
   * SCO_versioning, object_already_present, status_cleanup, save_to_file, and those of its configuration. Where medallion answers 403 for
   * collections that a user cannot read, Tipline lists none of these and answers 404. Where it answers 400 to `next` with other filters
   * than before, Tipline goes on with those of the first request, as clients leave them out.
   */
  describe('the suite of medallion', () => {
    it('get_objects, get_object_manifests: sorted by the date, which the headers state', async () => {
      const [objects, manifest] = [await read(`${ALL}/objects/`), await read(`${ALL}/manifest/`)];
      expect([objects.more, manifest.more]).toEqual([false, false]);
      const records = manifest.objects as unknown as { id: string; date_added: string }[];
      const dates = records.map((record) => record.date_added);
      expect(dates).toEqual([...new Set(dates)].sort());
      expect([objects.first, objects.last]).toEqual([dates[0], dates.at(-1)]);
      expect(records.map(({ id }) => id)).toEqual(objects.objects?.map(({ id }) => id));
    });

    it('get_object, get_version: one object, and both headers have its date', async () => {
      const { objects = [] } = await read(`${ALL}/objects/`);
      const [{ id } = { id: '' }] = objects.slice(-1);
      for (const url of [`${ALL}/objects/${id}/`, `${ALL}/objects/${id}/versions/`]) {
        const one = await read(url);
        expect([one.first, (one.objects ?? one.versions)?.length]).toEqual([one.last, 1]);
      }
    });

    it('get_objects_added_after, get_manifest_added_after: those that are later', async () => {
      const { last } = await read(`${ALL}/objects/?limit=10`);
      const total = (await read(`${ALL}/objects/`)).objects?.length ?? 0;
      for (const of of ['objects', 'manifest']) {
        const rest = await read(`${ALL}/${of}/?added_after=${last}`);
        expect([rest.more, rest.objects?.length]).toEqual([false, total - 10]);
      }
    });

    it('get_objects_limit, get_manifest_limit: the first ones, then the rest by next', async () => {
      const all = await read(`${ALL}/objects/`);
      for (const of of ['objects', 'manifest']) {
        const first = await read(`${ALL}/${of}/?limit=3`);
        expect([first.more, first.objects?.length, first.first]).toEqual([true, 3, all.first]);
        const rest = await read(`${ALL}/${of}/?limit=1000&next=${first.next}`);
        expect([rest.more, rest.last]).toEqual([false, all.last]);
        expect([...(first.objects ?? []), ...(rest.objects ?? [])].map(({ id }) => id)).toEqual(
          all.objects?.map(({ id }) => id),
        );
      }
    });

    it('get_objects_id, get_objects_type, get_manifest_id, get_manifest_type', async () => {
      const { objects = [] } = await read(`${ALL}/objects/`);
      const [{ id } = { id: '' }] = objects.slice(-1);
      for (const of of ['objects', 'manifest']) {
        expect((await read(`${ALL}/${of}/?match[id]=${id}`)).objects?.map((one) => one.id)).toEqual([id]);
        const indicators = (await read(`${ALL}/${of}/?match[type]=indicator`)).objects ?? [];
        expect(indicators.filter((one) => !one.id.startsWith('indicator--'))).toEqual([]);
        expect(indicators).toHaveLength(COUNT);
      }
    });

    it('objects_version_match, get_manifest_version, get_object_version: a time, first, last, all', async () => {
      const { objects = [] } = await read(`${ALL}/objects/?match[type]=indicator`);
      const [{ id, modified } = { id: '', modified: '' }] = objects;
      for (const version of [modified, 'first', 'last', 'all'])
        for (const url of [
          `${ALL}/objects/?match[id]=${id}&match[version]=${version}`,
          `${ALL}/manifest/?match[id]=${id}&match[version]=${version}`,
          `${ALL}/objects/${id}/?match[version]=${version}`,
        ])
          expect((await read(url)).objects?.map((one) => one.id)).toEqual([id]);
    });

    it('get_objects_spec_version, manifest_spec_version, get_object_spec_version, get_version_spec_version', async () => {
      const { objects = [] } = await read(`${ALL}/objects/`);
      expect(objects.filter((one) => one.spec_version !== '2.1')).toEqual([]);
      for (const url of [`${ALL}/objects/`, `${ALL}/manifest/`, `${ALL}/objects/${objects[0]?.id}/`])
        for (const [versions, isFound] of [
          ['2.1', true],
          ['2.0,2.1', true],
          ['2.0', false],
        ] as const)
          expect([
            versions,
            (await read(`${url}?match[spec_version]=${versions}`)).objects !== undefined,
          ]).toEqual([versions, isFound]);
    });

    it('get_object_added_after, get_version_added_after: an empty object where it is not later', async () => {
      const { objects = [], last } = await read(`${ALL}/objects/`);
      const [{ id } = { id: '' }] = objects.slice(-1);
      for (const url of [`${ALL}/objects/${id}/`, `${ALL}/objects/${id}/versions/`]) {
        expect((await get(`${url}?added_after=${last}`)).json()).toEqual({});
        expect((await read(`${url}?added_after=2001-01-01T00:00:00.000000Z`)).more).toBe(false);
      }
    });

    it('get_objects_match_type_version, _spec_version: filters together', async () => {
      const query = 'match[type]=vulnerability&match[version]=last&match[spec_version]=2.1';
      expect((await read(`${ALL}/objects/?${query}`)).objects?.map(({ type }) => type)).toEqual([
        'vulnerability',
      ]);
    });

    it('not existent: 404 for an API root, a collection, a status, an object', async () => {
      for (const url of [
        '/taxii2/carbon1/',
        '/taxii2/carbon1/collections/',
        `${ROOT}/collections/${NONE}/`,
        `${ROOT}/collections/${NONE}/objects/`,
        `${ROOT}/collections/${NONE}/manifest/`,
        `${ROOT}/collections/${NONE}/objects/malware--${NONE}/`,
        `${ROOT}/status/${NONE}/`,
        `${ALL}/objects/malware--${NONE}/`,
      ])
        expect([url, await status(url)]).toEqual([url, 404]);
    });

    it('401: without a key, for reading and adding', async () => {
      for (const url of [
        `${ROOT}/collections/`,
        `${ROOT}/status/${NONE}/`,
        `${ALL}/manifest/`,
        `${ALL}/objects/`,
      ])
        expect([url, await status(url, { key: null })]).toEqual([url, 401]);
      expect(await status(`${ALL}/objects/`, { key: null, method: 'POST' })).toBe(401);
    });

    it('403: adding to a collection that cannot be written', async () => {
      expect(await status(`${ALL}/objects/`, { method: 'POST' })).toBe(403);
    });

    it('object_pagination_bad_limit_value_400', async () => {
      for (const limit of ['-20', '0', 'x']) expect(await status(`${ALL}/objects/?limit=${limit}`)).toBe(400);
    });
  });
});
