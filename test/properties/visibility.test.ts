import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { CAMPAIGN_STATUSES, TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';
import { filtersOf, type Wish, wishes } from './wishes.ts';
import { type World, worlds } from './world.ts';
import {
  contextAnswer,
  indicatorAnswer,
  listedActors,
  listedCampaigns,
  listedIndicators,
  listedLinks,
  type Seen,
  seen,
  sharedTechniques,
  usedBy,
} from './world-model.ts';
import { replaceWorld } from './world-rows.ts';

interface Item {
  id: string;
}

onEveryEngine((engine) => {
  let harness: Harness;
  const keys = new Map<Tlp, string>();
  beforeAll(async () => {
    harness = await startHarness(engine);
    for (const tlpCeiling of TLPS) keys.set(tlpCeiling, await harness.newKey({ tlpCeiling }));
    const feed = { slug: 'all', name: 'All', description: '', query: '', tlpCeiling: 'RED' } as const;
    await createFeed(harness.db, { ...feed, format: 'csv' }, { who: 'test', address: null, now: NOW });
  });
  afterAll(() => harness.close());

  it('shows exactly what the visibility rules allow, on every endpoint', async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds,
        fc.array(wishes, { minLength: 3, maxLength: 8, size: 'max' }),
        fc.integer({ min: 1, max: 40 }),
        async (world, wanted, pageSize) => {
          await replaceWorld(harness.db, world);
          harness.clock.now = world.now;
          const view = seen(world);
          const browse = browser(harness, keys.get(world.ceiling) ?? '', world, view);
          await checkIndicatorLists(browse, world, view, wanted, pageSize);
          await checkIndicators(browse, world, view);
          await checkTaxii(browse, world, view, pageSize);
          await checkLookups(harness, keys.get(world.ceiling) ?? '', world, view);
          await checkActors(browse, world, view, pageSize);
          await checkCampaigns(browse, world, view, pageSize);
          await checkLinked(browse, world, view, wanted, pageSize);
          await checkFeedLayer(browse, view);
        },
      ),
      runs(4),
    );
  });
});

