import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Preparation, prepare, RawRow } from '../../db/database.ts';
import { MAX_PAGE_SIZE, type Parent, parentExists } from '../../db/expressions.ts';
import { type Principal, visible } from '../../db/visibility.ts';
import { searchForms } from '../../model/text.ts';
import { coveredByGrams, gramCtes, gramOf, isListedFor, listedGramCtes, listingOf } from './grams.queries.ts';
import {
  filterOf,
  firstInListOrder,
  type IndicatorFilters,
  type IndicatorRow,
  isStatedBy,
  listedConditions,
  matching,
  otherConditions,
  rowsBefore,
  type Sort,
  type SortedPage,
  sorted,
} from './indicators.queries.ts';
import { LazyRow } from './lazy-row.ts';
import { matchesInOrder } from './list-order.queries.ts';
import {
  coveredByOrder,
  coveredBySegments,
  isCountedSubset,
  NOT_COUNTED,
  subsetOf,
} from './segment-counts.queries.ts';
import { pageOfSegments, segmentCtes } from './segments.queries.ts';
import { countMatches, isCountable } from './summaries.queries.ts';

/**
 * A strategy of reading a page and its total, in one statement and therefore one snapshot. If the result
 * shows that a strategy does not fit, the next one is used.
 * - `segments` scans an index in the list's order from the nearest of the places that were counted before.
 * - `index-order` scans an index in the list's order, from whichever end is nearer.
 * - `listed-gram` materializes the latest matches of a `q` of one or two characters, which are listed, or all if these are few.
 * - `gram` scans the newest indicators until the page is full, for a `q` of one or two characters that many contain; their number was
 *   counted before.
 * - `materialize` materializes all matches by another index, as long as they are few.
 * - `by-others` materializes and sorts all matches, which are found by the filters other than the tag and the source.
 * - `scan-first` scans the first indicators in the order of the page until it is full, for filters with many matches.
 * - `sorted` materializes and sorts all matches, however many.
 */
export type Strategy =
  | 'segments'
  | 'listed-gram'
  | 'gram'
  | 'index-order'
  | 'materialize'
  | 'by-others'
  | 'scan-first'
  | 'sorted';

/** The columns of `IndicatorRow`, by its names. */
const COLUMNS = sql`indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev`;

/** The row of an id of a page. Joined otherwise, the planner reads all rows where they are few beside the largest page. */
const ROW_OF_SHOWN = sql`(select * from indicator where indicator.id = shown.id offset 0) as indicator`;

/** Limits of the strategies, as numbers of indicators. */
export interface Bounds {
  /** The maximum number of matches to materialize; with more, a scan until the page is full is faster. */
  materialize: number;
  /** The maximum number of a source's matches to materialize before a scan is tried: all statements of the source are read for them. */
  materializeStated: number;
  /** The maximum number of indicators that `scan-first` reads before the next strategy is used. */
  scanFirst: number;
  /** The same in other orders than the default one, and where `materialize` follows. */
  scanFirstSorted: number;
  /** The offset from which on a page is read from a counted segment or from the nearer end of the index. */
  deep: number;
  /** The maximum number of rows by which the counts of segments are corrected. */
  changes: number;
  /** An indicator of a range of the first sighting takes as long to be read as so many that are read by another index. */
  inRange: number;
}
export const BOUNDS: Bounds = {
  materialize: 10_000,
  materializeStated: 1_000,
  scanFirst: 200_000,
  scanFirstSorted: 20_000,
  deep: 2_000,
  changes: 20_000,
  inRange: 2,
};
/** The minimum length of `q` for the trigram index: a shorter text contains no trigram. */
const TRIGRAM = 3;

/** The query of a page; `visibility` replaces the visibility predicate of the API. */
export interface PageQuery {
  principal: Principal;
  filters: IndicatorFilters;
  page: SortedPage;
  visibility?: RawBuilder<SqlBool> | undefined;
  /** Few indicators meet the filters other than the tag and the source. */
  isRare?: boolean;
  /** The number of matches, if it was counted in the same snapshot. */
  total?: number;
}

