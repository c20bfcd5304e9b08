import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QUERY_LANGUAGES } from '../../src/mcp/hunting-queries.ts';
import { defang } from '../../src/model/refang.ts';
import { visibleText } from '../../src/model/visible-text.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ask } from '../support/mcp.ts';
import { runs } from './runs.ts';
import { type World, worlds } from './world.ts';
import { listedIndicators, type Seen, seen, usedBy } from './world-model.ts';
import { replaceWorld } from './world-rows.ts';

onEveryEngine((engine) => {
  let harness: Harness;
  const keys = new Map<Tlp, string>();
  beforeAll(async () => {
    harness = await startHarness(engine);
    for (const tlpCeiling of TLPS) keys.set(tlpCeiling, await harness.newKey({ tlpCeiling }));
  });
  afterAll(() => harness.close());

  it('no tool, resource or completion returns what the visibility rules hide', async () => {
    const property = fc.asyncProperty(worlds, async (world) => {
      await replaceWorld(harness.db, world);
      harness.clock.now = world.now;
      const view = seen(world);
      const client = reader(harness, keys.get(world.ceiling) ?? '', world, view);
      await checkLists(client, view);
      await checkIndicators(client, world, view);
      await checkActors(client, world, view);
      await checkCampaigns(client, world, view);
      await checkResources(client, world, view);
    });
    await fc.assert(property, runs(3));
  });
});

/** Sends requests with the key of the world's ceiling, and looks into every answer for what must not be there. */
function reader(harness: Harness, key: string, world: World, { visibleIds }: Seen) {
  const hidden = [
    ...world.indicators.flatMap(({ id, type, value }) =>
      visibleIds.has(id) ? [] : [id, inJson(visibleText(defang(type, value)))],
    ),
    ...[...world.techniques, ...world.software, ...world.reports, ...world.attributes].flatMap(
      ({ id, name }) => (visibleIds.has(id) ? [] : [id, name]),
    ),
    ...[...world.actors, ...world.campaigns].flatMap(({ id }) => (visibleIds.has(id) ? [] : [id])),
  ];
  /** @param asked what the request itself names, which an answer may repeat */
  const request = async (method: string, params: object, asked: readonly string[] = []) => {
    const { result, error } = await ask(harness, method, params, { key });
    const body = JSON.stringify([result, error]);
    const leaked = hidden.filter((text) => body.includes(text) && !asked.some((one) => one.includes(text)));
    expect(leaked, `${method} ${JSON.stringify(params)}`).toEqual([]);
    return { result, error };
  };
  const call = async (name: string, args: object, asked: readonly string[] = []) => {
    const { result, error } = await request('tools/call', { name, arguments: args }, asked);
    expect(error).toBeUndefined();
    // biome-ignore lint/suspicious/noExplicitAny: members of many tools.
    const { isError = false, structuredContent } = result as { isError?: boolean; structuredContent?: any };
    return { isError, answer: structuredContent };
  };
  return { request, call };
}
type Client = ReturnType<typeof reader>;

/** Returns a text as the JSON in the text of an answer has it. */
const inJson = (text: string) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1);

const idsIn = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();

async function checkLists({ call }: Client, view: Seen) {
  const listed: { id: string }[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { answer } = await call('list_indicators', { page });
    expect(answer.total).toBe(view.all.indicator.length);
    listed.push(...answer.indicators);
    page = answer.nextPage;
  }
  expect(idsIn(listed)).toEqual(idsIn(view.all.indicator));
  const { answer: news } = await call('whats_new', { since: '2000-01-01' });
  expect(news.total).toBe(view.all.indicator.length);
  for (const query of ['host', 'a', 'e', '7']) await call('search', { query, limit: 15 });
}

async function checkIndicators({ call }: Client, world: World, view: Seen) {
  for (const { id } of world.indicators) {
    const { isError, answer } = await call('explain_indicator', { id });
    expect([id, isError]).toEqual([id, !view.visibleIds.has(id)]);
    if (!isError) expect(answer.indicator.id).toBe(id);
  }
  // The answer repeats the values that were asked; ids of hidden indicators and what is known of them it must not have.
  const values = world.indicators.map(({ value }) => value);
  const asked = world.indicators.map(({ type, value }) => inJson(visibleText(defang(type, value))));
  const { answer } = await call('look_up', { values, related: false }, asked);
  for (const [index, { known }] of answer.results.entries())
    expect([values[index], known]).toEqual([
      values[index],
      view.visibleIds.has(world.indicators[index]?.id ?? ''),
    ]);
}

async function checkActors({ call }: Client, world: World, view: Seen) {
  for (const { id } of world.actors) {
    const isVisible = view.visibleIds.has(id);
    const { isError, answer } = await call('actor_profile', { actor: id });
    expect([id, isError]).toEqual([id, !isVisible]);
    for (const language of QUERY_LANGUAGES) {
      const hunt = await call('hunting_package', { actor: id, language, minConfidence: 0 });
      expect(hunt.isError).toBe(!isVisible);
      if (isVisible)
        expect(hunt.answer.total).toBe(listedIndicators(view, { actorId: id, forDetection: true }).length);
    }
    expect((await call('sigma_rules', { actor: id, minConfidence: 0 })).isError).toBe(!isVisible);
    if (!isVisible) continue;
    expect(answer.indicatorCount).toBe(listedIndicators(view, { actorId: id }).length);
    expect(answer.techniqueCount).toBe(usedBy(view, id).techniques.length);
  }
}

async function checkCampaigns({ call }: Client, world: World, view: Seen) {
  for (const { id } of world.campaigns) {
    const isVisible = view.visibleIds.has(id);
    const { isError, answer } = await call('campaign_profile', { campaign: id });
    expect([id, isError]).toEqual([id, !isVisible]);
    if (isVisible) expect(answer.indicatorCount).toBe(listedIndicators(view, { campaignId: id }).length);
    expect((await call('sigma_rules', { campaign: id, minConfidence: 0 })).isError).toBe(!isVisible);
  }
}

async function checkResources({ request }: Client, world: World, view: Seen) {
  const { result } = await request('resources/list', {});
  const uris = (result.resources as { uri: string }[]).map(({ uri }) => uri);
  const expected = [
    ...view.all.actor.map(({ id }) => `tipline://actors/${id}`),
    ...view.all.report.map(({ id }) => `tipline://reports/${id}`),
  ];
  expect([...uris].sort()).toEqual(expected.sort());
  for (const [kind, objects] of [
    ['actors', world.actors],
    ['reports', world.reports],
  ] as const)
    for (const { id } of objects) {
      const uri = `tipline://${kind}/${id}`;
      const { error } = await request('resources/read', { uri }, [id]);
      expect([uri, error !== undefined]).toEqual([uri, !view.visibleIds.has(id)]);
    }
  const ref = { type: 'ref/resource', uri: 'tipline://actors/{actor}' };
  const { result: found } = await request('completion/complete', {
    ref,
    argument: { name: 'actor', value: '' },
  });
  const { values } = found.completion as { values: string[] };
  expect([...values].sort()).toEqual(view.all.actor.map(({ name }) => name).sort());
}
