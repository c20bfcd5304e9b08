import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { batchLoader } from '../../db/batch-loader.ts';
import type { Db } from '../../db/database.ts';
import type { PageRequest, Parent } from '../../db/expressions.ts';
import {
  actorActive,
  campaignStatus,
  caseInsensitive,
  likeContains,
  linkedFrom,
  linkedTo,
} from '../../db/expressions.ts';
import { type Principal, visible, visibleToAnalyst } from '../../db/visibility.ts';
import type { LimitOrder } from '../../formats/format.ts';
import type { Instant } from '../../model/dates.ts';
import { searchForms, searchText } from '../../model/text.ts';
import {
  INDICATOR_TYPES,
  type IndicatorType,
  SEVERITIES,
  type Severity,
  type Tlp,
} from '../../model/vocabulary.ts';
import type { Epss, Kev } from '../../model/vulnerability.ts';

export interface IndicatorFilters {
  q?: string;
  type?: IndicatorType;
  /** Any of these. */
  types?: readonly IndicatorType[] | undefined;
  severity?: Severity;
  tag?: string;
  actorId?: string;
  campaignId?: string;
  minConfidence?: number;
  /** Exactly this. */
  confidence?: number;
  /** Whether they may be used in rules and block lists. */
  forDetection?: boolean;
  /** Whether CISA's catalogue of known exploited vulnerabilities has it. */
  exploited?: boolean;
  /** An EPSS score of at least this, 0 to 1. */
  minEpss?: number;
  /** ISO 8601. */
  since?: string;
  /** Only these. */
  ids?: string[];
  /** A report that refers to it. */
  reportId?: string;
  /** A source that has a statement about it. */
  sourceId?: string;
  /** Only indicators whose confidence an analyst has pinned. */
  pinned?: true;
  /** Created at or after this time; ISO 8601. */
  createdSince?: string;
  /** Expires at or before this time; ISO 8601. */
  expiresBefore?: string;
}

/** The filter of the indicators that are linked to an actor or campaign. */
export const filterNameOf = (kind: Parent['kind']) => (kind === 'actor' ? 'actorId' : 'campaignId');

export const filterOf = ({ kind, id }: Parent): IndicatorFilters => ({ [filterNameOf(kind)]: id });

/** The sort keys of a list. Ties are in the list's default order. */
export const SORTS = ['lastSeen', 'firstSeen', 'confidence', 'severity', 'epss'] as const;
export type Sort = (typeof SORTS)[number];

/** The EPSS score. Must equal the expression of its index. */
const EPSS_SCORE = sql`(indicator.epss ->> 'score')::double precision`;

const SORT_COLUMNS = {
  lastSeen: sql`indicator.last_seen`,
  firstSeen: sql`indicator.first_seen`,
  confidence: sql`indicator.confidence`,
  severity: sql`indicator.severity`,
  epss: EPSS_SCORE,
} as const satisfies Record<Sort, RawBuilder<unknown>>;

/** A page with its sort; without one it is in the list's default order, the newest sighting first. */
export interface SortedPage extends PageRequest {
  sort?: { by: Sort; ascending: boolean };
  /** The number of rows before it, if that is not the one of so many pages of its size. */
  before?: number;
}

/** Returns the number of rows before a page. */
export const rowsBefore = ({ before, page, pageSize }: SortedPage) => before ?? (page - 1) * pageSize;

export interface IndicatorRow {
  id: string;
  type: IndicatorType;
  value: string;
  confidence: number;
  severity: Severity;
  tlp: Tlp;
  tags: string[];
  source: string | null;
  first_seen: Instant;
  last_seen: Instant;
  expires_at: Instant | null;
  for_detection: boolean;
  epss: Epss | null;
  kev: Kev | null;
}

/** The columns of `IndicatorRow`. */
export const INDICATOR_COLUMNS = [
  'indicator.id',
  'indicator.type',
  'indicator.value',
  'indicator.confidence',
  'indicator.severity',
  'indicator.tlp',
  'indicator.tags',
  'source.name as source',
  'indicator.first_seen',
  'indicator.last_seen',
  'indicator.expires_at',
  'indicator.for_detection',
  'indicator.epss',
  'indicator.kev',
] as const;

