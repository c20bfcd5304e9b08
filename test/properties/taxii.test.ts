import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type Database, inSnapshot } from '../../src/db/database.ts';
import { type ExtentChange, recordExtentChange } from '../../src/db/revision/change-dates.ts';
import { withRevision } from '../../src/db/revision/revision.ts';
import { CONTEXT_KINDS } from '../../src/exports/export-context.queries.ts';
import type { ExportEntity } from '../../src/formats/format.ts';
import {
  type End,
  entityIds,
  indication,
  isOfAttack,
  relationship,
} from '../../src/formats/stix/entities.ts';
import type { IndicatorFilters } from '../../src/indicators/read/indicators.queries.ts';
import { listIndicators } from '../../src/indicators/read/list.queries.ts';
import { TIPLINE_EXTENSION } from '../../src/model/identity.ts';
import { compareTlp } from '../../src/model/statement.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import type { DatedObject } from '../../src/taxii/dated-object.ts';
import { nextObjects, type ObjectSource, type Reached } from '../../src/taxii/objects.ts';
import { openObservables } from '../../src/taxii/observables.ts';
import { openRelationships } from '../../src/taxii/relationship-objects.ts';
import { onEveryEngine } from '../support/engines.ts';
import { changeWorld, ENTITY_ACTIONS, FILTERS, tlp, WORLD_ACTIONS } from './change-world.ts';
import { runs } from './runs.ts';

