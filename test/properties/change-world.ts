import fc from 'fast-check';
import { sql } from 'kysely';
import type { Database, Db } from '../../src/db/database.ts';
import { nextModifiedAt } from '../../src/db/expressions.ts';
import { withRevision } from '../../src/db/revision/revision.ts';
import type { IndicatorFilters } from '../../src/indicators/read/indicators.queries.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';

const START = Date.parse('2026-06-01T12:00:00.000Z');
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const SOURCE = '5c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d10';
const OTHER_SOURCE = '5c1d7a52-0a4e-4c8f-9a53-2b6a0e3f7d11';
const ENTITIES = {
  actor: '6a2b9c11-1f0e-4d3a-8b5c-0c9d8e7f6a51',
  campaign: '7b3c0d22-2a1f-4e4b-9c6d-1d0e9f8a7b62',
} as const;
type EntityKind = keyof typeof ENTITIES;
/** The id under which MITRE publishes the actor or the campaign. */
const OF_ATTACK = '8c4d1e33-3b2a-4f5c-8d7e-2e1f0a9b8c73';

const VALUES = Array.from({ length: 7 }, (_, i) => `host-${i}.example`);
const idOf = (index: number) => indicatorId('DOMAIN', VALUES[index] ?? '');

export const FILTERS: IndicatorFilters[] = [
  {},
  { minConfidence: 50 },
  { tag: 'c2', forDetection: true },
  { severity: 'HIGH' },
  { q: 'host-1' },
  { since: new Date(START - HOUR).toISOString() },
  { actorId: ENTITIES.actor },
  { campaignId: ENTITIES.campaign, minConfidence: 50 },
];

export const tlp = fc.constantFrom(...TLPS);
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

/** Changes of indicators and of the time. */
export const INDICATOR_ACTIONS = [
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
  // Some that expire at one instant.
  {
    weight: 3,
    arbitrary: fc.tuple(fc.uniqueArray(index, { minLength: 3 }), state).map(([indexes, of]) => ({
      do: 'write' as const,
      rows: indexes.map((at) => ({ index: at, state: { ...of, whitelisted: false, expiresIn: HOUR } })),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, HOUR, 2 * HOUR) }),
  },
] as const;

/** The same with changes of links. */
export const WORLD_ACTIONS = [
  ...INDICATOR_ACTIONS,
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('link' as const), index, kind, tlp: fc.option(tlp, { freq: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('entity' as const), kind, tlp, withdrawn: fc.boolean() }),
  },
] as const;

const optionalTlp = fc.option(tlp, { freq: 3 });

/** Further changes of actors, campaigns and their relationships. */
export const ENTITY_ACTIONS = [
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('relate' as const),
      from: fc.oneof(index, kind),
      to: kind,
      isUse: fc.boolean(),
      isOther: fc.boolean(),
      tlp: optionalTlp,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), kind }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revise' as const), kind, confidence: fc.nat(100) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('identify' as const),
      kind,
      as: fc.constantFrom('attack', 'own'),
      tlp: optionalTlp,
    }),
  },
] as const;

const anyAction = fc.oneof(...WORLD_ACTIONS, ...ENTITY_ACTIONS);
type WorldAction = typeof anyAction extends fc.Arbitrary<infer T> ? T : never;

