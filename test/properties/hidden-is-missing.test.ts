import fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';
import { type World, worlds } from './world.ts';
import { seen } from './world-model.ts';
import { replaceWorld } from './world-rows.ts';

/** A strong ETag, a weak one, and any. */
const CONDITIONS = ['"x"', 'W/"x"', '*'];
const MAY_DIFFER = new Set([
  'date',
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  // Encrypted: only the server can read it.
  'x-change-cursor',
]);

/** All of an answer that must not tell a hidden thing from a missing one. */
function answered(response: LightMyRequestResponse) {
  const headers = Object.entries(response.headers).filter(([name]) => !MAY_DIFFER.has(name));
  // Errors of TAXII state the id of the request.
  const body = response.rawPayload
    .toString('latin1')
    .replaceAll(String(response.headers['x-request-id']), '');
  return { status: response.statusCode, headers, body };
}

const COLLECTION = '/taxii2/root/collections/all';
/**
 * The objects of TAXII by id. That a client which had an object gets its end, with `added_after` or `next`, is the exception of ADR 33.
 */
const objectsOf = (type: string): ((id: string) => string)[] => [
  (id) => `${COLLECTION}/objects/${type}--${id}/`,
  (id) => `${COLLECTION}/objects/${type}--${id}/?match[version]=all`,
  (id) => `${COLLECTION}/objects/${type}--${id}/versions/`,
  (id) => `${COLLECTION}/objects/?match[id]=${type}--${id}`,
  (id) => `${COLLECTION}/manifest/?match[id]=${type}--${id}`,
  (id) => `${COLLECTION}/manifest/?match[id]=${type}--${id}&added_after=2001-01-01T00:00:00Z`,
];

/** Where the things of a kind can be asked for by id. */
function addresses(kind: 'indicator' | 'actor' | 'campaign'): ((id: string) => string)[] {
  if (kind === 'indicator') {
    return [
      (id) => `/api/v1/indicators/${id}`,
      (id) => `/api/v1/indicators/${id}/context`,
      ...['indicator', 'observed-data', 'vulnerability'].flatMap(objectsOf),
    ];
  }
  const filter = kind === 'actor' ? 'actorId' : 'campaignId';
  return [
    (id) => `/api/v1/${kind}s/${id}`,
    (id) => `/api/v1/${kind}s/${id.toUpperCase()}`,
    ...['indicators', kind === 'actor' ? 'campaigns' : 'actors', 'reports', 'techniques', 'navigator'].map(
      (list) => (id: string) => `/api/v1/${kind}s/${id}/${list}`,
    ),
    (id) => `/api/v1/${kind}s/${id.toUpperCase()}/indicators?page=2&type=DOMAIN`,
    (id) => `/api/v1/indicators?${filter}=${id}`,
    (id) => `/api/v1/indicators?${filter}=${id}&page=3&q=a`,
    (id) => `/api/sigma/${kind}/${id}`,
    (id) => `/api/sigma/${kind}/${id}/queries?language=splunk-spl`,
    ...(kind === 'actor' ? ['threat-actor', 'intrusion-set'] : ['campaign']).flatMap(objectsOf),
  ];
}

function hiddenThings(world: World) {
  const { visibleIds } = seen(world);
  const hidden = (things: { id: string }[]) =>
    things.filter(({ id }) => !visibleIds.has(id)).map(({ id }) => id);
  return [
    { kind: 'indicator', ids: hidden(world.indicators) },
    { kind: 'actor', ids: hidden(world.actors) },
    { kind: 'campaign', ids: hidden(world.campaigns) },
  ] as const;
}

onEveryEngine((engine) => {
  let harness: Harness;
  const keys = new Map<Tlp, string>();
  beforeAll(async () => {
    harness = await startHarness(engine);
    for (const tlpCeiling of TLPS) keys.set(tlpCeiling, await harness.newKey({ tlpCeiling }));
  });
  afterAll(() => harness.close());

  it('responds identically for hidden and nonexistent objects', async () => {
    const property = fc.asyncProperty(
      worlds,
      fc.uuid(),
      fc.constantFrom('GET', 'HEAD'),
      fc.option(fc.constantFrom(...CONDITIONS)),
      async (world, missing, method, condition) => {
        await replaceWorld(harness.db, world);
        harness.clock.now = world.now;
        const headers: Record<string, string> = condition === null ? {} : { 'if-none-match': condition };
        const ask = async (url: string) =>
          answered(await harness.get(url, { key: keys.get(world.ceiling) ?? '', method, headers }));
        for (const { kind, ids } of hiddenThings(world)) {
          for (const address of addresses(kind)) {
            const reference = await ask(address(missing));
            for (const id of ids) expect({ id, ...(await ask(address(id))) }).toEqual({ id, ...reference });
          }
        }
      },
    );
    await fc.assert(property, runs(3));
  });
});
