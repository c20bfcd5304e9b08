import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { MAX_PAGE_SIZE, type PageRequest } from '../../db/page.ts';
import { parseInstant, parseTextArray, parseTimestamp } from '../../db/postgres/text-formats.ts';
import { type Preparation, prepare, RawRow } from '../../db/prepared-query.ts';
import { type Principal, visible } from '../../db/visibility.ts';
import { searchForms } from '../../model/search-text.ts';
import {
  type IndicatorFilters,
  type IndicatorRow,
  listedConditions,
  matching,
  otherConditions,
  type SortedPage,
  sorted,
} from './indicators.queries.ts';
import { countedFrom, isCounted } from './summaries.queries.ts';

/**
 * How a page and its total are read. Each strategy is one statement and so of one snapshot; if one finds that it does not fit, the
 * next is used.
 * - `index-order`: from an index in the list's order, from whichever end is nearer.
 * - `materialize`: all matches by another index, as long as they are few.
 * - `scan-newest`: the newest of the list until the page is full, for what many match.
 * - `sorted`: all matches, however many.
 */
type Strategy = 'index-order' | 'materialize' | 'scan-newest' | 'sorted';

/** As IndicatorRow names them. */
const SHOWN = sql`indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at`;

/** In indicators. */
interface Bounds {
  /** Most matches that are materialized; with more, scanning the list until the page is full is quicker. */
  materialize: number;
  /** Of the list, before what is looked for turns out not to be among the newest. */
  scanNewest: number;
  /** From here on it is looked at from which end a page is nearer. */
  deep: number;
}
const BOUNDS: Bounds = { materialize: 10_000, scanNewest: 200_000, deep: 2_000 };
/** The trigrams of `q` tell nothing of less. */
const TRIGRAM = 3;

/** What a page is of; `visibility`: which rows may be seen, where that is not what the API returns. */
export interface PageOf {
  principal: Principal;
  filters: IndicatorFilters;
  page: SortedPage;
  visibility?: RawBuilder<SqlBool> | undefined;
}

/** A row of a page, with what was asked for beside. */
type PageRow<More> = { total: number } & (({ id: null } & More) | (IndicatorRow & More));

/**
 * A page of the list and how many match in all, of one snapshot.
 * @param more what is selected beside the indicators' columns
 * @param parseRaw given, rows may be raw ones, which it parses
 * @returns `first`: what `more` is on the first row, which is there even where no indicator is
 */
export async function readPage<More>(
  db: Db,
  of: PageOf,
  more: RawBuilder<More>,
  bounds = BOUNDS,
  parseRaw?: (row: RawRow) => PageRow<More>,
): Promise<{ total: number; rows: (IndicatorRow & More)[]; first: More }> {
  const possible = strategies(of, bounds);
  for (const strategy of possible) {
    const query = pageQuery(db, of, strategy, more, bounds).compile(db);
    const preparation = preparationOf(of, parseRaw !== undefined);
    const { rows: given } = await db.executeQuery(preparation ? prepare(query, preparation) : query);
    const rows = given.map((row) => (parseRaw && row instanceof RawRow ? parseRaw(row) : row));
    const [first] = rows;
    if (!first) throw new Error('the total is missing');
    const found = rows.filter((row): row is typeof row & IndicatorRow => row.id !== null);
    if (strategy === possible.at(-1) || isWhole(strategy, of.page, first.total, found.length, bounds))
      return { total: first.total, rows: found, first };
  }
  throw new Error('there is no strategy for this page');
}

/** A page of the list, newest sighting first, how many match in all, and what that is the state of. */
export async function listIndicators(
  db: Db,
  principal: Principal,
  filters: IndicatorFilters,
  page: PageRequest,
): Promise<{ total: number; rows: IndicatorRow[]; revision: number; validUntil: Date | null }> {
  const state = sql<State>`(select value from revision) as revision, ${nextExpiry(principal)} as valid_until`;
  const { total, rows, first } = await readPage(db, { principal, filters, page }, state, BOUNDS, parseRow);
  return { total, rows, revision: first.revision, validUntil: first.valid_until };
}

