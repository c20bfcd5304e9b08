import fc from 'fast-check';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type Database, inSnapshot } from '../../src/db/database.ts';
import type { IndicatorFilters } from '../../src/indicators/read/indicators.queries.ts';
import { listIndicators } from '../../src/indicators/read/list.queries.ts';
import { TIPLINE_EXTENSION } from '../../src/model/identity.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { type DatedObject, nextObjects, type Reached } from '../../src/taxii/objects.ts';
import { openObservables } from '../../src/taxii/observables.ts';
import { onEveryEngine } from '../support/engines.ts';
import { changeWorld, FILTERS, tlp, WORLD_ACTIONS } from './change-world.ts';
import { runs } from './runs.ts';

const action = fc.oneof(
  ...WORLD_ACTIONS,
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('poll' as const),
      client: fc.nat(2),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('begin' as const), client: fc.nat(2) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A client as the standard has them: it follows `next`, and asks with the time of the last object that it got. */
interface Client {
  ceiling: Tlp;
  filters: IndicatorFilters;
  reached: Reached;
  copy: Map<string, DatedObject['object']>;
}

const BEGINNING: Reached = { after: null, held: null };
const uuidOf = (id: string) => id.slice(id.indexOf('--') + 2);
const OWN_TYPES = ['indicator', 'observed-data', 'vulnerability'];

onEveryEngine((engine) => {
  let database: Database;
  beforeEach(async () => {
    database = await engine.open();
  });
  afterAll(() => database.close());

  const world = changeWorld(() => database);
  const observables = openObservables();

  /** Returns the revisions, by id, of what the list has. */
  async function listed({ ceiling, filters }: Pick<Client, 'ceiling' | 'filters'>) {
    const principal = { tlpCeiling: ceiling, now: new Date(world.now()) };
    const { rows } = await listIndicators(database.db, principal, filters, { page: 1, pageSize: 100 });
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** The ids that a reader of each ceiling has been able to see at some time. */
  let seen: Map<Tlp, Set<string>>;
  async function look() {
    for (const ceiling of TLPS) {
      const ids = seen.get(ceiling) ?? new Set();
      for (const id of (await listed({ ceiling, filters: {} })).keys()) ids.add(id);
      seen.set(ceiling, ids);
    }
  }

  async function poll(client: Client, limit: number): Promise<boolean> {
    const { ceiling, filters, reached } = client;
    const principal = { tlpCeiling: ceiling, now: new Date(world.now()) };
    const asked = { principal, filters, match: {}, reached, limit, withEnds: true };
    const page = await inSnapshot(database.db, (db) => nextObjects({ db, observables }, asked));
    const { objects } = page;
    const dates = objects.map(({ date }) => date);
    expect(dates).toEqual([...new Set(dates)].sort((a, b) => a - b));
    expect(objects.every(({ date }) => date > (reached.after ?? 0))).toBe(true);
    expect([objects.length <= limit, objects.length > 0 || !page.hasMore]).toEqual([true, true]);
    const matching = await listed(client);
    for (const { object, date } of objects) {
      if (typeof object.modified === 'string')
        expect(date / 1_000).toBeGreaterThanOrEqual(Date.parse(object.modified));
      const isOwn = OWN_TYPES.includes(String(object.type));
      const isEnd = isOwn && !isActive(object, world.now());
      // An object that is no end is of what the list has; an end is of what was visible before.
      if (isOwn && !isEnd) expect([object, matching.has(uuidOf(object.id))]).toEqual([object, true]);
      if (isEnd) expect(seen.get(ceiling)).toContain(uuidOf(object.id));
      const before = client.copy.get(object.id);
      // Clients ignore a version that is not newer than theirs.
      if (!before?.modified || String(object.modified) >= String(before.modified))
        client.copy.set(object.id, object);
      else expect([object, before]).toEqual([object, 'older than what it follows']);
    }
    client.reached = { after: dates.at(-1) ?? reached.after, held: page.hasMore ? page.held : null };
    if (!page.hasMore) await compare(client, matching);
    return page.hasMore;
  }

  /** All that matches is in the copy, and everything in it that is in force is visible; it may have left the filter. */
  async function compare({ ceiling, copy }: Client, matching: Awaited<ReturnType<typeof listed>>) {
    const visible = await listed({ ceiling, filters: {} });
    const inForce = [...copy.values()].filter(
      (object) => OWN_TYPES.includes(String(object.type)) && isActive(object, world.now()),
    );
    expect(inForce.map(({ id }) => uuidOf(id)).filter((id) => !visible.has(id))).toEqual([]);
    const byRow = new Map(inForce.map((object) => [uuidOf(object.id), object]));
    expect(inForce).toHaveLength(byRow.size);
    for (const [id, row] of matching) expect(byRow.get(id)).toMatchObject({ confidence: row.confidence });
  }

  it('has all that matches, and ends what is hidden for clients that had it', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ceiling: tlp, filters: fc.constantFrom(...FILTERS) }), {
          minLength: 3,
          maxLength: 3,
        }),
        fc.array(action, { minLength: 10, maxLength: 60, size: 'max' }),
        async (wanted, actions) => {
          await world.reset();
          seen = new Map();
          const clients = wanted.map((of): Client => ({ ...of, reached: BEGINNING, copy: new Map() }));
          const run = async (act: Action) => {
            const client = 'client' in act ? (clients[act.client] as Client) : null;
            if (act.do === 'begin') Object.assign(client as Client, { reached: BEGINNING, copy: new Map() });
            else if (act.do === 'poll') await poll(client as Client, act.limit);
            else await world.carryOut(act);
            await look();
          };
          for (const act of actions) await run(act);
          for (const client of clients) for (let more = true; more; ) more = await poll(client, 2);
        },
      ),
      {
        ...runs(40),
        ...(process.env.SEED ? { seed: Number(process.env.SEED), path: process.env.FCPATH ?? '' } : {}),
      },
    );
  });
});

/** Returns whether an object is in force: neither an end, which has no extension, nor expired. */
function isActive({ extensions, valid_until: validUntil }: DatedObject['object'], now: number): boolean {
  const { [TIPLINE_EXTENSION]: own } = (extensions ?? {}) as Record<string, { expires_at?: string }>;
  const until = (validUntil as string | undefined) ?? own?.expires_at;
  return own !== undefined && (until === undefined || Date.parse(until) > now);
}
