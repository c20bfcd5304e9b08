import { type RawBuilder, sql } from 'kysely';
import { type Db, inSnapshot } from '../../db/database.ts';
import { SEVERITIES, type Severity } from '../../model/vocabulary.ts';
import {
  type IndicatorFilters,
  type IndicatorRow,
  rowsBefore,
  type SortedPage,
} from './indicators.queries.ts';
import { BOUNDS, type Bounds, type PageQuery, readPage, rowsOf } from './list.queries.ts';
import {
  costOfAll,
  FROM_SEGMENTS,
  mostToSort,
  readByFirstSeen,
  type SortedRows,
} from './list-by-first-seen.queries.ts';
import { firstMatches } from './list-order.queries.ts';
import { coveredBySegments, isCountedSubset, SEGMENT_SIZE, subsetOf } from './segment-counts.queries.ts';
import { countByValueOfSegments } from './segments.queries.ts';
import { countByValue, coveredBySummary, isCountable } from './summaries.queries.ts';

/** An indicator that is found by its value takes as long as so many entries of an index in the list's order. */
const ENTRIES_A_ROW = 15;
/** A value of fewer matches than this share is rare: finding a row by its id takes as long as reading some from the table in their order. */
const RARE = 0.15;
/** With more parts than this, the few matches of a source are read as a whole: its statements may be read for each part. */
const MAX_PARTS = 3;

/**
 * Returns the same as `readPage`. A list by severity or confidence is read as one list for each value, each in the default order, one by
 * the oldest sighting from the other end of the default order, one by the first sighting from the nearest place that was counted, and one
 * by EPSS score from the scored indicators alone: their indexes serve all of these. The statements have one snapshot.
 */
export async function readSortedPage<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds = BOUNDS,
): Promise<SortedRows<More>> {
  const { filters, page, visibility } = of;
  if (page.sort?.by === 'lastSeen' && !page.sort.ascending)
    return readPage(db, inDefaultOrder(of), more, bounds);
  const by = page.sort?.by;
  if ((by === 'severity' || by === 'confidence') && !visibility)
    return inSnapshot(db, (snapshot) => readByValue(snapshot, of, by, more, bounds));
  if (by === 'lastSeen' && page.sort?.ascending && !visibility && (await isInDefaultOrder(db, filters)))
    return inSnapshot(db, (snapshot) => readOldest(snapshot, of, more, bounds));
  if (by === 'firstSeen' && !visibility && (await isCounted(db, filters)))
    return inSnapshot(db, (snapshot) => readByFirstSeen(snapshot, of, more, bounds));
  if (by === 'epss' && !visibility)
    return inSnapshot(db, (snapshot) => readByScore(snapshot, of, more, bounds));
  return readPage(db, of, more, bounds);
}

/** Reads the page from the indicators with a score alone if all of its rows have one, in the default order if none has one. */
async function readByScore<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const { filters, page } = of;
  const scored = await readPage(db, { ...of, filters: { minEpss: 0, ...filters } }, more, bounds);
  if (scored.total === 0) return readPage(db, inDefaultOrder(of), more, bounds);
  if (filters.minEpss !== undefined) return scored;
  if (scored.total < rowsBefore(page) + page.pageSize) return readPage(db, of, more, bounds);
  const { total } = await readPage(db, { ...of, page: { page: 1, pageSize: 1 } }, more, bounds);
  return { total, rows: scored.rows };
}

/** Returns the query of the same list in the default order. */
const inDefaultOrder = ({ page: { sort, ...page }, ...of }: PageQuery): PageQuery => ({ ...of, page });

/** Returns whether segments count the matches; those in the order of the first sighting do not count `since`. */
async function isCounted(db: Db, filters: IndicatorFilters): Promise<boolean> {
  const subset = subsetOf(filters);
  return coveredBySegments(filters) && (!subset || (await isCountedSubset(db, subset)));
}

/** Returns whether any page in the default order is read at once: by the indexes in this order, or by the segments that count a subset. */
async function isInDefaultOrder(db: Db, { since, ...filters }: IndicatorFilters): Promise<boolean> {
  return subsetOf(filters) ? isCounted(db, filters) : coveredBySummary(filters);
}

/** Returns the numbers of matches by value, in ascending order of the values; undefined: nothing counts them. */
async function countsByValue(
  db: Db,
  { principal, filters }: PageQuery,
  by: 'severity' | 'confidence',
  bounds: Bounds,
): Promise<{ value: string; count: number }[] | undefined> {
  const isSummed = isCountable(filters) && (by === 'severity' || filters.tag === undefined);
  if (isSummed) return (await countByValue(principal, filters, by).execute(db)).rows;
  if (!(await isCounted(db, { ...filters, [by]: filters[by] ?? 0 }))) return undefined;
  const values = filters[by] === undefined ? VALUES[by](filters) : [filters[by]];
  const { rows } = await countByValueOfSegments(principal, filters, by, values, bounds).execute(db);
  return rows.length > 0 ? rows : undefined;
}

