import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { ExportAttribute, ExportReportPart, IndicatorRef } from '../formats/format.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { originalIds, type Selection, selected } from './selection.queries.ts';

/** Facts about the reports that refer to selected indicators, and the attributes that are exported with them. */
export interface ReportSummary {
  /** Equal if and only if the reports, the attributes and the links from them are equal. */
  digest: string;
  /** Of the reports, the attributes and the links from them. */
  tlps: Tlp[];
}

/** The number of indicators in one part of a report: a report may refer to any number. */
const REFS_A_PART = 1_000;

const ENTITY_KINDS = sql.raw("('actor', 'campaign', 'technique', 'software')");

/** The indicators that visible reports refer to, as a WITH item `ref`, and these reports as `reported`. */
function withReports(db: Db, selection: Selection, withOriginalIds = false): RawBuilder<unknown> {
  const { principal } = selection;
  const ids = withOriginalIds ? originalIds(principal) : sql`'{}'::text[]`;
  return sql`chosen as materialized (
      ${selected(db, selection)
        .select(['indicator.id', 'indicator.type', 'indicator.for_detection'])
        .select(ids.as('original_ids'))}
    ), ref as materialized (
      select distinct r.from_id as report_id, chosen.id, chosen.type, chosen.for_detection, chosen.original_ids
      from chosen join relationship as r on r.to_id = chosen.id join report on report.id = r.from_id
      where r.type = 'refers-to' and r.from_kind = 'report' and ${visible('relationship', principal, 'r')}
        and ${visible('report', principal)}
    ), reported as materialized (select distinct report_id as id from ref)`;
}

/** The ids of the attributes that reports hold, that are about selected indicators, or that indicate `entityIds`. */
function attributeIds(principal: Principal, entityIds: readonly string[]): RawBuilder<unknown> {
  const under = visible('relationship', principal, 'r');
  return sql`(
    select r.to_id from relationship as r join reported on reported.id = r.from_id
    where r.type = 'refers-to' and r.to_kind = 'attribute' and ${under}
    union select r.from_id from relationship as r join chosen on chosen.id = r.to_id
    where r.type = 'refers-to' and r.from_kind = 'attribute' and ${under}
    union select r.from_id from relationship as r
    where r.type = 'indicates' and r.from_kind = 'attribute' and r.to_id = any(${[...entityIds]}::uuid[]) and ${under})`;
}

/** A hash of what a report or an attribute is exported as, besides its links; a new external id alone does not modify it. */
const stateHash = (table: string, principal: Principal) =>
  sql`hashtextextended(${sql.ref(`${table}.id`)} || ' ' || extract(epoch from
    coalesce(${sql.ref(`${table}.modified_at`)}, ${sql.ref(`${table}.created_at`)})) || ' ' || ${externalIdsOf(table, principal)}, 0)`;

/** Returns the ids of the entities that reports about selected indicators refer to. */
export async function readReportedEntityIds(db: Db, selection: Selection): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with ${withReports(db, selection)}
    select distinct r.to_id as id from relationship as r join reported on reported.id = r.from_id
    where r.type = 'refers-to' and r.to_kind in ${ENTITY_KINDS} and ${visible('relationship', selection.principal, 'r')}
    order by 1
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** @param entityIds those that are exported */
export async function readReportSummary(
  db: Db,
  selection: Selection,
  entityIds: readonly string[],
): Promise<ReportSummary> {
  const { principal } = selection;
  const { rows } = await sql<{ refs: string; states: string; tlps: Tlp[] | null }>`
    with ${withReports(db, selection)}, exported as materialized (
      select tlp, ${stateHash('report', principal)} as hash, id from report join reported using (id)
      union all select tlp, ${stateHash('attribute', principal)}, id from attribute
      where ${visible('attribute', principal)} and id in ${attributeIds(principal, entityIds)}
    ), state as (
      select tlp, hash from exported
      union all select r.tlp, hashtextextended(concat_ws(' ', r.from_id, r.to_id, r.type, r.tlp), 0)
      from relationship as r join exported on exported.id = r.from_id
      where r.type in ('refers-to', 'indicates') and ${visible('relationship', principal, 'r')}
    )
    select (select count(*) || ' ' || bit_xor(uuid_hash_extended(report_id, uuid_hash_extended(id, 0))) from ref) as refs,
      (select count(*) || ' ' || bit_xor(hash) from state) as states,
      (select array_agg(distinct tlp) from state)::text[] as tlps
  `.execute(db);
  const [row] = rows;
  return { digest: `${row?.refs} ${row?.states}`, tlps: row?.tlps ?? [] };
}

