import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Principal, visible } from '../../db/visibility.ts';
import {
  type FirstSeenSince,
  firstSeenSince,
  matchesFirstSeen,
  placeByFirstSeen,
} from './first-seen.queries.ts';
import { type IndicatorFilters, rowsBefore, type SortedPage, sorted } from './indicators.queries.ts';
import { type Bounds, type ListPage, type PageQuery, readPage, rowsOf } from './list.queries.ts';
import { matchesInOrder } from './list-order.queries.ts';
import { subsetOf } from './segment-counts.queries.ts';

/** The share of `Bounds.materialize` from which on the matches of one value are read from the segments that count their subset. */
export const FROM_SEGMENTS = 0.1;
/** A statement of a source and its indicator take as long to be read as so many indicators that are tested for one. */
const INDICATORS_A_STATEMENT = 3;
/** So many more indicators than a page needs are looked for in a range, since matches are not spread evenly. */
const SPREAD = 1.5;

export type SortedRows<More> = Pick<ListPage<More>, 'total' | 'rows'>;

/** Returns the same as `readPage` of a list by the first sighting whose matches are counted, but for `since`. The statements need one snapshot. */
export const readByFirstSeen = <More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> =>
  (of.filters.since === undefined ? readEvery : readSince)(db, of, more, bounds);

async function readEvery<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const page = await fromCountedPlace(db, of, more, bounds);
  return page ?? readPage(db, of, more, bounds, undefined, subsetOf(of.filters) ? undefined : 'sorted');
}

/** Reads a page in the order of the first sighting from the nearest place that was counted before; undefined: the counts cannot be used. */
async function fromCountedPlace<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More> | undefined> {
  const { principal, filters, page } = of;
  const isAscending = page.sort?.ascending ?? false;
  const { rows } = await placeByFirstSeen(principal, filters, page, isAscending, bounds).execute(db);
  const [place] = rows;
  if (!place) return undefined;
  if (place.total < mostToSort(filters, bounds)) return readPage(db, of, more, bounds, undefined, 'sorted');
  const between = sql`indicator.first_seen <= ${place.newest}::timestamptz and indicator.first_seen > ${place.oldest}::timestamptz`;
  const matches = sql.join(
    [visible('indicator', principal), ...matchesInOrder(principal, filters), between],
    sql` and `,
  );
  const shown = sql`select id from indicator where ${matches} order by ${sorted(page)} limit ${page.pageSize} offset ${place.skipped}`;
  return { total: place.total, rows: await rowsOf(db, shown, page, more) };
}

/**
 * Reads a page of those seen since a time from the segments with the first matches in rising order, if it is near to them; otherwise as
 * without `since` if all of its indicators were first seen after it: they have also been seen after it, as have all that were first seen
 * later. There are as many later ones with `since` as without it.
 */
async function readSince<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const { principal, filters, page } = of;
  const { since = '' } = filters;
  const isAscending = page.sort?.ascending ?? false;
  const total = await countOf(db, principal, filters, bounds);
  if (total <= rowsBefore(page)) return { total, rows: [] };
  const wanted = Math.min(page.pageSize, total - rowsBefore(page));
  const skipped = isAscending ? rowsBefore(page) : total - rowsBefore(page) - wanted;
  const range = skipped < total / 2 ? await firstRange(db, of, total, skipped + wanted, bounds) : undefined;
  const fromRange = async (most: number) => {
    if (!range || range.count * bounds.inRange > most) return undefined;
    const order = isAscending ? sorted(page) : sql`first_seen, last_seen, id desc`;
    const shown = matchesFirstSeen(principal, filters, range, order, { skipped, wanted }, bounds);
    const rows = await rowsOf(db, shown, page, more);
    return rows.length === wanted ? { total, rows } : undefined;
  };
  const soon = await fromRange(total);
  if (soon) return soon;
  // The rows of the range were first seen before that time.
  const isEarlier = range !== undefined && new Date(range.until) < new Date(since);
  const rows = isEarlier ? undefined : await readWithoutSince(db, of, total, more, bounds);
  if (rows) return { total, rows };
  if (subsetOf(filters) === undefined) return readPage(db, of, more, bounds);
  const { isByOthers, most } = await costOfAll(db, of, bounds);
  const found = most > total ? await fromRange(most) : undefined;
  return found ?? readPage(db, of, more, bounds, undefined, isByOthers ? 'by-others' : undefined);
}

/** Returns the rows of the page in the list without `since`, if all were first seen after it; undefined: they were not. */
async function readWithoutSince<More>(
  db: Db,
  of: PageQuery,
  total: number,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>['rows'] | undefined> {
  const { filters, page } = of;
  const { since = '', ...others } = filters;
  const isAscending = page.sort?.ascending ?? false;
  const read = (wanted: SortedPage) =>
    fromCountedPlace(db, { ...of, filters: others, page: wanted }, more, bounds);
  const every = isAscending ? await read({ ...page, page: 1, pageSize: 1 }) : { total };
  const without = every && (await read({ ...page, before: rowsBefore(page) + every.total - total }));
  const rows = without?.rows.slice(0, total - rowsBefore(page)) ?? [];
  const oldest = isAscending ? rows[0] : rows.at(-1);
  return oldest !== undefined && oldest.first_seen >= new Date(since) ? rows : undefined;
}

const countOf = async (db: Db, principal: Principal, filters: IndicatorFilters, bounds: Bounds) =>
  (await readPage(db, { principal, filters, page: { page: 1, pageSize: 1 } }, sql`1`, bounds)).total;

/** Returns the segments that are expected to have so many matches, in rising order; undefined: the counts cannot be used, or have not so many. */
async function firstRange(
  db: Db,
  { principal, filters }: PageQuery,
  total: number,
  matches: number,
  bounds: Bounds,
): Promise<FirstSeenSince | undefined> {
  const { since = '', ...others } = filters;
  const isEvery = Object.values(others).every((value) => value === undefined);
  const every = isEvery ? total : await countOf(db, principal, { since }, bounds);
  const needed = Math.ceil(matches * (every / total) * SPREAD);
  const { rows } = await firstSeenSince(principal, since, needed, bounds).execute(db);
  return rows[0];
}

/**
 * Returns how many indicators are read to find all matches of a tag or a source, and whether these are found sooner by the other filters
 * than by these.
 */
export async function costOfAll(db: Db, { principal, filters }: PageQuery, bounds: Bounds) {
  const { tag, sourceId, ...others } = filters;
  const count = await countOf(db, principal, { tag, sourceId }, bounds);
  const ofSubset = sourceId === undefined ? count : count * INDICATORS_A_STATEMENT;
  const byOthers = await countOf(db, principal, others, bounds);
  const most = Math.min(byOthers, ofSubset) * (sourceId === undefined ? 1 : INDICATORS_A_STATEMENT);
  return { isByOthers: byOthers < ofSubset, most };
}

/**
 * Returns with how many matches these are sorted as a whole, rather than read in the order of all indicators: for a source, all of its
 * statements are read, and since a time, most other indicators are left out.
 */
export const mostToSort = ({ sourceId, since }: IndicatorFilters, { materialize }: Bounds) =>
  sourceId === undefined && since === undefined ? materialize : materialize * FROM_SEGMENTS;