/**
 * Returns the query of all indicators that are visible to the principal and match all filters.
 * @param visibility replaces the visibility predicate of the API
 */
export function matching(
  db: Db,
  principal: Principal,
  filters: IndicatorFilters,
  visibility = visible('indicator', principal),
) {
  const conditions = [
    visibility,
    ...listedConditions(filters),
    ...ofAnyKind(filters),
    ...otherConditions(filters, principal),
  ];
  return conditions.reduce((query, condition) => query.where(condition), db.selectFrom('indicator'));
}

/** Returns a condition that all matches meet, with which the index by type, severity and time finds them. */
function ofAnyKind({ type, severity, since }: IndicatorFilters): RawBuilder<SqlBool>[] {
  if (severity && !type)
    return [sql`indicator.type = any (${sql.lit(`{${INDICATOR_TYPES}}`)}::indicator_type[])`];
  return type && !severity && since !== undefined
    ? [sql`indicator.severity = any (${sql.lit(`{${SEVERITIES}}`)}::severity[])`]
    : [];
}

/** Returns the conditions on columns that the indexes in the list's order have. */
export function listedConditions(filters: IndicatorFilters) {
  const { type, types, severity, minConfidence, confidence, forDetection, since } = filters;
  const conditions = [
    type && sql<SqlBool>`indicator.type = ${type}`,
    types && sql<SqlBool>`indicator.type = any (${types}::text[]::indicator_type[])`,
    severity && sql<SqlBool>`indicator.severity = ${severity}`,
    minConfidence !== undefined && sql<SqlBool>`indicator.confidence >= ${minConfidence}`,
    confidence !== undefined && sql<SqlBool>`indicator.confidence = ${confidence}`,
    // Not a parameter, so that the partial index of those that are not for detection serves it.
    forDetection !== undefined &&
      (forDetection ? sql<SqlBool>`indicator.for_detection` : sql<SqlBool>`not indicator.for_detection`),
    since && sql<SqlBool>`indicator.last_seen >= ${since}::timestamptz`,
  ];
  return conditions.filter((condition) => typeof condition === 'object');
}

type Kinds = Pick<IndicatorFilters, 'type' | 'types' | 'severity' | 'forDetection'>;

/**
 * Returns the query of the first indicators, in one of the list's orders, that meet the conditions. It reads indexes in the list's order:
 * those of a type or a severity are merged from the lists of each type and severity.
 * `conditions` contain those of the filters; `order` is that of the list, the reverse, or that of indicators with one time.
 */
export function firstInListOrder(
  filters: Kinds,
  {
    conditions,
    columns,
    order,
    limit,
  }: Record<'columns' | 'order' | 'limit', RawBuilder<unknown>> & {
    conditions: readonly RawBuilder<unknown>[];
  },
): RawBuilder<unknown> {
  const inOrder = sql`order by ${order} limit ${limit}`;
  const parts = kindsOf(filters).map((kind) => {
    const where = sql.join([...conditions, ...kind], sql` and `);
    // Each part has the order and the limit: the planner does not give it those of the whole.
    return sql`(select ${columns} from indicator where ${where} ${inOrder})`;
  });
  return parts.length > 1
    ? sql`select * from (${sql.join(parts, sql` union all `)}) as indicator ${inOrder}`
    : sql.join(parts);
}

/** Returns the conditions that divide the matches by type and severity; one part: an index has the matches in order. */
function kindsOf({ type, types, severity, forDetection }: Kinds) {
  // Those that are not for detection have a list of their own.
  if (forDetection === false) return [[]];
  if (type && !severity) return SEVERITIES.map((each) => [sql`indicator.severity = ${sql.lit(each)}`]);
  if (type || !severity) return [[]];
  return INDICATOR_TYPES.map((each) => [
    sql`indicator.type = ${sql.lit(each)}`,
    // Read only if asked for.
    ...(types ? [sql`${sql.lit(each)} = any (${types}::text[])`] : []),
  ]);
}