/** A few indicators, an actor and a campaign in a database, and the time. */
export function changeWorld(open: () => Database) {
  let now = START;
  async function reset() {
    now = START;
    const { db } = open();
    await sql`truncate indicator, indicator_source, relationship, actor, campaign, entity_source, indicator_history, link_history, entity_history,
      revision_log, change_date, indicator_source cascade`.execute(db);
    await sql`insert into change_date (first_number, last_number, first_date, revision) values (0, (select last_value from change_number), 0, 0)`.execute(
      db,
    );
    await sql`update revision set value = 0, last_number = 0`.execute(db);
    await sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at)
      values (${SOURCE}::uuid, 'Changes', 'import', 'CLEAR', 50, 'MEDIUM', ${new Date(START)}::timestamptz),
        (${OTHER_SOURCE}::uuid, 'Other changes', 'import', 'CLEAR', 50, 'MEDIUM', ${new Date(START)}::timestamptz)
      on conflict do nothing`.execute(db);
    open().revisions.invalidate();
  }

  async function write(rows: { index: number; state: State }[]) {
    await withRevision(open().db, async (trx, revision) => {
      for (const { index: at, state: to } of rows) {
        const expiresAt = to.expiresIn === null ? null : new Date(now + to.expiresIn);
        await sql`
          insert into indicator (id, number, type, value, normalized, confidence, severity, tlp, tags, source_id, first_seen,
            last_seen, expires_at, for_detection, of_certificate, has_records, whitelisted, created_at, revision)
          values (${idOf(at)}::uuid, ${at + 1}, 'DOMAIN', ${VALUES[at]}, ${VALUES[at]}, ${to.confidence}, ${to.severity}, ${to.tlp},
            ${to.tags}::text[], ${SOURCE}::uuid, ${new Date(START - 3 * HOUR)}::timestamptz,
            ${new Date(START - to.seenAgo)}::timestamptz, ${expiresAt}::timestamptz, ${to.forDetection}, false, false,
            ${to.whitelisted}, ${new Date(now)}::timestamptz,
            ${revision.next}::bigint)
          on conflict (id) do update set confidence = excluded.confidence, severity = excluded.severity, tlp = excluded.tlp,
            tags = excluded.tags, last_seen = excluded.last_seen, expires_at = excluded.expires_at,
            for_detection = excluded.for_detection, whitelisted = excluded.whitelisted,
            version = indicator.version + 1, modified_at = ${nextModifiedAt('indicator', new Date(now))},
            revision = excluded.revision
        `.execute(trx);
      }
      revision.advance();
    });
  }

  /** @param marking null: the link is removed */
  async function link(
    from: number | EntityKind,
    to: EntityKind,
    marking: Tlp | null,
    type = 'indicates',
    source = SOURCE,
  ) {
    const isIndicator = typeof from === 'number';
    const fromId = isIndicator ? idOf(from) : ENTITIES[from];
    await withRevision(open().db, async (trx, revision) => {
      const key = sql`from_id = ${fromId}::uuid and to_id = ${ENTITIES[to]}::uuid and type = ${type} and source_id = ${source}::uuid`;
      if (marking === null) await sql`delete from relationship where ${key}`.execute(trx);
      else
        await sql`
          insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision)
          select ${fromId}::uuid, ${ENTITIES[to]}::uuid, ${type}::relationship_type, ${isIndicator ? 'indicator' : from}::entity_kind,
            ${to}::entity_kind, ${marking}::tlp, ${source}::uuid, ${revision.next}::bigint
          -- Imports write an indicator before its links.
          where ${isIndicator ? sql`exists (select from indicator where id = ${fromId}::uuid)` : sql`true`}
          on conflict (from_id, to_id, type, source_id) do update set tlp = excluded.tlp, revision = excluded.revision
        `.execute(trx);
      revision.advance();
    });
  }

  async function entity(of: EntityKind, marking: Tlp, withdrawn: boolean) {
    await withRevision(open().db, async (trx, revision) => {
      const shared = sql`${ENTITIES[of]}::uuid, 'One'`;
      const rest = sql`'{}', '{}', 50, ${marking}, ${SOURCE}::uuid, ${new Date(now)}::timestamptz, ${revision.next}::bigint, ${withdrawn}`;
      const update = sql`on conflict (id) do update set tlp = excluded.tlp, withdrawn = excluded.withdrawn,
        revision = excluded.revision, modified_at = ${nextModifiedAt(of, new Date(now))}`;
      await (of === 'actor'
        ? sql`insert into actor (id, name, aliases, motivation, retired, target_sectors, target_countries, confidence, tlp, source_id,
            created_at, revision, withdrawn) values (${shared}, '[]', 'espionage', false, ${rest}) ${update}`
        : sql`insert into campaign (id, name, aliases, target_sectors, target_countries, confidence, tlp, source_id, created_at,
            revision, withdrawn) values (${shared}, '{}', ${rest}) ${update}`
      ).execute(trx);
      revision.advance();
    });
  }

  /** Changes an actor or campaign as imports do, if there is one. */
  async function change(of: EntityKind, write: (trx: Db, revision: number) => Promise<unknown>) {
    await withRevision(open().db, async (trx, revision) => {
      const { rows } = await sql`select from ${sql.table(of)} where id = ${ENTITIES[of]}::uuid`.execute(trx);
      if (rows.length === 0) return;
      await write(trx, revision.next);
      revision.advance();
    });
  }

  /** @param marking null: the statement is removed */
  const identify = (of: EntityKind, as: 'attack' | 'own', marking: Tlp | null) => {
    const type = of === 'campaign' ? 'campaign' : as === 'attack' ? 'intrusion-set' : 'threat-actor';
    const external = as === 'attack' ? `attack:${type}--${OF_ATTACK}` : `${type}--${ENTITIES[of]}`;
    const source = as === 'attack' ? OTHER_SOURCE : SOURCE;
    const key = sql`entity_id = ${ENTITIES[of]}::uuid and source_id = ${source}::uuid`;
    return change(of, (trx) =>
      (marking === null
        ? sql`delete from entity_source where ${key}`
        : sql`
        insert into entity_source (entity_kind, object_id, source_id, entity_id, external_ids, tlp, confidence, columns, first_imported_at)
        values (${of}, ${ENTITIES[of]}::uuid, ${source}::uuid, ${ENTITIES[of]}::uuid, array[${external}], ${marking}, 50, '{}',
          ${new Date(START)}::timestamptz)
        on conflict (entity_kind, object_id, source_id) do update set tlp = excluded.tlp`
      ).execute(trx),
    );
  };

  const revise = (of: EntityKind, confidence: number) =>
    change(of, (trx, revision) =>
      sql`update ${sql.table(of)} set confidence = ${confidence}, revision = ${revision}::bigint,
        modified_at = ${nextModifiedAt(of, new Date(now))} where id = ${ENTITIES[of]}::uuid`.execute(trx),
    );

  /** As when it is merged into another one. */
  const remove = (of: EntityKind) =>
    change(of, (trx) => sql`delete from ${sql.table(of)} where id = ${ENTITIES[of]}::uuid`.execute(trx));

  return {
    reset,
    now: () => now,
    async carryOut(act: WorldAction): Promise<void> {
      if (act.do === 'write') await write(act.rows);
      else if (act.do === 'link') await link(act.index, act.kind, act.tlp);
      else if (act.do === 'entity') await entity(act.kind, act.tlp, act.withdrawn);
      else if (act.do === 'relate') {
        const type = typeof act.from === 'number' ? 'indicates' : act.isUse ? 'uses' : 'attributed-to';
        const source = act.isOther ? OTHER_SOURCE : SOURCE;
        if (act.from !== act.to) await link(act.from, act.to, act.tlp, type, source);
      } else if (act.do === 'remove') {
        await remove(act.kind);
        now += SECOND;
      } else if (act.do === 'revise') await revise(act.kind, act.confidence);
      else if (act.do === 'identify') await identify(act.kind, act.as, act.tlp);
      else now += act.ms;
    },
  };
}