/** A page and the total of the matches. `first`: the additional columns of the first row, which exists even if the page is empty. */
export interface ListPage<More> {
  total: number;
  rows: (IndicatorRow & More)[];
  first: More;
}

/** A row of a page with the additional columns; a null id: the page is empty, and the row has only the total. */
type PageRow<More> = { total: number } & (({ id: null } & More) | (IndicatorRow & More));

/**
 * Returns a page of the list and the total of the matches, from one snapshot.
 * @param more additional columns
 * @param parseRaw parses raw rows, which the statement may return only if this is given
 * @param only the strategy; without it the page decides
 */
export async function readPage<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds = BOUNDS,
  parseRaw?: (row: RawRow) => PageRow<More>,
  only?: Strategy,
): Promise<ListPage<More>> {
  const possible = only ? [only] : await possibleStrategies(db, of, bounds);
  const isFewFirst = possible[0] === 'scan-first' && possible[1] === 'materialize';
  const within = isFewFirst ? { ...bounds, scanFirst: bounds.scanFirstSorted } : bounds;
  let hasScanned = false;
  for (const strategy of possible) {
    if (strategy === 'scan-first' && hasScanned) continue;
    const query = pageQuery(db, of, strategy, more, within).compile(db);
    const preparation = preparationOf(of, strategy, parseRaw !== undefined);
    const { rows: given } = await db.executeQuery(preparation ? prepare(query, preparation) : query);
    const rows = given.map((row) => (parseRaw && row instanceof RawRow ? parseRaw(row) : row));
    const [first] = rows;
    if (!first) throw new Error('the statement of the page returned no row');
    const found = rows.filter((row): row is typeof row & IndicatorRow => row.id !== null);
    if (strategy === possible.at(-1) || isWhole(strategy, of.page, first.total, found.length, bounds))
      return { total: first.total, rows: found, first };
    hasScanned = strategy === 'gram' && first.total !== NOT_COUNTED;
  }
  throw new Error('no list strategy fits this page');
}

interface IndicatorPage {
  total: number;
  rows: IndicatorRow[];
  revision: number;
  validUntil: Date | null;
}

/**
 * Returns a page of the list, newest sighting first, the total of the matches, the revision of their snapshot,
 * and the time until which they are valid.
 */
export async function listIndicators(
  db: Db,
  principal: Principal,
  filters: IndicatorFilters,
  page: SortedPage,
): Promise<IndicatorPage> {
  const { total, rows, first } = await readPage(
    db,
    { principal, filters, page },
    stateOf(principal),
    BOUNDS,
    parseRow,
  );
  return { total, rows, revision: first.revision, validUntil: first.valid_until };
}

/**
 * Returns the same of the indicators that are linked to an actor or campaign; undefined: the principal sees none with this id.
 */
export async function listLinkedIndicators(
  db: Db,
  principal: Principal,
  parent: Parent,
  given: IndicatorFilters,
  page: SortedPage,
): Promise<IndicatorPage | undefined> {
  const filters = { ...given, ...filterOf(parent) };
  const state = sql<
    State & { has_parent: boolean }
  >`${stateOf(principal)}, ${parentExists(parent, principal)} as has_parent`;
  const { total, rows, first } = await readPage(db, { principal, filters, page }, state);
  return first.has_parent
    ? { total, rows, revision: first.revision, validUntil: first.valid_until }
    : undefined;
}

/** The revision of a page's snapshot, and the time until which the page is valid at that revision. */
interface State {
  revision: number;
  valid_until: Date | null;
}

const stateOf = (principal: Principal) =>
  sql<State>`(select value from revision) as revision, ${nextExpiry(principal)} as valid_until`;

const parseRow = (row: RawRow) => new LazyRow(row) as PageRow<State>;

/** Returns the earliest expiry of all visible indicators: until then no response changes by time alone. */
function nextExpiry(principal: Principal) {
  return sql`(select min(expires_at) from indicator
    where ${visible('indicator', principal)} and expires_at > ${principal.now}::timestamptz)`;
}

/** Returns whether the page is best read from segments, if they count its matches. */
function isForSegments({ filters, page, visibility }: Omit<PageQuery, 'principal'>, bounds: Bounds): boolean {
  const isDeep = rowsBefore(page) >= bounds.deep;
  const canUse = !visibility && !page.sort && coveredBySegments(filters);
  return canUse && (isDeep || filters.since !== undefined || !isCountable({ ...filters, since: undefined }));
}