/** Returns the conditions that other indexes serve, if any. */
export function otherConditions(
  filters: IndicatorFilters,
  principal: Principal,
  links: LinkTables = CURRENT_LINKS,
) {
  const { exploited, minEpss } = filters;
  const { q, tag, actorId, campaignId, sourceId, pinned, createdSince, expiresBefore, reportId, ids } =
    filters;
  const conditions = [
    ids && sql<SqlBool>`indicator.id = any(${ids}::text[]::uuid[])`,
    tag && sql<SqlBool>`indicator.tags @> array[${tag}]::text[]`,
    q && contains(q),
    actorId && indicatorsOf('actor', actorId, principal, links),
    campaignId && indicatorsOf('campaign', campaignId, principal, links),
    reportId && reportedIn(reportId, principal),
    sourceId && statedBy(sourceId, principal),
    pinned && sql<SqlBool>`indicator.pinned_confidence is not null`,
    createdSince && sql<SqlBool>`indicator.created_at >= ${createdSince}::timestamptz`,
    // Parts of the condition are those of the partial index.
    exploited !== undefined &&
      (exploited ? sql<SqlBool>`indicator.kev is not null` : sql<SqlBool>`indicator.kev is null`),
    minEpss !== undefined && sql<SqlBool>`(indicator.type = 'CVE' and ${EPSS_SCORE} >= ${minEpss})`,
    expiresBefore && sql<SqlBool>`indicator.expires_at <= ${expiresBefore}::timestamptz`,
  ];
  return conditions.filter((condition) => typeof condition === 'object');
}

/** Returns the condition of a search in any of its forms. The expression must equal that of the trigram index. */
function contains(q: string) {
  const likes = searchForms(q).map(
    (form) =>
      sql`coalesce(indicator.search_text, indicator.normalized) like ${likeContains(searchText(form))}`,
  );
  return sql<SqlBool>`(${sql.join(likes, sql` or `)})`;
}

/** The sources of links of indicators and of their entities: the tables, or their state at an earlier revision. */
export interface LinkTables {
  /** @param to the id of the entity */
  relationship(to: string): RawBuilder<unknown>;
  entity(kind: 'actor' | 'campaign', id: string): RawBuilder<unknown>;
}

const CURRENT_LINKS: LinkTables = {
  relationship: () => sql.table('relationship'),
  entity: (kind) => sql.table(kind),
};

function indicatorsOf(kind: 'actor' | 'campaign', id: string, principal: Principal, links: LinkTables) {
  return sql<SqlBool>`indicator.id in (
    select r.from_id from ${links.relationship(id)} as r join ${links.entity(kind, id)} as ${sql.ref(kind)}
      on ${sql.ref(`${kind}.id`)} = r.to_id
    where r.to_id = ${id} and r.to_kind = ${kind} and r.from_kind = 'indicator'
      and ${visible('relationship', principal, 'r')} and ${visible(kind, principal)})`;
}

function reportedIn(id: string, principal: Principal) {
  return sql<SqlBool>`indicator.id in (
    select r.to_id from relationship as r join report on report.id = r.from_id
    where r.from_id = ${id} and r.from_kind = 'report' and r.to_kind = 'indicator'
      and ${visible('relationship', principal, 'r')} and ${visible('report', principal)})`;
}

/** Returns the condition that a source has a statement that is visible to the principal. */
function statedBy(sourceId: string, principal: Principal) {
  // Both sides of a merge join by number begin at the first statement of the source, not at those of all that were imported before. A
  // range of one source instead of an equation: for the order alone PostgreSQL would read the index by number from its beginning.
  const first = sql`(
    select own.indicator_number from indicator_source as own
    where own.source_id between ${sourceId} and ${sourceId} and ${visible('indicator_source', principal, 'own')}
    order by own.source_id, own.indicator_number limit 1)`;
  return sql<SqlBool>`(indicator.number >= ${first} and indicator.number in (
    select said.indicator_number from indicator_source as said
    where said.source_id = ${sourceId} and said.indicator_number >= ${first}
      and ${visible('indicator_source', principal, 'said')}))`;
}

