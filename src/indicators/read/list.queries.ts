import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { PageRequest } from '../../db/page.ts';
import { GENERIC_PLAN_RAW, PREPARED, PREPARED_TEXTS } from '../../db/postgres/prepared-statements.ts';
import { parseInstant, parseTextArray, parseTimestamp } from '../../db/postgres/text-formats.ts';
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
 * How a page and its total are found. Each is one statement and so of one snapshot; where one finds that it is not the
 * way, the next is gone instead.
 * - `listed`: from an index in the list's order, however far back; from its end, where that is nearer.
 * - `gathered`: all matches by another index, as long as they are few.
 * - `walked`: the first of the list, until enough of them match: for what many match.
 * - `sorted`: all matches, however many.
 */
type Way = 'listed' | 'gathered' | 'walked' | 'sorted';

/** As IndicatorRow names them. */
const SHOWN = sql`indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at`;

/** In indicators. */
interface Bounds {
  /** Matches that are gathered for a page; with more, it is quicker to walk the list until a page of them was met. */
  materialize: number;
  /** Of the list, before what is looked for turns out not to be among the newest. */
  scanNewest: number;
  /** From here on it is looked at from which end a page is nearer. */
  deep: number;
}
const BOUNDS: Bounds = { materialize: 10_000, scanNewest: 200_000, deep: 2_000 };
/** The trigrams of `q` tell nothing of less. */
const TRIGRAM = 3;

/** What a page is of: `door` is what of all may be seen, where that is not what the API gives. */
export interface PageOf {
  principal: Principal;
  filters: IndicatorFilters;
  page: SortedPage;
  door?: RawBuilder<SqlBool> | undefined;
}

/** A row of a page, with what was asked for beside. */
type PageRow<More> = { total: number } & (({ id: null } & More) | (IndicatorRow & More));

/**
 * A page of the list and how many match in all, of one snapshot.
 * @param more what is selected beside the indicators' columns
 * @param fromTexts makes a row of the texts of all columns, where the database gives them so
 * @returns `first`: what `more` is on the first row, which is there even where no indicator is
 */
export async function readPage<More>(
  db: Db,
  of: PageOf,
  more: RawBuilder<More>,
  bounds = BOUNDS,
  fromTexts?: (texts: readonly (string | null)[]) => PageRow<More>,
): Promise<{ total: number; rows: (IndicatorRow & More)[]; first: More }> {
  const ways = strategies(of, bounds);
  for (const way of ways) {
    const mark = planHint(of, fromTexts !== undefined);
    const { rows: given } = await pageQuery(db, of, way, more, bounds, mark).execute(db);
    const rows = fromTexts ? given.map((row) => (Array.isArray(row) ? fromTexts(row) : row)) : given;
    const [first] = rows;
    if (!first) throw new Error('the total is missing');
    const found = rows.filter((row): row is typeof row & IndicatorRow => row.id !== null);
    if (way === ways.at(-1) || isWhole(way, of.page, first.total, found.length, bounds))
      return { total: first.total, rows: found, first };
  }
  throw new Error('there is no way to read a page');
}

/** A page of the list, newest sighting first, how many match in all, and what that is the state of. */
export async function listIndicators(
  db: Db,
  principal: Principal,
  filters: IndicatorFilters,
  page: PageRequest,
): Promise<{ total: number; rows: IndicatorRow[]; revision: number; validUntil: Date | null }> {
  const state = sql<State>`(select value from revision) as revision, ${nextExpiry(principal)} as valid_until`;
  const { total, rows, first } = await readPage(db, { principal, filters, page }, state, BOUNDS, rowOfTexts);
  return { total, rows, revision: first.revision, validUntil: first.valid_until };
}

/** What a page is of. */
interface State {
  revision: number;
  valid_until: Date | null;
}