const action = fc.oneof(
  ...WORLD_ACTIONS,
  ...ENTITY_ACTIONS,
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('poll' as const),
      client: fc.nat(2),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('begin' as const), client: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('alter' as const),
      client: fc.integer({ min: 1, max: 2 }),
      ceiling: tlp,
      filters: fc.constantFrom(...FILTERS),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A client as the standard has them: it follows `next`, and asks with the time of the last object that it got. */
interface Client {
  ceiling: Tlp;
  filters: IndicatorFilters;
  /** The last change of the two. */
  extentChange: ExtentChange | null;
  formerFilters: IndicatorFilters[];
  reached: Reached;
  copy: Map<string, DatedObject['object']>;
}

const BEGINNING: Reached = { after: null, held: null };
const uuidOf = (id: string) => id.slice(id.indexOf('--') + 2);
const OWN_TYPES = ['indicator', 'observed-data', 'vulnerability'];
const ENTITY_TYPES = ['intrusion-set', 'threat-actor', 'campaign'];
const CONTEXT_TYPES = [...ENTITY_TYPES, 'relationship'];

/** All rows of the database that actors, campaigns and relationships are made of. */
interface World {
  indicators: {
    id: string;
    tlp: Tlp;
    isHidden: boolean;
    isExpired: boolean;
    forDetection: boolean;
    createdAt: Date;
  }[];
  entities: {
    id: string;
    kind: 'actor' | 'campaign';
    tlp: Tlp;
    withdrawn: boolean;
    confidence: number;
    createdAt: Date;
  }[];
  statements: { entityId: string; externalIds: string[]; tlp: Tlp }[];
  links: { fromId: string; toId: string; type: 'indicates' | 'attributed-to' | 'uses'; tlp: Tlp }[];
}

/** The objects that a reader sees: their confidence, or their marking. */
function contextOf({ indicators, entities, statements, links }: World, ceiling: Tlp) {
  const isSeen = (row: { tlp: Tlp }) => compareTlp(row.tlp, ceiling) <= 0;
  const ends = new Map<string, End>();
  for (const row of indicators)
    if (isSeen(row) && !row.isHidden && !row.isExpired)
      ends.set(row.id, {
        ...row,
        id: `${row.forDetection ? 'indicator' : 'observed-data'}--${row.id}`,
        modifiedAt: row.createdAt,
      });
  const objects = new Map<string, unknown>();
  for (const row of entities) {
    if (!isSeen(row) || row.withdrawn) continue;
    const externalIds = statements
      .filter((statement) => statement.entityId === row.id && compareTlp(statement.tlp, row.tlp) <= 0)
      .flatMap((statement) => statement.externalIds)
      .sort();
    const entity = { ...row, attackId: null, externalIds } as unknown as ExportEntity;
    const id = entityIds([entity]).get(row.id) ?? '';
    ends.set(row.id, { ...row, id, modifiedAt: row.createdAt });
    if (!isOfAttack(entity, id)) objects.set(id, row.confidence);
  }
  for (const { fromId, toId, type, tlp: own } of links
    .filter(isSeen)
    .sort((a, b) => compareTlp(a.tlp, b.tlp))) {
    const [from, to] = [ends.get(fromId), ends.get(toId)];
    if (!from || !to) continue;
    const object = type === 'indicates' ? indication(from, to, own) : relationship(from, type, to, own);
    if (!objects.has(object.id)) objects.set(object.id, object.object_marking_refs);
  }
  return objects;
}

onEveryEngine((engine) => {
  let database: Database;
  let lookups: Pick<ObjectSource, 'observables' | 'relationships'>;
  beforeEach(async () => {
    database = await engine.open();
    const { revisions } = database;
    lookups = { observables: openObservables(revisions), relationships: openRelationships(revisions) };
  });
  afterAll(() => database.close());

  const world = changeWorld(() => database);

  /** Returns the revisions, by id, of what the list has. */
  async function listed({ ceiling, filters }: Pick<Client, 'ceiling' | 'filters'>) {
    const principal = { tlpCeiling: ceiling, now: new Date(world.now()) };
    const { rows } = await listIndicators(database.db, principal, filters, { page: 1, pageSize: 100 });
    return new Map(rows.map((row) => [row.id, row]));
  }

  async function readWorld(): Promise<World> {
    const { rows } = await sql<{ world: World }>`
      select jsonb_build_object(
        'indicators', (select jsonb_agg(jsonb_build_object('id', id, 'tlp', tlp, 'isHidden', whitelisted,
          'isExpired', coalesce(expires_at <= ${new Date(world.now())}::timestamptz, false), 'forDetection', for_detection,
          'createdAt', created_at)) from indicator),
        'entities', (select jsonb_agg(jsonb_build_object('id', id, 'kind', kind, 'tlp', tlp, 'withdrawn', withdrawn, 'confidence', confidence,
          'createdAt', created_at)) from (
            select id, 'actor' as kind, tlp, withdrawn, confidence, created_at from actor
            union all select id, 'campaign', tlp, withdrawn, confidence, created_at from campaign) as entity),
        'statements', (select jsonb_agg(jsonb_build_object('entityId', entity_id, 'externalIds', external_ids, 'tlp', tlp)) from entity_source),
        'links', (select jsonb_agg(jsonb_build_object('fromId', from_id, 'toId', to_id, 'type', type, 'tlp', tlp)) from relationship)
      ) as world`.execute(database.db);
    const dated = <Row extends { createdAt: Date }>(list: Row[] | null) =>
      (list ?? []).map((row) => ({ ...row, createdAt: new Date(row.createdAt) }));
    const { indicators, entities, statements, links } = (rows[0] as { world: World }).world;
    return {
      indicators: dated(indicators),
      entities: dated(entities),
      statements: statements ?? [],
      links: links ?? [],
    };
  }

  /** The ids that a reader of each ceiling has been able to see at some time. */
  let seen: Map<Tlp, Set<string>>;
  async function look() {
    const all = await readWorld();
    for (const ceiling of TLPS) {
      const ids = seen.get(ceiling) ?? new Set();
      for (const id of (await listed({ ceiling, filters: {} })).keys()) ids.add(id);
      for (const id of contextOf(all, ceiling).keys()) ids.add(id);
      seen.set(ceiling, ids);
    }
  }

  /** Changes the filters and raises the ceiling of the feed that a client follows, which goes on from where it is. */
  async function alter(client: Client, { ceiling, filters }: Pick<Client, 'ceiling' | 'filters'>) {
    if (hasContext(client) || hasContext({ filters })) return;
    // The client reads its pages to the end before.
    while (client.reached.held && (await poll(client, 5)));
    if (compareTlp(ceiling, client.ceiling) > 0) client.ceiling = ceiling;
    client.formerFilters = [client.filters, ...client.formerFilters];
    client.filters = filters;
    client.extentChange = await withRevision(database.db, recordExtentChange);
  }

  async function poll(client: Client, limit: number): Promise<boolean> {
    const { ceiling, filters, extentChange, formerFilters, reached } = client;
    const principal = { tlpCeiling: ceiling, now: new Date(world.now()) };
    const entityKinds = hasContext(client) ? CONTEXT_KINDS : [];
    const asked = {
      principal,
      filters,
      entityKinds,
      extentChange,
      formerFilters,
      match: {},
      reached,
      limit,
      withEnds: true,
    };
    const page = await inSnapshot(database.db, (db) => nextObjects({ db, ...lookups }, asked));
    const { objects } = page;
    const dates = objects.map(({ date }) => date);
    expect(dates).toEqual([...new Set(dates)].sort((a, b) => a - b));
    expect(objects.every(({ date }) => date > (reached.after ?? 0))).toBe(true);
    expect([objects.length <= limit, objects.length > 0 || !page.hasMore]).toEqual([true, true]);
    const [matching, context] = [await listed(client), contextOf(await readWorld(), ceiling)];
    for (const { object, date } of objects) {
      if (typeof object.modified === 'string')
        expect(date / 1_000).toBeGreaterThanOrEqual(Date.parse(object.modified));
      const isOwn = OWN_TYPES.includes(String(object.type));
      const isEnd = isOwn && !isActive(object, world.now());
      // An object that is no end is of what the list has; an end is of what was visible before.
      if (isOwn && !isEnd) expect([object, matching.has(uuidOf(object.id))]).toEqual([object, true]);
      if (isEnd) expect(seen.get(ceiling)).toContain(uuidOf(object.id));
      if (CONTEXT_TYPES.includes(String(object.type))) {
        expect(hasContext(client)).toBe(true);
        // An end is of what was visible before, and is not any more; anything else is visible.
        if (object.revoked) expect(seen.get(ceiling)).toContain(object.id);
        expect([object, context.has(object.id)]).toEqual([object, !object.revoked]);
      }
      const before = client.copy.get(object.id);
      // Clients ignore a version that is not newer than theirs.
      if (!before?.modified || String(object.modified) >= String(before.modified))
        client.copy.set(object.id, object);
      else expect([object, before]).toEqual([object, 'older than what it follows']);
    }
    client.reached = { after: dates.at(-1) ?? reached.after, held: page.hasMore ? page.held : null };
    if (!page.hasMore) await compare(client, matching);
    if (!page.hasMore && hasContext(client)) compareContext(client, context);
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

  /**
   * The copy has exactly the visible actors, campaigns and relationships. Those of an indicator that has expired stay, as it has
   * stated its end.
   */
  function compareContext({ copy }: Client, context: ReturnType<typeof contextOf>) {
    const isOver = (id: unknown) => {
      const object = copy.get(String(id));
      return (
        object !== undefined && OWN_TYPES.includes(String(object.type)) && !isActive(object, world.now())
      );
    };
    const has = new Map<string, unknown>();
    for (const object of copy.values()) {
      if (!CONTEXT_TYPES.includes(String(object.type)) || object.revoked) continue;
      if (isOver(object.source_ref)) continue;
      has.set(object.id, object.type === 'relationship' ? object.object_marking_refs : object.confidence);
    }
    expect(Object.fromEntries([...has].sort())).toEqual(Object.fromEntries([...context].sort()));
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
          const clients = wanted.map(
            ({ ceiling, filters }, place): Client => ({
              ceiling,
              filters: place === 0 ? {} : filters,
              extentChange: null,
              formerFilters: [],
              reached: BEGINNING,
              copy: new Map(),
            }),
          );
          const run = async (act: Action) => {
            const client = 'client' in act ? (clients[act.client] as Client) : null;
            if (act.do === 'begin') Object.assign(client as Client, { reached: BEGINNING, copy: new Map() });
            else if (act.do === 'alter') await alter(client as Client, act);
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

/** Collections without filters have actors, campaigns and relationships. */
const hasContext = ({ filters }: Pick<Client, 'filters'>) => Object.keys(filters).length === 0;

/** Returns whether an object is in force: neither an end, which is revoked or has no extension, nor expired. */
function isActive(
  { extensions, revoked, valid_until: validUntil }: DatedObject['object'],
  now: number,
): boolean {
  const { [TIPLINE_EXTENSION]: own } = (extensions ?? {}) as Record<string, { expires_at?: string }>;
  const until = (validUntil as string | undefined) ?? own?.expires_at;
  return own !== undefined && !revoked && (until === undefined || Date.parse(until) > now);
}