/** Returns the same condition as a look-up for each indicator: with `offset 0` the planner does not join all statements of the source. */
export function isStatedBy(sourceId: string, principal: Principal) {
  return sql<SqlBool>`exists (select from indicator_source as said where said.indicator_number = indicator.number
    and said.source_id = ${sourceId}::uuid and ${visible('indicator_source', principal, 'said')} offset 0)`;
}

/** Returns the ORDER BY expressions of a page. */
export function sorted({ sort }: Pick<SortedPage, 'sort'>) {
  const own = sql`indicator.last_seen desc, indicator.id`;
  if (!sort) return own;
  const direction = sql.raw(sort.ascending ? 'asc' : 'desc');
  const last = sql.raw(sort.by === 'epss' ? ' nulls last' : '');
  return sql`${SORT_COLUMNS[sort.by]} ${direction}${last}, ${own}`;
}

/** Returns the ORDER BY expressions by which a limit selects; among equals, the newest sighting comes first. */
export const sortedBy = (order: LimitOrder) =>
  sorted(order === 'confidence' ? { sort: { by: 'confidence', ascending: false } } : {});

export const findIndicator = batchLoader('indicator', (db, principal, whereIdIn) =>
  db
    .selectFrom('indicator')
    .innerJoin('source', 'source.id', 'indicator.source_id')
    .select(INDICATOR_COLUMNS)
    .select('indicator.whitelisted_parts')
    .where(whereIdIn('indicator.id'))
    .where(visible('indicator', principal)),
);

/** Returns the lengths of the prefixes of networks, by type. */
export async function findPrefixLengths(db: Db): Promise<Map<IndicatorType, number[]>> {
  const rows = await db.selectFrom('network_prefix').selectAll().orderBy('length', 'desc').execute();
  const lengths = new Map<IndicatorType, number[]>();
  for (const { type, length } of rows) lengths.set(type, [...(lengths.get(type) ?? []), length]);
  return lengths;
}

/** Returns the identity of an indicator for an analyst, who may also act on whitelisted and expired ones. */
export async function findForAnalyst(
  db: Db,
  principal: Principal,
  id: string,
): Promise<{ id: string; type: IndicatorType; normalized: string } | undefined> {
  return db
    .selectFrom('indicator')
    .select(['id', 'type', 'normalized'])
    .where('id', '=', id)
    .where(visibleToAnalyst('indicator', principal))
    .executeTakeFirst();
}

/** Reads an indicator with all visible objects linked to it, in one statement and therefore one snapshot. */
export const findContext = batchLoader('context', (db, principal, among) =>
  contextOf(db, principal).where(among('indicator.id')).where(visible('indicator', principal)),
);

/** Reads the same for analysts, who also see whitelisted and expired indicators. */
export const findContextForAnalyst = batchLoader('context_for_analyst', (db, principal, among) =>
  contextOf(db, principal).where(among('indicator.id')).where(visibleToAnalyst('indicator', principal)),
);

/** The maximum number of attributes in the context of an indicator. */
const MAX_ATTRIBUTES = 200;

/**
 * Returns the condition that an attribute is a note about the indicator, or part of the same MISP object. Both are
 * looked up by an index, which a disjunction of the two would prevent.
 */
function besideIndicator(principal: Principal) {
  return sql<SqlBool>`(${visible('attribute', principal)} and attribute.id in (
    select r.from_id from relationship as r where r.to_id = indicator.id and r.to_kind = 'indicator'
      and r.from_kind = 'attribute' and ${visible('relationship', principal, 'r')}
    union all
    select part.id from indicator_source as said, jsonb_array_elements(said.records) as record, attribute as part
    where indicator.has_records and said.indicator_number = indicator.number
      and ${visible('indicator_source', principal, 'said')}
      and part.object is not null and part.object ->> 'id' = record -> 'object' ->> 'id'))`;
}