/** The columns of `pageQuery` as PostgreSQL writes them. Nothing is made of one that nobody reads. */
class RowOfTexts {
  readonly #texts: readonly (string | null)[];
  constructor(texts: readonly (string | null)[]) {
    this.#texts = texts;
  }
  get total() {
    return Number(this.#texts[0]);
  }
  get id() {
    return this.#texts[1];
  }
  get type() {
    return this.#texts[2];
  }
  get value() {
    return this.#texts[3];
  }
  get confidence() {
    return Number(this.#texts[4]);
  }
  get severity() {
    return this.#texts[5];
  }
  get tlp() {
    return this.#texts[6];
  }
  get tags() {
    return parseTextArray(String(this.#texts[7]));
  }
  get source() {
    return this.#texts[8];
  }
  get first_seen() {
    return parseInstant(String(this.#texts[9]));
  }
  get last_seen() {
    return parseInstant(String(this.#texts[10]));
  }
  get expires_at() {
    return this.#texts[11] ? parseInstant(this.#texts[11]) : null;
  }
  get revision() {
    return Number(this.#texts[12]);
  }
  get valid_until() {
    return this.#texts[13] ? parseTimestamp(this.#texts[13]) : null;
  }
}

const rowOfTexts = (texts: readonly (string | null)[]) => new RowOfTexts(texts) as PageRow<State>;

/** When the next of all that are visible expires: until then nothing changes by time alone. */
function nextExpiry(principal: Principal) {
  return sql`(select min(expires_at) from indicator
    where ${visible('indicator', principal)} and expires_at > ${principal.now}::timestamptz)`;
}

function strategies({ filters, page, door }: PageOf, bounds: Bounds): [Way, ...Way[]] {
  const { q, tag, actorId, campaignId, reportId, sourceId, pinned, createdSince, expiresBefore } = filters;
  const indexed = [tag, actorId, campaignId, reportId, sourceId, pinned, createdSince, expiresBefore];
  const byOthers = indexed.some((filter) => filter !== undefined);
  if (!byOthers && q === undefined) return ['listed'];
  if (door) return ['sorted'];
  const canWalk = !page.sort && (page.page - 1) * page.pageSize < bounds.materialize;
  const gathers = byOthers || (q !== undefined && searchForms(q).every((form) => form.length >= TRIGRAM));
  return [
    ...(gathers ? (['gathered'] as const) : []),
    ...(canWalk ? (['walked'] as const) : []),
    'sorted',
  ] as [Way, ...Way[]];
}

function isWhole(
  way: Way,
  { page, pageSize }: PageRequest,
  total: number,
  found: number,
  bounds: Bounds,
): boolean {
  if (way === 'gathered') return total <= bounds.materialize;
  return found === Math.max(0, Math.min(pageSize, total - (page - 1) * pageSize));
}

/** The page is found by ids alone, and only its rows are read; past the end there is one row that holds the total alone. */
function pageQuery<More>(db: Db, of: PageOf, way: Way, more: RawBuilder<More>, bounds: Bounds, mark: string) {
  return sql<PageRow<More>>`${sql.raw(mark)}
    with ${sql.join(partsOf(db, of, way, bounds))}, shown as (${shownOf(of, way, bounds)})
    select counted.total, ${SHOWN}, ${more}
    from counted left join shown on true
      left join indicator on indicator.id = shown.id left join source on source.id = indicator.source_id
    order by ${sorted(of.page)}`;
}

/**
 * Prepared are those that an index in the list's order answers, or that of tags: what their text depends on is little, so that
 * they are few. Planned once are those of them whose plan is the same for whatever is asked: how much is newer than an
 * instant, and how far a list is walked until a page of a tag was met, depends on which.
 */
function planHint({ filters, page, door }: PageOf, asTexts: boolean): string {
  const { type, types, severity, minConfidence, since, tag, ...others } = filters;
  const isNone = (values: unknown[]) => values.every((value) => value === undefined);
  const isListed = tag === undefined || isNone([type, types, severity, minConfidence, since]);
  if (door || page.sort || !isNone(Object.values(others)) || !isListed) return '';
  if (!asTexts) return PREPARED;
  return since === undefined && tag === undefined ? GENERIC_PLAN_RAW : PREPARED_TEXTS;
}

/** What matches, and how much it is: whichever comes first is what the other is made from. */
function partsOf(
  db: Db,
  { principal, filters, page, door }: PageOf,
  way: Way,
  bounds: Bounds,
): RawBuilder<unknown>[] {
  const isSummed = isCounted(filters) && !door;
  const matches = matching(db, principal, filters, door)
    .select(['indicator.id', 'indicator.last_seen'])
    // An index alone answers without them.
    .$if(page.sort !== undefined, (query) =>
      query.select(['indicator.first_seen', 'indicator.confidence', 'indicator.severity']),
    );
  const counted = sql`counted as (${
    isSummed ? countedFrom(principal, filters) : sql`select count(*)::bigint as total from matched`
  })`;
  switch (way) {
    case 'listed':
      return [sql`matched as not materialized (${matches})`, counted];
    case 'gathered':
      return isSummed
        ? [
            counted,
            sql`matched as materialized (${matches.where(sql<SqlBool>`(select total from counted) <= ${bounds.materialize}`)})`,
          ]
        : [sql`matched as materialized (${matches.limit(bounds.materialize + 1)})`, counted];
    case 'walked':
      return [
        sql`matched as not materialized (${matches})`,
        counted,
        sql`near as not materialized (${nearest({ principal, filters, page, door }, bounds)})`,
      ];
    case 'sorted':
      return [sql`matched as materialized (${matches})`, counted];
  }
}

/** Those that match of the first in the list's order. */
function nearest(
  { principal, filters, door = visible('indicator', principal) }: PageOf,
  { scanNewest }: Bounds,
) {
  return sql`select id, last_seen from (
      select * from indicator where ${sql.join([door, ...listedConditions(filters)], sql` and `)}
      order by last_seen desc, id limit ${sql.lit(scanNewest)}
    ) as indicator where ${sql.join([sql`true`, ...otherConditions(filters, principal)], sql` and `)}`;
}

/** What is written out tells the planner how little is read, of whichever page. */
function shownOf({ page }: PageOf, way: Way, { deep }: Bounds) {
  const [size, before] = [sql.lit(page.pageSize), (page.page - 1) * page.pageSize];
  const from = sql.raw(way === 'walked' ? 'near' : 'matched');
  const inOrder = (source: RawBuilder<unknown>) =>
    sql`select * from ${source} as indicator order by ${sorted(page)}`;
  const forward = inOrder(sql`${from}`);
  if (way !== 'listed' || page.sort || before === 0) {
    return before === 0 ? sql`${forward} limit ${size}` : sql`${forward} limit ${size} offset ${before}`;
  }
  if (before < deep) {
    const nearby = sql`(${forward} limit ${sql.lit(deep + page.pageSize)})`;
    return sql`${inOrder(nearby)} limit ${size} offset ${before}`;
  }
  const isNearer = sql`${before} <= (select total from counted) / 2`;
  const after = sql`(select total from counted) - ${before}`;
  return sql`(${forward} limit case when ${isNearer} then ${size} else 0 end offset ${before})
    union all
    (select * from matched as indicator order by last_seen, id desc
      limit case when ${isNearer} then 0 else greatest(0, least(${size}, ${after})) end
      offset greatest(0, ${after} - ${size}))
    limit ${size}`;
}
