import fc from 'fast-check';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type ChangeFeed, openChangeFeed } from '../../src/changes/change-feed.ts';
import type { Collection } from '../../src/changes/cursor.ts';
import type { Database } from '../../src/db/database.ts';
import type { IndicatorFilters, IndicatorRow } from '../../src/indicators/read/indicators.queries.ts';
import { listIndicators } from '../../src/indicators/read/list.queries.ts';
import type { Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { changeWorld, FILTERS, INDICATOR_ACTIONS, tlp, WORLD_ACTIONS } from './change-world.ts';
import { runs } from './runs.ts';

/** Saved feeds with a limit, and lists. */
const LIMITS: Collection['limit'][] = [
  null,
  null,
  { count: 2, order: 'confidence' },
  { count: 3, order: 'newest' },
];

const action = fc.oneof(
  ...WORLD_ACTIONS,
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), node: fc.nat(1) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('poll' as const),
      client: fc.nat(2),
      node: fc.nat(1),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('begin' as const), client: fc.nat(2) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Feeds with a limit of which most changes concern the first rows. */
const FIRST: Collection['limit'][] = [
  { count: 2, order: 'confidence' },
  { count: 3, order: 'newest' },
  { count: 4, order: 'confidence' },
];
const firstFilters = fc.constantFrom<IndicatorFilters>({}, {}, { minConfidence: 50 }, { tag: 'c2' });
const firstAction = fc
  .tuple(
    fc.oneof(...INDICATOR_ACTIONS),
    fc.constantFrom(1, 1, 3, 10, 10, 10),
    fc.constantFrom(true, ...Array(5).fill(false)),
  )
  .map(([act, pageSize, begins]) => ({ ...act, pageSize, begins }));

interface Client {
  ceiling: Tlp;
  filters: IndicatorFilters;
  limit: Collection['limit'];
  cursor: string | undefined;
  copy: Map<string, IndicatorRow>;
}

onEveryEngine((engine) => {
  let database: Database;
  beforeEach(async () => {
    database = await engine.open();
  });
  afterAll(() => database.close());

  const world = changeWorld(() => database);

  const open = () => openChangeFeed(database, 'a secret of the tests', () => new Date(world.now()), 2);

  async function listed({ ceiling, filters, limit }: Client) {
    const principal = { tlpCeiling: ceiling, now: new Date(world.now()) };
    const sort = limit?.order === 'confidence' && { sort: { by: 'confidence' as const, ascending: false } };
    const page = { page: 1, pageSize: limit?.count ?? 100, ...sort };
    const { rows } = await listIndicators(database.db, principal, filters, page);
    return new Map(rows.map((row) => [row.id, plain(row)]));
  }

  async function poll(client: Client, feed: ChangeFeed, limit: number) {
    const { ceiling, filters, cursor } = client;
    const principal = { tlpCeiling: ceiling, now: new Date(world.now()) };
    const collection = client.limit && { feed: 'a feed', id: 'as defined', limit: client.limit };
    const asked = { cursor, filters, limit, ...(collection && { collection }) };
    const found = await feed.next(
      asked,
      principal,
      0,
      () => true,
      (change) => change,
    );
    const current = await listed(client);
    for (const change of found.changes) {
      if (change.op === 'upsert') {
        // Nothing that the caller may not see now is named.
        expect(current.get(change.indicator.id)).toEqual(plain(change.indicator));
        client.copy.set(change.indicator.id, change.indicator);
      } else {
        // Only what the client has is removed, and only if it may not have it any more.
        expect([change.value, client.copy.has(change.id), current.has(change.id)]).toEqual([
          change.value,
          true,
          false,
        ]);
        client.copy.delete(change.id);
      }
    }
    client.cursor = found.cursor;
    if (!found.hasMore)
      expect(new Map([...client.copy].map(([id, row]) => [id, plain(row)]))).toEqual(current);
    return found;
  }

  it('keeps a copy equal to the list, and names nothing that is hidden', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            ceiling: tlp,
            filters: fc.constantFrom(...FILTERS),
            limit: fc.constantFrom(...LIMITS),
          }),
          {
            minLength: 3,
            maxLength: 3,
          },
        ),
        fc.array(action, { minLength: 10, maxLength: 60, size: 'max' }),
        async (wanted, actions) => {
          await world.reset();
          const clients = wanted.map((of): Client => ({ ...of, cursor: undefined, copy: new Map() }));
          const nodes = [open(), open()];
          const run = async (act: Action) => {
            if (act.do === 'kill') nodes[act.node] = open();
            else if (act.do === 'begin')
              Object.assign(clients[act.client] as Client, { cursor: undefined, copy: new Map() });
            else if (act.do === 'poll')
              await poll(clients[act.client] as Client, nodes[act.node] as ChangeFeed, act.limit);
            else await world.carryOut(act);
          };
          for (const act of actions) await run(act);
          for (const client of clients) {
            for (let more = true; more; ) more = (await poll(client, open(), 2)).hasMore;
            const text = client.cursor;
            expect(await poll(client, open(), 2)).toEqual({ changes: [], cursor: text, hasMore: false });
          }
        },
      ),
      {
        ...runs(50),
        ...(process.env.SEED ? { seed: Number(process.env.SEED), path: process.env.FCPATH ?? '' } : {}),
      },
    );
  });

  it('keeps a copy of the first rows equal to them', { timeout: 600_000, tags: ['nightly'] }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ceiling: tlp, filters: firstFilters, limit: fc.constantFrom(...FIRST) }), {
          minLength: 2,
          maxLength: 2,
        }),
        fc.array(firstAction, { minLength: 10, maxLength: 40, size: 'max' }),
        async (wanted, actions) => {
          await world.reset();
          const clients = wanted.map((of): Client => ({ ...of, cursor: undefined, copy: new Map() }));
          const feed = open();
          for (const act of actions) {
            await world.carryOut(act);
            // Some changes meet a client between its pages.
            for (const client of clients) {
              if (act.begins) Object.assign(client, { cursor: undefined, copy: new Map() });
              await poll(client, feed, act.pageSize);
            }
          }
        },
      ),
      runs(50),
    );
  });
});

function plain({ id, value, confidence, severity, tlp: marking, tags, last_seen, expires_at }: IndicatorRow) {
  return {
    id,
    value,
    confidence,
    severity,
    marking,
    tags,
    seen: Number(last_seen),
    expiry: expires_at && Number(expires_at),
  };
}