/** Reads with the key of the world's ceiling, and looks into every body for what must not be there. */
function browser(harness: Harness, key: string, world: World, { visibleIds }: Seen) {
  const hidden = [
    ...world.indicators.flatMap(({ id, value }) =>
      visibleIds.has(id) ? [] : [id, JSON.stringify(value).slice(1, -1)],
    ),
    ...[...world.techniques, ...world.software, ...world.reports].flatMap(({ id, name }) =>
      visibleIds.has(id) ? [] : [id, name],
    ),
    ...[...world.actors, ...world.campaigns].flatMap(({ id }) => (visibleIds.has(id) ? [] : [id])),
  ];
  const read = async (url: string) => {
    const response = await harness.get(url, { key });
    const leaked = hidden.filter((text) => response.body.includes(text));
    expect(leaked, url).toEqual([]);
    return { status: response.statusCode, body: response.json() };
  };
  const list = async (
    path: string,
    query: object,
    pageSize: number,
  ): Promise<{ data: Item[]; total: number }> => {
    const data: Item[] = [];
    for (let page = 1; ; page++) {
      const asked = Object.entries({ ...query, page, pageSize });
      const parameters = Object.fromEntries(asked.map(([name, value]) => [name, String(value)]));
      const { status, body } = await read(`${path}?${new URLSearchParams(parameters)}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ page, pageSize });
      data.push(...body.data);
      if (body.data.length === 0 || data.length >= body.total) return { data, total: body.total };
    }
  };
  return { read, list };
}
type Browse = ReturnType<typeof browser>;

async function checkIndicatorLists(
  browse: Browse,
  world: World,
  view: Seen,
  wanted: Wish[],
  pageSize: number,
) {
  for (const wish of [{}, ...wanted]) {
    const filters = filtersOf(wish, world);
    const expected = listedIndicators(view, filters).map(indicatorAnswer);
    const { data, total } = await browse.list('/api/v1/indicators', filters, pageSize);
    expect({ filters, total, data }).toEqual({ filters, total: expected.length, data: expected });
  }
}

async function checkIndicators({ read }: Browse, world: World, view: Seen) {
  for (const [index, indicator] of world.indicators.entries()) {
    const url = `/api/v1/indicators/${indicator.id}`;
    const [detail, context] = [await read(url), await read(`${url}/context`)];
    if (!view.visibleIds.has(indicator.id)) {
      expect([detail.status, context.status]).toEqual([404, 404]);
      continue;
    }
    expect(detail).toEqual({ status: 200, body: { data: indicatorAnswer(indicator) } });
    const { defanged, ...shown } = context.body;
    expect(defanged).toEqual(expect.any(String));
    const { actors, campaigns, reports } = shown;
    const inOrder = { ...shown, actors: byId(actors), campaigns: byId(campaigns), reports: byId(reports) };
    expect({ status: context.status, body: inOrder }).toEqual({
      status: 200,
      body: contextAnswer(view, indicator, index),
    });
  }
}

/** All objects in pages, and the manifest; a hidden indicator has no object of any type. */
async function checkTaxii({ read }: Browse, world: World, { visibleIds }: Seen, limit: number) {
  const collection = '/taxii2/root/collections/all';
  const types = ['indicator', 'observed-data', 'vulnerability'];
  const expected = world.indicators.map(({ id }) => id).filter((id) => visibleIds.has(id));
  for (const of of ['objects', 'manifest']) {
    const ids: string[] = [];
    for (let query: string | null = `limit=${limit}`; query !== null; ) {
      const { body } = await read(`${collection}/${of}/?${query}`);
      ids.push(...(body.objects ?? []).map((object: Item) => object.id));
      query = body.more ? `limit=${limit}&next=${body.next}` : null;
    }
    const own = ids.map((id) => id.split('--')).filter(([type = '']) => types.includes(type));
    expect(own.map(([, id]) => id).sort()).toEqual([...expected].sort());
  }
  for (const { id } of world.indicators) {
    const statuses = await Promise.all(
      types.map(async (type) => (await read(`${collection}/objects/${type}--${id}/`)).status),
    );
    expect(statuses.sort()).toEqual(visibleIds.has(id) ? [200, 404, 404] : [404, 404, 404]);
  }
}

/** A hidden indicator must be as unknown as one that does not exist; the response repeats only the value that was asked. */
async function checkLookups(harness: Harness, key: string, world: World, view: Seen) {
  const values = [...world.indicators.map(({ value }) => value), 'http://host-9999-y.example/'];
  const payload = JSON.stringify({ values });
  const { data } = (
    await harness.get('/bulk/lookup', {
      method: 'QUERY',
      key,
      payload,
      headers: { 'content-type': 'application/json' },
    })
  ).json();
  const expected = [...world.indicators.map((one) => (view.visibleIds.has(one.id) ? [one] : [])), []];
  expect(data.map(({ matches }: { matches: unknown[] }) => matches)).toEqual(
    expected.map((found) => found.map((one) => ({ relation: 'exact', indicator: indicatorAnswer(one) }))),
  );
  expect(data.map(({ known }: { known: boolean }) => known)).toEqual(
    expected.map(({ length }) => length > 0),
  );
}

async function checkActors({ read, list }: Browse, world: World, view: Seen, pageSize: number) {
  for (const active of [undefined, true, false]) {
    const expected = listedActors(view, active);
    const query = active === undefined ? {} : { active };
    expect(await list('/api/v1/actors', query, pageSize)).toEqual({ data: expected, total: expected.length });
  }
  const expected = new Map(listedActors(view).map((actor) => [actor.id, actor]));
  for (const { id, lastSeen } of world.actors) {
    const { status, body } = await read(`/api/v1/actors/${id}`);
    const actor = expected.get(id);
    expect(status).toBe(actor ? 200 : 404);
    if (!actor) continue;
    const { techniques, malware, tools, ...shown } = body.data;
    expect(shown).toEqual({
      ...actor,
      description: null,
      targetSectors: [],
      targetCountries: [],
      firstSeen: null,
      lastSeen: lastSeen?.toISOString() ?? null,
    });
    expect({ techniques: byId(techniques), malware: byId(malware), tools: byId(tools) }).toEqual(
      usedBy(view, id),
    );
  }
}

async function checkCampaigns({ read, list }: Browse, world: World, view: Seen, pageSize: number) {
  for (const status of [undefined, ...CAMPAIGN_STATUSES]) {
    const expected = listedCampaigns(view, status);
    const query = status === undefined ? {} : { status };
    expect(await list('/api/v1/campaigns', query, pageSize)).toEqual({
      data: expected,
      total: expected.length,
    });
  }
  const expected = new Map(listedCampaigns(view).map((campaign) => [campaign.id, campaign]));
  for (const { id } of world.campaigns) {
    const { status, body } = await read(`/api/v1/campaigns/${id}`);
    const campaign = expected.get(id);
    expect(status).toBe(campaign ? 200 : 404);
    if (!campaign) continue;
    expect(body.data).toEqual(campaign);
    const { body: linked } = await read(`/api/v1/indicators?campaignId=${id}&pageSize=1`);
    expect(linked.total).toBe(campaign.indicatorCount);
  }
}

/** The lists of what is linked to each actor and campaign; of one that is hidden there are none. */
async function checkLinked(
  { read, list }: Browse,
  world: World,
  view: Seen,
  wanted: Wish[],
  pageSize: number,
) {
  const ofKind = <Own, Other>(kind: string, things: { id: string }[], own: Own, other: Other) =>
    things.map(({ id }) => ({ path: `/api/v1/${kind}/${id}`, id, own, other }));
  const parents = [
    ...ofKind('actors', world.actors, 'actorId' as const, 'campaigns' as const),
    ...ofKind('campaigns', world.campaigns, 'campaignId' as const, 'actors' as const),
  ];
  for (const [index, { path, id, own, other }] of parents.entries()) {
    const lists = ['reports', 'techniques', other] as const;
    if (!view.visibleIds.has(id)) {
      for (const name of [...lists, 'indicators'])
        expect({ path, name, status: (await read(`${path}/${name}`)).status }).toMatchObject({ status: 404 });
      continue;
    }
    const linked = listedLinks(view, id);
    for (const name of lists) {
      const expected = { path, name, data: linked[name], total: linked[name].length };
      expect({ path, name, ...(await list(`${path}/${name}`, {}, pageSize)) }).toEqual(expected);
    }
    const { [own]: _, ...filters } = filtersOf(wanted[index % wanted.length] ?? {}, world);
    const expected = listedIndicators(view, { ...filters, [own]: id }).map(indicatorAnswer);
    expect({ path, filters, ...(await list(`${path}/indicators`, filters, pageSize)) }).toEqual({
      ...{ path, filters, data: expected, total: expected.length },
    });
  }
}

/** The techniques behind a saved feed of everything. */
async function checkFeedLayer({ read }: Browse, view: Seen) {
  const { status, body } = await read('/api/v1/feeds/all/navigator');
  expect(status).toBe(200);
  const scores = body.techniques.map(({ techniqueID, score }: { techniqueID: string; score: number }) => [
    techniqueID,
    score,
  ]);
  expect(scores).toEqual(sharedTechniques(view));
}

/** For lists whose order the design leaves open. */
function byId(items: Item[]): Item[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : 1));
}