function strategies({ filters, page, visibility }: PageQuery, bounds: Bounds): [Strategy, ...Strategy[]] {
  const { q, tag, actorId, campaignId, reportId, sourceId, pinned, createdSince, expiresBefore } = filters;
  const { exploited, minEpss } = filters;
  const indexed = [
    exploited || undefined,
    minEpss,
    tag,
    actorId,
    campaignId,
    reportId,
    sourceId,
    pinned,
    createdSince,
    expiresBefore,
  ];
  const byOthers = indexed.some((filter) => filter !== undefined);
  if (!byOthers && q === undefined) {
    return isForSegments({ filters, page, visibility }, bounds)
      ? ['segments', 'index-order']
      : // In the order of another column, the planner would look for rows since a time where there are none.
        [page.sort && filters.since !== undefined ? 'sorted' : 'index-order'];
  }
  if (visibility) return ['sorted'];
  const isInIndexedOrder = !page.sort || (isOfTime(page.sort.by) && isCountable(filters));
  const canScanFirst = isInIndexedOrder && rowsBefore(page) < bounds.materialize;
  const canMaterialize =
    byOthers || (q !== undefined && searchForms(q).every((form) => form.length >= TRIGRAM));
  return [
    ...(canMaterialize ? (['materialize'] as const) : []),
    ...(canScanFirst ? (['scan-first'] as const) : []),
    'sorted',
  ] as [Strategy, ...Strategy[]];
}

/** Returns whether an index has the order. */
const isOfTime = (by: Sort) => by === 'firstSeen' || by === 'lastSeen';

/** Returns the strategies to try, in this order. */
async function possibleStrategies(db: Db, of: PageQuery, bounds: Bounds): Promise<Strategy[]> {
  const subset = subsetOf(of.filters);
  if (subset && isForSegments(of, bounds) && (await isCountedSubset(db, subset)))
    return ['segments', ...strategies(of, bounds)];
  const gram = of.visibility ? undefined : gramOf(of.filters);
  const possible = await orderedByTotal(db, of, strategies(of, bounds), bounds);
  if (gram === undefined) return possible;
  const listing = await listingOf(db, gram);
  if (listing === 'all') return ['listed-gram', ...possible];
  if (!coveredByGrams(of.filters) || !possible.includes('scan-first')) return possible;
  return listing === 'latest' ? ['listed-gram', 'gram', ...possible] : ['gram', ...possible];
}

/**
 * Returns the strategies without `materialize`, or with it after `scan-first`, if summaries count too many matches for it. The total of the
 * page comes from the statement of the page, and has its snapshot.
 */
async function orderedByTotal(
  db: Db,
  { principal, filters, visibility }: PageQuery,
  possible: [Strategy, ...Strategy[]],
  bounds: Bounds,
): Promise<Strategy[]> {
  if (possible[0] !== 'materialize' || possible.length === 1 || visibility || !isCountable(filters))
    return possible;
  const query = countMatches(principal, filters).compile(db);
  const prepared = prepare(query, { name: 'indicator_totals', plan: 'generic' });
  const { rows } = await db.executeQuery<{ total: number }>(prepared);
  const total = rows[0]?.total ?? 0;
  if (total > bounds.materialize) return possible.slice(1);
  const isLate = filters.sourceId !== undefined && total > bounds.materializeStated;
  return isLate && possible.includes('scan-first') ? ['scan-first', 'materialize', 'sorted'] : possible;
}

function isWhole(
  strategy: Strategy,
  page: SortedPage,
  total: number,
  found: number,
  bounds: Bounds,
): boolean {
  if (strategy === 'segments') return total !== NOT_COUNTED;
  if (total === NOT_COUNTED) return false;
  if (strategy === 'materialize') return total <= bounds.materialize;
  return found === Math.max(0, Math.min(page.pageSize, total - rowsBefore(page)));
}

/**
 * Returns the statement of a page. It finds the page by ids and reads only the rows of these; past the end of
 * the list it returns one row with only the total.
 */