/** What a page is of. */
interface State {
  revision: number;
  valid_until: Date | null;
}

/** A row of `pageQuery` whose columns are parsed when they are read. */
class LazyRow {
  readonly #row: RawRow;
  constructor(row: RawRow) {
    this.#row = row;
  }
  get total() {
    return Number(this.#row.text('total'));
  }
  get id() {
    return this.#row.text('id');
  }
  get type() {
    return this.#row.text('type');
  }
  get value() {
    return this.#row.text('value');
  }
  get confidence() {
    return Number(this.#row.text('confidence'));
  }
  get severity() {
    return this.#row.text('severity');
  }
  get tlp() {
    return this.#row.text('tlp');
  }
  get tags() {
    return parseTextArray(String(this.#row.text('tags')));
  }
  get source() {
    return this.#row.text('source');
  }
  get first_seen() {
    return parseInstant(String(this.#row.text('first_seen')));
  }
  get last_seen() {
    return parseInstant(String(this.#row.text('last_seen')));
  }
  get expires_at() {
    const text = this.#row.text('expires_at');
    return text ? parseInstant(text) : null;
  }
  get revision() {
    return Number(this.#row.text('revision'));
  }
  get valid_until() {
    const text = this.#row.text('valid_until');
    return text ? parseTimestamp(text) : null;
  }
}

const parseRow = (row: RawRow) => new LazyRow(row) as PageRow<State>;

/** When the next of all that are visible expires: until then nothing changes by time alone. */
function nextExpiry(principal: Principal) {
  return sql`(select min(expires_at) from indicator
    where ${visible('indicator', principal)} and expires_at > ${principal.now}::timestamptz)`;
}

function strategies({ filters, page, visibility }: PageOf, bounds: Bounds): [Strategy, ...Strategy[]] {
  const { q, tag, actorId, campaignId, reportId, sourceId, pinned, createdSince, expiresBefore } = filters;
  const indexed = [tag, actorId, campaignId, reportId, sourceId, pinned, createdSince, expiresBefore];
  const byOthers = indexed.some((filter) => filter !== undefined);
  if (!byOthers && q === undefined) return ['index-order'];
  if (visibility) return ['sorted'];
  const canWalk = !page.sort && (page.page - 1) * page.pageSize < bounds.materialize;
  const gathers = byOthers || (q !== undefined && searchForms(q).every((form) => form.length >= TRIGRAM));
  return [
    ...(gathers ? (['materialize'] as const) : []),
    ...(canWalk ? (['scan-newest'] as const) : []),
    'sorted',
  ] as [Strategy, ...Strategy[]];
}

function isWhole(
  strategy: Strategy,
  { page, pageSize }: PageRequest,
  total: number,
  found: number,
  bounds: Bounds,
): boolean {
  if (strategy === 'materialize') return total <= bounds.materialize;
  return found === Math.max(0, Math.min(pageSize, total - (page - 1) * pageSize));
}

/** The page is found by ids alone, and only its rows are read; past the end there is one row that holds the total alone. */
function pageQuery<More>(db: Db, of: PageOf, strategy: Strategy, more: RawBuilder<More>, bounds: Bounds) {
  return sql<PageRow<More>>`
    with ${sql.join(ctes(db, of, strategy, bounds))}, shown as (${shownOf(of, strategy, bounds)})
    select counted.total, ${SHOWN}, ${more}
    from counted left join shown on true
      left join indicator on indicator.id = shown.id left join source on source.id = indicator.source_id
    order by ${sorted(of.page)}`;
}

/**
 * Pages that an index in the list's order answers, or that of tags, are prepared: their text depends on little, so that they are few.
 * Their plan is the same for any parameters unless it depends on how much is newer than an instant, or on how far the list is read
 * until a page of a tag is full.
 */
function preparationOf({ filters, page, visibility }: PageOf, isRaw: boolean): Preparation | undefined {
  const { type, types, severity, minConfidence, since, tag, ...others } = filters;
  const isNone = (values: unknown[]) => values.every((value) => value === undefined);
  const isListed = tag === undefined || isNone([type, types, severity, minConfidence, since]);
  if (visibility || page.sort || !isNone(Object.values(others)) || !isListed) return undefined;
  const isGeneric = isRaw && since === undefined && tag === undefined;
  return { name: 'indicators', plan: isGeneric ? 'generic' : 'custom', isRaw };
}

/** What matches, and how much it is: whichever comes first is what the other is made from. */
function ctes(
  db: Db,
  { principal, filters, page, visibility }: PageOf,
  strategy: Strategy,
  bounds: Bounds,
): RawBuilder<unknown>[] {
  const isSummed = isCounted(filters) && !visibility;
  const matches = matching(db, principal, filters, visibility)
    .select(['indicator.id', 'indicator.last_seen'])
    // An index alone answers without them.
    .$if(page.sort !== undefined, (query) =>
      query.select(['indicator.first_seen', 'indicator.confidence', 'indicator.severity']),
    );
  const counted = sql`counted as (${
    isSummed ? countedFrom(principal, filters) : sql`select count(*)::bigint as total from matched`
  })`;
  switch (strategy) {
    case 'index-order':
      return [sql`matched as not materialized (${matches})`, counted];
    case 'materialize':
      return isSummed
        ? [
            counted,
            sql`matched as materialized (${matches.where(sql<SqlBool>`(select total from counted) <= ${bounds.materialize}`)})`,
          ]
        : [sql`matched as materialized (${matches.limit(bounds.materialize + 1)})`, counted];
    case 'scan-newest':
      return [
        sql`matched as not materialized (${matches})`,
        counted,
        sql`near as not materialized (${nearest({ principal, filters, page, visibility }, bounds)})`,
      ];
    case 'sorted':
      return [sql`matched as materialized (${matches})`, counted];
  }
}

/** Those that match of the first in the list's order. */
function nearest(
  { principal, filters, visibility = visible('indicator', principal) }: PageOf,
  { scanNewest }: Bounds,
) {
  return sql`select id, last_seen from (
      select * from indicator where ${sql.join([visibility, ...listedConditions(filters)], sql` and `)}
      order by last_seen desc, id limit ${sql.lit(scanNewest)}
    ) as indicator where ${sql.join([sql`true`, ...otherConditions(filters, principal)], sql` and `)}`;
}

/**
 * The ids of a page, in order. A limit that is written out tells the planner how little is read, whatever the size of the page, which is
 * a parameter: pages of other sizes are the same statement.
 */
function shownOf({ page }: PageOf, strategy: Strategy, { deep }: Bounds) {
  const [size, before] = [page.pageSize, (page.page - 1) * page.pageSize];
  const from = sql.raw(strategy === 'scan-newest' ? 'near' : 'matched');
  const inOrder = (source: RawBuilder<unknown>) =>
    sql`select * from ${source} as indicator order by ${sorted(page)}`;
  const forward = inOrder(sql`${from}`);
  const isInPlace = strategy === 'index-order' && !page.sort;
  if (before === 0 || (isInPlace && before < deep)) {
    const nearby = sql`(${forward} limit ${sql.lit(before === 0 ? MAX_PAGE_SIZE : deep + MAX_PAGE_SIZE)})`;
    return sql`${inOrder(nearby)} limit ${size} offset ${before}`;
  }
  if (!isInPlace) return sql`${forward} limit ${size} offset ${before}`;
  const isNearer = sql`${before} <= (select total from counted) / 2`;
  const after = sql`(select total from counted) - ${before}`;
  const either = sql`(${forward} limit case when ${isNearer} then ${size} else 0 end offset ${before})
    union all
    (select * from matched as indicator order by last_seen, id desc
      limit case when ${isNearer} then 0 else greatest(0, least(${size}, ${after})) end
      offset greatest(0, ${after} - ${size}))`;
  return sql`select * from (${either}) as indicator limit ${sql.lit(MAX_PAGE_SIZE)}`;
}