const externalIdsOf = (table: string, principal: Principal) => sql`coalesce(
  (select jsonb_agg(distinct stated.id) from entity_source as s, unnest(s.external_ids) as stated (id)
    where s.entity_id = ${sql.ref(`${table}.id`)} and ${visible('entity_source', principal, 's')}), '[]')`;

/**
 * A report as JSON, as `parseReportPart` reads it.
 * @param isBrief without texts, links, external ids and attributes
 */
export function reportAsJson(principal: Principal, isBrief = false): RawBuilder<unknown> {
  const under = visible('relationship', principal, 'r');
  const attributes = sql`coalesce((select jsonb_agg(distinct jsonb_build_object('id', attribute.id,
        'type', attribute.type, 'forDetection', attribute.for_detection))
      from relationship as r join attribute on attribute.id = r.to_id
      where r.from_id = report.id and r.type = 'refers-to' and ${under} and ${visible('attribute', principal)}), '[]')`;
  const nothing = sql`'[]'::jsonb`;
  return sql`jsonb_build_object('id', report.id, 'title', report.title,
    'description', ${isBrief ? sql`null` : sql`report.description`},
    'publishedAt', report.published_at, 'tags', report.tags, 'authors', coalesce(report.authors, '{}'),
    'links', ${isBrief ? nothing : sql`coalesce(report.links, '{}')`},
    'confidence', report.confidence, 'tlp', report.tlp,
    'statedAt', report.stated_at, 'createdAt', report.created_at,
    'modifiedAt', coalesce(report.modified_at, report.created_at),
    'externalIds', ${isBrief ? nothing : externalIdsOf('report', principal)},
    'entities', coalesce((select jsonb_agg(jsonb_build_object('id', link.id, 'tlp', link.tlp) order by link.id) from (
      select r.to_id as id, min(r.tlp) as tlp from relationship as r
      where r.from_id = report.id and r.type = 'refers-to' and r.to_kind in ${ENTITY_KINDS} and ${under}
      group by r.to_id) as link), '[]'),
    'attributes', ${isBrief ? nothing : attributes})`;
}

/** An attribute as JSON, as `parseAttribute` reads it, without its links. */
export function attributeAsJson(principal: Principal): RawBuilder<unknown> {
  return sql`jsonb_build_object('id', attribute.id, 'type', attribute.type, 'value', attribute.value,
    'name', attribute.name, 'description', attribute.description, 'category', attribute.category,
    'forDetection', attribute.for_detection, 'expiresAt', attribute.expires_at,
    'killChainPhases', attribute.kill_chain_phases, 'object', attribute.object, 'tags', attribute.tags,
    'confidence', attribute.confidence, 'tlp', attribute.tlp, 'statedAt', attribute.stated_at,
    'createdAt', attribute.created_at, 'modifiedAt', coalesce(attribute.modified_at, attribute.created_at),
    'externalIds', ${externalIdsOf('attribute', principal)}, 'reports', '[]'::jsonb, 'about', '[]'::jsonb,
    'indicates', '[]'::jsonb)`;
}

