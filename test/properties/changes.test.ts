import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type ChangeFeed, openChangeFeed } from '../../src/changes/change-feed.ts';
import type { Collection } from '../../src/changes/cursor.ts';
import type { Database } from '../../src/db/database.ts';
import { withRevision } from '../../src/db/revision/revision.ts';
import { sweepExpired } from '../../src/indicators/expiry/sweep.ts';
import type { IndicatorFilters, IndicatorRow } from '../../src/indicators/read/indicators.queries.ts';
import { listIndicators } from '../../src/indicators/read/list.queries.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { runs } from './runs.ts';

const START = Date.parse('2026-06-01T12:00:00.000Z');
const HOUR = 3_600_000;
const SOURCE = '5c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d10';
const ENTITIES = {
  actor: '6a2b9c11-1f0e-4d3a-8b5c-0c9d8e7f6a51',
  campaign: '7b3c0d22-2a1f-4e4b-9c6d-1d0e9f8a7b62',
} as const;
type EntityKind = keyof typeof ENTITIES;

const VALUES = Array.from({ length: 7 }, (_, i) => `host-${i}.example`);
const idOf = (index: number) => indicatorId('DOMAIN', VALUES[index] ?? '');

const FILTERS: IndicatorFilters[] = [
  {},
  { minConfidence: 50 },
  { tag: 'c2', forDetection: true },
  { severity: 'HIGH' },
  { q: 'host-1' },
  { since: new Date(START - HOUR).toISOString() },
  { actorId: ENTITIES.actor },
  { campaignId: ENTITIES.campaign, minConfidence: 50 },
];

/** Saved feeds with a limit, and lists. */
const LIMITS: Collection['limit'][] = [
  null,
  null,
  { count: 2, order: 'confidence' },
  { count: 3, order: 'newest' },
];

const tlp = fc.constantFrom(...TLPS);
const state = fc.record({
  tlp,
  whitelisted: fc.boolean(),
  expiresIn: fc.constantFrom(null, null, -1, 0, 1, HOUR, 2 * HOUR),
  severity: fc.constantFrom('HIGH' as const, 'LOW' as const),
  confidence: fc.constantFrom(40, 60),
  tags: fc.constantFrom([], ['c2']),
  forDetection: fc.boolean(),
  seenAgo: fc.constantFrom(0, 2 * HOUR),
});
type State = typeof state extends fc.Arbitrary<infer T> ? T : never;
const index = fc.nat(VALUES.length - 1);
const kind = fc.constantFrom<EntityKind>('actor', 'campaign');

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      rows: fc.uniqueArray(fc.record({ index, state }), {
        minLength: 1,
        maxLength: 4,
        selector: (row) => row.index,
      }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('link' as const), index, kind, tlp: fc.option(tlp, { freq: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('entity' as const), kind, tlp, withdrawn: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, HOUR, 2 * HOUR) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const), skew: fc.constantFrom(0, HOUR) }) },
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

interface Client {
  ceiling: Tlp;
  filters: IndicatorFilters;
  limit: Collection['limit'];
  cursor: string | undefined;
  copy: Map<string, IndicatorRow>;
}

