import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { ExportEntity, ExportRelationship } from '../formats/format.ts';
import { matching } from '../indicators/read/indicators.queries.ts';
import {
  coveredBySummary,
  ROW_HASH,
  type SummaryRow,
  summaries,
} from '../indicators/read/summaries.queries.ts';
import type { EntityKind, Tlp } from '../model/vocabulary.ts';
import { readReportedEntityIds, readReportSummary } from './export-reports.queries.ts';
import { type Selection, selected } from './selection.queries.ts';

export interface ExportContext {
  entities: ExportEntity[];
  relationships: ExportRelationship[];
  /** Markings of the relationships from indicators to entities. */
  tlps: Tlp[];
  /** Digest of the relationships from indicators to entities; as text, which is exact. */
  links: string;
  /** Digest of reports and attributes; null: they are not exported. */
  reports: string | null;
}

/** The longest chain: from an indicator to a group's malware and what that uses. */
const MAX_STEPS = 4;

/**
 * Returns the entities that the selected indicators indicate or that reports about them refer to, those that these are attributed to and use in
 * turn, and the relationships between them.
 */
export async function readContext(
  db: Db,
  selection: Selection,
  withReports: boolean,
): Promise<ExportContext> {
  const { principal } = selection;
  const { ids, tlps, hash } = await readLinked(db, selection);
  const entities = new Map<string, ExportEntity>();
  const relationships: ExportRelationship[] = [];
  const reported = withReports ? await readReportedEntityIds(db, selection) : [];
  let wanted = [...new Set([...ids, ...reported])];
  for (let step = 0; step < MAX_STEPS && wanted.length > 0; step++) {
    const found = await readEntities(db, principal, wanted);
    for (const entity of found) entities.set(entity.id, entity);
    const links = await readRelationships(
      db,
      principal,
      found.map(({ id }) => id),
    );
    relationships.push(...links);
    wanted = [...new Set(links.map(({ toId }) => toId))].filter((id) => !entities.has(id));
  }
  const reports = withReports ? await readReportSummary(db, selection, [...entities.keys()]) : null;
  return {
    entities: [...entities.values()].sort(byId),
    relationships: relationships.filter(({ toId }) => entities.has(toId)),
    tlps: [...tlps, ...(reports?.tlps ?? [])],
    links: hash,
    reports: reports?.digest ?? null,
  };
}

const byId = (a: ExportEntity, b: ExportEntity) => (a.id < b.id ? -1 : 1);

async function readLinked(db: Db, selection: Selection) {
  const { rows } = await sql<{ id: string; tlp: Tlp; hash: string }>`
    select r.to_id as id, r.tlp, bit_xor(uuid_hash_extended(r.from_id, 0))::text as hash
    from relationship as r
    where r.type = 'indicates' and ${visible('relationship', selection.principal, 'r')}
      and r.from_id in (${selected(db, selection).select('indicator.id')})
    group by r.to_id, r.tlp order by r.to_id, r.tlp
  `.execute(db);
  return {
    ids: [...new Set(rows.map(({ id }) => id))],
    tlps: [...new Set(rows.map(({ tlp }) => tlp))],
    hash: rows.map(({ id, tlp, hash }) => `${id} ${tlp} ${hash}`).join('\n'),
  };
}

async function readRelationships(db: Db, principal: Principal, ids: string[]): Promise<ExportRelationship[]> {
  const { rows } = await sql<ExportRelationship>`
    select from_id as "fromId", to_id as "toId", type, min(tlp) as tlp from relationship as r
    where from_id = any(${ids}::uuid[]) and type in ('attributed-to', 'uses') and ${visible('relationship', principal, 'r')}
    group by from_id, to_id, type order by from_id, to_id, type
  `.execute(db);
  return rows;
}

/** The kinds of entities that objects with context have. */
export const CONTEXT_KINDS = ['actor', 'campaign', 'technique', 'software'] as const;
export type ContextKind = (typeof CONTEXT_KINDS)[number];

/** Returns the visible ones of these entities, of all kinds. */
export async function readEntities(
  db: Db,
  principal: Principal,
  ids: readonly string[],
): Promise<ExportEntity[]> {
  const lists = await Promise.all(CONTEXT_KINDS.map((kind) => readKind(db, principal, kind, ids)));
  return lists.flat();
}

/** Returns the columns of a kind of entity that not all have. */
export const entityColumns = (kind: EntityKind) =>
  sql.raw(
    {
      actor: `actor.aliases, attack_group_id as "attackId", country, motivation, sophistication,
        first_seen as "firstSeen", last_seen as "lastSeen"`,
      campaign: 'aliases, start_date as "firstSeen", end_date as "lastSeen"',
      technique: 'attack_id as "attackId", tactics',
      software: 'aliases, attack_id as "attackId", software_type as "softwareType"',
      indicator: '',
      report: '',
      attribute: '',
    }[kind],
  );