/** The marking of the most restricted link of these: an object discloses its links. */
const strictestLink = (
  principal: Principal,
  condition: RawBuilder<unknown>,
) => sql`(select max(link.tlp) from (
  select min(r.tlp) as tlp from relationship as r
  where ${condition} and ${visible('relationship', principal, 'r')} group by r.from_id, r.to_id) as link)`;

/** Returns the query of the reports, each in one part or more; one column, `row`, with JSON. */
export function reportParts(db: Db, selection: Selection, withOriginalIds: boolean) {
  const { principal } = selection;
  return sql<{ row: string }>`
    with ${withReports(db, selection, withOriginalIds)}, placed as (
      select *, (row_number() over (partition by report_id order by id) - 1) / ${sql.lit(REFS_A_PART)} as part from ref
    ), part as (
      select report_id, part, jsonb_agg(jsonb_build_array(id, type, for_detection, original_ids) order by id) as refs
      from placed group by report_id, part
    )
    select jsonb_build_object('id', report.id, 'refs', part.refs,
      'report', case when part.part = 0 then ${reportAsJson(principal)} || jsonb_build_object('tlp',
        greatest(report.tlp, ${strictestLink(principal, sql`r.from_id = report.id and r.type = 'refers-to'`)})) end)::text as row
    from part join report on report.id = part.report_id order by report.id, part.part
  `;
}

/** Returns the query of the attributes; one column, `row`, with JSON. */
export function attributeRows(
  db: Db,
  selection: Selection,
  entityIds: readonly string[],
  withOriginalIds: boolean,
) {
  const { principal } = selection;
  const under = visible('relationship', principal, 'r');
  return sql<{ row: string }>`
    with ${withReports(db, selection, withOriginalIds)}
    select (${attributeAsJson(principal)} || jsonb_build_object(
      'reports', coalesce((select jsonb_agg(distinct r.from_id) from relationship as r join reported on reported.id = r.from_id
        where r.to_id = attribute.id and r.type = 'refers-to' and ${under}), '[]'),
      'about', coalesce((select jsonb_agg(distinct jsonb_build_array(chosen.id, chosen.type, chosen.for_detection, chosen.original_ids))
        from relationship as r join chosen on chosen.id = r.to_id
        where r.from_id = attribute.id and r.type = 'refers-to' and ${under}), '[]'),
      'tlp', greatest(attribute.tlp, ${strictestLink(
        principal,
        sql`(r.from_id = attribute.id and r.type = 'refers-to'
        or r.to_id = attribute.id and r.from_id in (select id from reported))`,
      )}),
      'indicates', coalesce((select jsonb_agg(jsonb_build_object('id', link.id, 'tlp', link.tlp) order by link.id) from (
        select r.to_id as id, min(r.tlp) as tlp from relationship as r
        where r.from_id = attribute.id and r.type = 'indicates' and ${under} group by r.to_id) as link), '[]')))::text as row
    from attribute where ${visible('attribute', principal)} and id in ${attributeIds(principal, entityIds)} order by id
  `;
}

/** The members of JSON that hold instants. */
const INSTANTS = new Set(['publishedAt', 'statedAt', 'createdAt', 'modifiedAt', 'lastSeen', 'expiresAt']);

export const parseWithInstants = (row: string): unknown =>
  JSON.parse(row, (key, value) => (INSTANTS.has(key) && typeof value === 'string' ? new Date(value) : value));

type Ref = [id: string, type: IndicatorRef['type'], forDetection: boolean, originalIds: string[]];

const toRef = ([id, type, forDetection, ids]: Ref) => ({ id, type, forDetection, originalIds: ids });

export function parseReportPart(row: string): ExportReportPart {
  const part = parseWithInstants(row) as Omit<ExportReportPart, 'refs'> & { refs: Ref[] };
  return { ...part, refs: part.refs.map(toRef) };
}

export function parseAttribute(row: string): ExportAttribute {
  const attribute = parseWithInstants(row) as Omit<ExportAttribute, 'about'> & { about: Ref[] };
  return { ...attribute, about: attribute.about.map(toRef) };
}