onEveryEngine((engine) => {
  let database: Database;
  let now: number;
  beforeEach(async () => {
    database = await engine.open();
  });
  afterAll(() => database.close());

  const open = () => openChangeFeed(database, 'a secret of the tests', () => new Date(now));

  async function reset() {
    now = START;
    const { db } = database;
    await sql`truncate indicator, relationship, actor, campaign, indicator_history, link_history, entity_history,
      revision_log, indicator_source cascade`.execute(db);
    await sql`update revision set value = 0, last_number = 0`.execute(db);
    await sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at)
      values (${SOURCE}::uuid, 'Changes', 'import', 'CLEAR', 50, 'MEDIUM', ${new Date(START)}::timestamptz)
      on conflict do nothing`.execute(db);
    database.revisions.invalidate();
  }

  async function write(rows: { index: number; state: State }[]) {
    await withRevision(database.db, async (trx, revision) => {
      for (const { index: at, state: to } of rows) {
        const expiresAt = to.expiresIn === null ? null : new Date(now + to.expiresIn);
        await sql`
          insert into indicator (id, number, type, value, normalized, confidence, severity, tlp, tags, source_id, first_seen,
            last_seen, expires_at, for_detection, of_certificate, has_records, whitelisted, expired, created_at, revision)
          values (${idOf(at)}::uuid, ${at + 1}, 'DOMAIN', ${VALUES[at]}, ${VALUES[at]}, ${to.confidence}, ${to.severity}, ${to.tlp},
            ${to.tags}::text[], ${SOURCE}::uuid, ${new Date(START - 3 * HOUR)}::timestamptz,
            ${new Date(START - to.seenAgo)}::timestamptz, ${expiresAt}::timestamptz, ${to.forDetection}, false, false,
            ${to.whitelisted}, ${expiresAt !== null && expiresAt.getTime() <= now}, ${new Date(now)}::timestamptz,
            ${revision.next}::bigint)
          on conflict (id) do update set confidence = excluded.confidence, severity = excluded.severity, tlp = excluded.tlp,
            tags = excluded.tags, last_seen = excluded.last_seen, expires_at = excluded.expires_at,
            for_detection = excluded.for_detection, whitelisted = excluded.whitelisted, expired = excluded.expired,
            revision = excluded.revision
        `.execute(trx);
      }
      revision.advance();
    });
  }

  async function link(at: number, to: EntityKind, marking: Tlp | null) {
    await withRevision(database.db, async (trx, revision) => {
      const key = sql`from_id = ${idOf(at)}::uuid and to_id = ${ENTITIES[to]}::uuid`;
      if (marking === null) await sql`delete from relationship where ${key}`.execute(trx);
      else
        await sql`
          insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision)
          values (${idOf(at)}::uuid, ${ENTITIES[to]}::uuid, 'indicates', 'indicator', ${to}, ${marking}, ${SOURCE}::uuid,
            ${revision.next}::bigint)
          on conflict (from_id, to_id, type, source_id) do update set tlp = excluded.tlp, revision = excluded.revision
        `.execute(trx);
      revision.advance();
    });
  }

  async function entity(of: EntityKind, marking: Tlp, withdrawn: boolean) {
    await withRevision(database.db, async (trx, revision) => {
      const shared = sql`${ENTITIES[of]}::uuid, 'One'`;
      const rest = sql`'{}', '{}', 50, ${marking}, ${SOURCE}::uuid, ${new Date(START)}::timestamptz, ${revision.next}::bigint, ${withdrawn}`;
      const update = sql`on conflict (id) do update set tlp = excluded.tlp, withdrawn = excluded.withdrawn, revision = excluded.revision`;
      await (of === 'actor'
        ? sql`insert into actor (id, name, aliases, motivation, retired, target_sectors, target_countries, confidence, tlp, source_id,
            created_at, revision, withdrawn) values (${shared}, '[]', 'espionage', false, ${rest}) ${update}`
        : sql`insert into campaign (id, name, aliases, target_sectors, target_countries, confidence, tlp, source_id, created_at,
            revision, withdrawn) values (${shared}, '{}', ${rest}) ${update}`
      ).execute(trx);
      revision.advance();
    });
  }

  async function listed({ ceiling, filters, limit }: Client) {
    const principal = { tlpCeiling: ceiling, now: new Date(now) };
    const sort = limit?.order === 'confidence' && { sort: { by: 'confidence' as const, ascending: false } };
    const page = { page: 1, pageSize: limit?.count ?? 100, ...sort };
    const { rows } = await listIndicators(database.db, principal, filters, page);
    return new Map(rows.map((row) => [row.id, plain(row)]));
  }

  async function poll(client: Client, feed: ChangeFeed, limit: number) {
    const { ceiling, filters, cursor } = client;
    const principal = { tlpCeiling: ceiling, now: new Date(now) };
    const collection = client.limit && { feed: 'a feed', id: 'as defined', limit: client.limit };
    const asked = { cursor, filters, limit, ...(collection && { collection }) };
    const found = await feed.next(asked, principal, 0, () => true);
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
          await reset();
          const clients = wanted.map((of): Client => ({ ...of, cursor: undefined, copy: new Map() }));
          const nodes = [open(), open()];
          const run = async (act: Action) => {
            if (act.do === 'write') await write(act.rows);
            else if (act.do === 'link') await link(act.index, act.kind, act.tlp);
            else if (act.do === 'entity') await entity(act.kind, act.tlp, act.withdrawn);
            else if (act.do === 'wait') now += act.ms;
            else if (act.do === 'sweep') await sweepExpired(database.db, new Date(now + act.skew));
            else if (act.do === 'kill') nodes[act.node] = open();
            else if (act.do === 'begin')
              Object.assign(clients[act.client] as Client, { cursor: undefined, copy: new Map() });
            else await poll(clients[act.client] as Client, nodes[act.node] as ChangeFeed, act.limit);
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
        ...runs(150),
        ...(process.env.SEED ? { seed: Number(process.env.SEED), path: process.env.FCPATH ?? '' } : {}),
      },
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