/** Returns the whitelisted parts of a network or domain without those of an operator's entry above the ceiling. */
function partsFor(principal: Principal) {
  return sql<string[] | null>`(
    select array_agg(part order by case when indicator.type = 'DOMAIN' then null else part::inet end, part)
    from unnest(indicator.whitelisted_parts) as part where not ${isRestrictedPart(principal)})`;
}

/** Returns the condition that `part`, a whitelisted part of an indicator, discloses an operator's entry above the ceiling. */
export function isRestrictedPart({ tlpCeiling }: Principal) {
  return sql<SqlBool>`exists (select from whitelist_entry as own where own.tlp > ${tlpCeiling}::tlp and case
    when indicator.type = 'DOMAIN' then own.kind in ('hostname', 'string')
      and regexp_replace(own.entry, '^\\*\\.', '') = regexp_replace(part, '^(=|\\*\\.)', '')
    when own.kind = 'cidr' then own.entry::inet && part::inet
    else false end)`;
}

function contextOf(db: Db, principal: Principal) {
  return db
    .selectFrom('indicator')
    .innerJoin('source', 'source.id', 'indicator.source_id')
    .select(INDICATOR_COLUMNS)
    .select(['indicator.normalized', 'indicator.pinned_confidence', 'source.kind as source_kind'])
    .select(partsFor(principal).as('whitelisted_parts'))
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('enrichment')
          .select(['provider', 'verdict', 'score', 'fetched_at', 'expires_at', 'error', 'raw'])
          .whereRef('enrichment.indicator_id', '=', 'indicator.id')
          .orderBy('provider'),
      ).as('enrichments'),
      jsonArrayFrom(
        eb
          .selectFrom('actor')
          .select(['actor.id', 'actor.name', 'attack_group_id', 'country', 'motivation'])
          .select(['actor.confidence', actorActive(principal.now).as('active')])
          .where(linkedFrom('indicator', 'actor', principal))
          .orderBy(caseInsensitive('actor.name'))
          .orderBy('actor.id'),
      ).as('actors'),
      jsonArrayFrom(
        eb
          .selectFrom('campaign')
          .select(['campaign.id', 'campaign.name', 'campaign.confidence'])
          .select(campaignStatus(principal.now).as('status'))
          .where(linkedFrom('indicator', 'campaign', principal))
          .orderBy(caseInsensitive('campaign.name'))
          .orderBy('campaign.id'),
      ).as('campaigns'),
      jsonArrayFrom(
        eb
          .selectFrom('report')
          .select(['report.id', 'report.title', 'report.published_at', 'report.tlp'])
          .select([
            'report.tags',
            'report.confidence',
            'report.description',
            'report.authors',
            'report.links',
          ])
          .where(linkedTo('indicator', 'report', principal))
          .orderBy('report.published_at', (order) => order.desc().nullsLast())
          .orderBy('report.id'),
      ).as('reports'),
      jsonArrayFrom(
        eb
          .selectFrom('indicator_source as said')
          .innerJoin('source as of', 'of.id', 'said.source_id')
          .select(['of.name as source', 'said.records'])
          .whereRef('said.indicator_number', '=', 'indicator.number')
          .where('indicator.has_records', '=', true)
          .where('said.records', 'is not', null)
          .where(visible('indicator_source', principal, 'said'))
          .orderBy('of.name'),
      ).as('statements'),
      jsonArrayFrom(
        eb
          .selectFrom('attribute')
          .select(['attribute.id', 'attribute.type', 'attribute.value', 'attribute.name'])
          .select(['attribute.description', 'attribute.category', 'attribute.kill_chain_phases'])
          .select(['attribute.object', 'attribute.tlp'])
          .where(besideIndicator(principal))
          .orderBy('attribute.type')
          .orderBy('attribute.id')
          .limit(MAX_ATTRIBUTES),
      ).as('attributes'),
    ]);
}