/** The values that matches may have, in ascending order. */
const VALUES = {
  severity: () => SEVERITIES,
  confidence: ({ minConfidence = 0 }: IndicatorFilters) =>
    Array.from({ length: 101 - minConfidence }, (_, i) => minConfidence + i),
};

/** Reads the part of the page that has each value, in their order. */
async function readByValue<More>(
  db: Db,
  of: PageQuery,
  by: 'severity' | 'confidence',
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const { principal, filters, page } = of;
  const counts = await countsByValue(db, of, by, bounds);
  if (!counts) return readPage(db, of, more, bounds);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const parts = partsOf(page, page.sort?.ascending ? counts : counts.reverse());
  if (filters.sourceId !== undefined && parts.length > MAX_PARTS && total <= bounds.materialize)
    return readPage(db, of, more, bounds);
  const subset = subsetOf(filters);
  const isCountedList = subset !== undefined && (await isCountedSubset(db, subset));
  const rows: (IndicatorRow & More)[] = [];
  for (const { value, count, before, pageSize } of parts) {
    const part = {
      principal,
      filters: { ...filters, ...exactly(by, value) },
      page: { page: 1, pageSize, before },
      isRare: count < total * RARE,
      total: count,
    };
    const fromNearerEnd = Math.min(before + pageSize, count - before);
    // From the segment of the page.
    const isCovered = coveredBySegments(part.filters);
    const canSkip = before >= bounds.deep && isCovered;
    const scanned = ((canSkip ? pageSize : fromNearerEnd) / count) * total + (canSkip ? SEGMENT_SIZE : 0);
    const few = bounds.materialize * FROM_SEGMENTS;
    const isWhole = subset ? filters.tag !== undefined && count < few : scanned > count * ENTRIES_A_ROW;
    const isFromSegments =
      isCountedList && isCovered && count >= few && (before > 0 || count < bounds.materialize);
    // Where the other filters select fewer than the subset has, those are read in their order; a value of confidence has an index.
    const isOfFew = by === 'severity' && filters.since !== undefined && count < few;
    const isInOrder = subset && (isOfFew || !isCovered) && (await costOfAll(db, part, bounds)).isByOthers;
    const within = {
      ...bounds,
      ...(isFromSegments && { deep: 0, materialize: few }),
      ...(isInOrder && (isCovered ? { deep: 0, materialize: 0 } : { scanFirstSorted: bounds.scanFirst })),
    };
    const read = await readPage(db, part, more, within, undefined, isWhole ? 'sorted' : undefined);
    rows.push(...read.rows);
  }
  return { total, rows };
}

/** Returns the values that the rows of the page have, each with the number of its matches and the page of the list of these. */
function partsOf(page: SortedPage, counts: readonly { value: string; count: number }[]) {
  let before = rowsBefore(page);
  let missing = page.pageSize;
  const parts: { value: string; count: number; before: number; pageSize: number }[] = [];
  for (const { value, count } of counts) {
    const pageSize = Math.min(missing, count - before);
    if (pageSize > 0) {
      parts.push({ value, count, before, pageSize });
      missing -= pageSize;
    }
    before = Math.max(0, before - count);
  }
  return parts;
}

const exactly = (by: 'severity' | 'confidence', value: string): IndicatorFilters =>
  by === 'severity' ? { severity: value as Severity } : { confidence: Number(value) };

/** Reads the page from the row of the default order that has the same number of rows behind it as the page has before it. */
async function readOldest<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const { principal, filters, page } = of;
  const before = rowsBefore(page);
  const time = sql<{ last: string }>`indicator.last_seen::text as last`;
  const read = (at: number) =>
    readPage(db, { principal, filters, page: { page: 1, pageSize: 1, before: at } }, time, bounds);
  const { total, rows: newest } = await read(0);
  if (subsetOf(filters) && total < mostToSort(filters, bounds))
    return readPage(db, of, more, bounds, undefined, 'sorted');
  const { rows: found } = total > before ? await read(total - 1 - before) : { rows: [] };
  const [oldest] = found;
  if (oldest === undefined) return { total, rows: [] };
  const first = (
    bounds: RawBuilder<unknown>,
    order: RawBuilder<unknown>,
    limit = sql`${page.pageSize}::bigint`,
  ) => firstMatches(principal, filters, { bounds, order, limit });
  const isAtOnce = sql`last_seen = ${oldest.last}::timestamptz`;
  // In both orders those with one time are in the order of their ids: as many as are behind this one there come before the page here.
  const behind = first(sql`${isAtOnce} and id > ${oldest.id}::uuid`, sql`id`, sql`all`);
  const skipped = sql`(select count from skipped)`;
  const atOnce = first(isAtOnce, sql`id`, sql`${page.pageSize}::bigint + ${skipped}`);
  const later = sql`last_seen > ${oldest.last}::timestamptz and last_seen <= ${newest[0]?.last ?? null}::timestamptz`;
  const shown = sql`
    with skipped as materialized (select count(*) as count from (${behind}) as indicator)
    (select * from (${atOnce}) as indicator offset ${skipped})
    union all
    (${first(later, sql`last_seen, id`)})
    limit ${page.pageSize}`;
  return { total, rows: await rowsOf(db, shown, page, more) };
}