function pageQuery<More>(db: Db, of: PageQuery, strategy: Strategy, more: RawBuilder<More>, bounds: Bounds) {
  const { principal, filters, page, isRare } = of;
  const shown =
    strategy === 'segments'
      ? pageOfSegments(principal, filters, page, isRare)
      : shownOf(of, strategy, bounds);
  return sql<PageRow<More>>`
    with ${sql.join(ctes(db, of, strategy, bounds))}, shown as (${shown})
    select counted.total, ${COLUMNS}, ${more}
    from counted left join shown on true
      left join lateral ${ROW_OF_SHOWN} on true left join source on source.id = indicator.source_id
    order by ${sorted(page)}`;
}

/** Reads the rows of a page by their ids. */
export async function rowsOf<More>(
  db: Db,
  shown: RawBuilder<unknown>,
  page: SortedPage,
  more: RawBuilder<More>,
): Promise<(IndicatorRow & More)[]> {
  const { rows } = await sql<IndicatorRow & More>`
    select ${COLUMNS}, ${more} from (${shown}) as shown
      cross join lateral ${ROW_OF_SHOWN} join source on source.id = indicator.source_id
    order by ${sorted(page)}`.execute(db);
  return rows;
}

/**
 * Returns how to prepare the statement of a page; undefined: it is not prepared. Only pages in the default
 * order that an index in that order or the index of tags serves are prepared: they have few different
 * statements. The best plan depends on the parameters only for `since` without segments, by the number of newer indicators, and
 * for a tag, by how far the list is scanned until the page is full.
 */
function preparationOf(
  { filters, page, visibility }: PageQuery,
  strategy: Strategy,
  isRaw: boolean,
): Preparation | undefined {
  const { type, types, severity, minConfidence, confidence, forDetection, since, tag, ...others } = filters;
  const isNone = (values: unknown[]) => values.every((value) => value === undefined);
  const isListed =
    tag === undefined || isNone([type, types, severity, minConfidence, confidence, forDetection, since]);
  if (visibility || page.sort || !isNone(Object.values(others)) || !isListed) return undefined;
  const isGeneric = tag === undefined && (strategy === 'segments' || (isRaw && since === undefined));
  return { name: 'indicators', plan: isGeneric ? 'generic' : 'custom', isRaw };
}

/** Returns the common table expressions of the matches and of their total, in the order of their dependence. */
function ctes(
  db: Db,
  { principal, filters, page, visibility, isRare, total }: PageQuery,
  strategy: Strategy,
  bounds: Bounds,
): RawBuilder<unknown>[] {
  const isSummed = isCountable(filters) && !visibility;
  const { confidence } = filters;
  // Those of the value are read by its index, not all of the tag or all statements of the source.
  const isByConfidence =
    isRare === true && confidence !== undefined && subsetOf(filters) !== undefined && coveredByOrder(filters);
  const { tag, sourceId, ...others } = filters;
  const isByOthers = strategy === 'by-others';
  const indexed = isByConfidence ? { confidence } : isByOthers ? others : filters;
  // Those that the index does not serve.
  const tested = isByConfidence ? filters : isByOthers ? { tag, sourceId } : {};
  const matches = matching(db, principal, indexed, visibility)
    .$if(isByConfidence || isByOthers, (query) =>
      query.where(sql<SqlBool>`${sql.join([sql`true`, ...matchesInOrder(principal, tested)], sql` and `)}`),
    )
    .select(['indicator.id', 'indicator.last_seen'])
    // Without these columns an index-only scan is possible.
    .$if(page.sort !== undefined, (query) =>
      query.select(['indicator.first_seen', 'indicator.confidence', 'indicator.severity', 'indicator.epss']),
    );
  const counted = sql`counted as (${
    isSummed ? countMatches(principal, filters) : sql`select count(*)::bigint as total from matched`
  })`;
  switch (strategy) {
    case 'segments':
      return segmentCtes(principal, filters, page, bounds, total);
    case 'gram':
      return [
        ...gramCtes(principal, gramOf(filters) ?? '', bounds.changes),
        sql`near as not materialized (${nearest({ principal, filters, page }, bounds)})`,
      ];
    case 'listed-gram': {
      const gram = gramOf(filters) ?? '';
      const [usable = sql``, counted = sql``] = (coveredByGrams(filters) ? gramCtes : listedGramCtes)(
        principal,
        gram,
        bounds.changes,
      );
      const listed = matches.where(isListedFor(principal, gram, bounds.changes));
      return [usable, sql`matched as materialized (${listed})`, counted];
    }
    case 'index-order':
      return isSummed && !page.sort ? [counted] : [sql`matched as not materialized (${matches})`, counted];
    case 'materialize':
      return isSummed
        ? [
            counted,
            sql`matched as materialized (${matches.where(sql<SqlBool>`(select total from counted) <= ${bounds.materialize}`)})`,
          ]
        : [sql`matched as materialized (${matches.limit(bounds.materialize + 1)})`, counted];
    case 'scan-first':
      return [
        sql`matched as not materialized (${matches})`,
        counted,
        sql`near as not materialized (${nearest({ principal, filters, page, visibility }, bounds)})`,
      ];
    case 'by-others':
    case 'sorted':
      return [sql`matched as materialized (${matches})`, counted];
  }
}