async function readKind(db: Db, principal: Principal, kind: ContextKind, ids: readonly string[]) {
  const { rows } = await sql<ExportEntity>`
    select id, ${kind} as kind, name, description, confidence, tlp, stated_at as "statedAt",
      created_at as "createdAt",
      coalesce(modified_at, created_at) as "modifiedAt", ${entityColumns(kind)},
      coalesce((select array_agg(distinct stated.id collate "C")
        from entity_source as s, unnest(s.external_ids) as stated (id)
        where s.entity_id = ${sql.ref(`${kind}.id`)} and ${visible('entity_source', principal, 's')}), '{}') as "externalIds"
    from ${sql.table(kind)} where id = any(${[...ids]}::uuid[]) and ${visible(kind, principal)}
  `.execute(db);
  return rows.map(withAliasNames);
}

export function withAliasNames<Entity extends ExportEntity>(row: Entity): Entity {
  return 'aliases' in row ? { ...row, aliases: row.aliases.map(aliasName) } : row;
}

/** Returns the name of an alias: those of actors also hold `namedBy`. */
function aliasName(alias: string | { alias: string }): string {
  return typeof alias === 'string' ? alias : alias.alias;
}

export interface SelectionSummary {
  parts: SummaryRow[];
  /** The latest sighting; null: there is none, or it was not requested. */
  lastSeen: Date | null;
  /** The earliest expiry; null: none of them expires. */
  nextExpiry: Date | null;
}

/**
 * Returns counts and hashes of a selection without its rows: from the summary tables if these cover it, else
 * from the rows.
 */
export async function readSummary(
  db: Db,
  selection: Selection,
  wantsLastSeen: boolean,
): Promise<SelectionSummary> {
  return isPlain(selection) ? fromSummary(db, selection, wantsLastSeen) : fromRows(db, selection);
}

function isPlain({ filters, page, numbers, inNo, limit }: Selection): boolean {
  return (
    page === undefined &&
    numbers === undefined &&
    inNo === undefined &&
    limit === undefined &&
    coveredBySummary(filters)
  );
}

async function fromRows(db: Db, selection: Selection): Promise<SelectionSummary> {
  const rows = await selected(db, selection)
    .select(['indicator.type', 'indicator.tlp', 'indicator.for_detection'])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .select([
      sql<string>`bit_xor(${ROW_HASH})::text`.as('hash'),
      sql<Date>`max(indicator.last_seen)`.as('last_seen'),
      sql<Date | null>`min(indicator.expires_at)`.as('expires_at'),
    ])
    .groupBy(['indicator.type', 'indicator.tlp', 'indicator.for_detection'])
    .orderBy('indicator.type')
    .orderBy('indicator.tlp')
    .orderBy('indicator.for_detection')
    .execute();
  const times = (dates: (Date | null)[]) => dates.flatMap((date) => date?.getTime() ?? []);
  const expiries = times(rows.map((row) => row.expires_at));
  return {
    parts: rows.map(({ last_seen: _, expires_at: __, ...part }) => part),
    lastSeen: rows.length > 0 ? new Date(Math.max(...times(rows.map((row) => row.last_seen)))) : null,
    nextExpiry: expiries.length > 0 ? new Date(Math.min(...expiries)) : null,
  };
}

async function fromSummary(db: Db, selection: Selection, wantsLastSeen: boolean): Promise<SelectionSummary> {
  const { principal, filters } = selection;
  const { rows: parts } = await sql<SummaryRow>`
    select type, tlp, for_detection, sum(count)::bigint as count, bit_xor(hash)::text as hash
    from (${summaries(principal, filters)}) as sums
    group by type, tlp, for_detection having sum(count) > 0 order by type, tlp, for_detection
  `.execute(db);
  const shown = matching(db, principal, filters);
  const expiry = await shown
    .select(sql<Date | null>`min(indicator.expires_at)`.as('next'))
    // Visible indicators have not expired, but that condition is not in a form that lets the scan of the
    // index begin there.
    .where('indicator.expires_at', '>', principal.now)
    .executeTakeFirstOrThrow();
  const seen = wantsLastSeen
    ? await shown.select(sql<Date | null>`max(indicator.last_seen)`.as('last')).executeTakeFirstOrThrow()
    : null;
  return { parts, lastSeen: seen?.last ?? null, nextExpiry: expiry.next };
}