/** Returns the matches among the first indicators in the order of the page. */
function nearest(
  { principal, filters, page, visibility = visible('indicator', principal) }: PageQuery,
  bounds: Bounds,
) {
  const first = firstInListOrder(page.sort ? {} : filters, {
    conditions: [visibility, ...listedConditions(filters)],
    columns: sql`*`,
    order: sorted(page),
    limit: sql.lit(page.sort ? bounds.scanFirstSorted : bounds.scanFirst),
  });
  const { sourceId, ...others } = filters;
  const conditions = [
    sql`true`,
    ...otherConditions(others, principal),
    ...(sourceId ? [isStatedBy(sourceId, principal)] : []),
  ];
  return sql`select id, last_seen, first_seen, confidence, severity, epss from (${first}
    ) as indicator where ${sql.join(conditions, sql` and `)}`;
}

/**
 * Returns the query of a page's ids, in order. The page size is a parameter, so that pages of all sizes share
 * one statement; the literal limit tells the planner how few rows are read.
 */
function shownOf({ principal, filters, page, visibility }: PageQuery, strategy: Strategy, { deep }: Bounds) {
  const [size, before] = [page.pageSize, rowsBefore(page)];
  const isInPlace = strategy === 'index-order' && !page.sort;
  const from = sql.raw(strategy === 'scan-first' || strategy === 'gram' ? 'near' : 'matched');
  const conditions = [
    visibility ?? visible('indicator', principal),
    ...listedConditions(filters),
    ...otherConditions(filters, principal),
  ];
  // The lists of each type and severity have no whitelisted indicators.
  const kinds = visibility ? {} : filters;
  const first = (order: RawBuilder<unknown>, limit: RawBuilder<unknown>) =>
    isInPlace
      ? firstInListOrder(kinds, { conditions, columns: sql`id, last_seen`, order, limit })
      : sql`select * from ${from} as indicator order by ${order} limit ${limit}`;
  const order = sorted(page);
  if (before === 0 || (isInPlace && before < deep)) {
    const nearby = first(order, sql.lit(before === 0 ? MAX_PAGE_SIZE : deep + MAX_PAGE_SIZE));
    return sql`select * from (${nearby}) as indicator order by ${order} limit ${size} offset ${before}`;
  }
  if (!isInPlace)
    return sql`select * from ${from} as indicator order by ${order} limit ${size} offset ${before}`;
  const isNearer = sql`${before} <= (select total from counted) / 2`;
  const after = sql`(select total from counted) - ${before}`;
  const forward = first(order, sql`case when ${isNearer} then ${before + size}::bigint else 0 end`);
  const backward = first(
    sql`last_seen, id desc`,
    sql`case when ${isNearer} then 0 else greatest(0, ${after}) end`,
  );
  const either = sql`
    (select * from (${forward}) as indicator offset ${before})
    union all
    (select * from (${backward}) as indicator offset greatest(0, ${after} - ${size}))`;
  return sql`select * from (${either}) as indicator limit ${sql.lit(MAX_PAGE_SIZE)}`;
}
