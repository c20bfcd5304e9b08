import { type RawBuilder, sql } from 'kysely';
import { type Db, inSnapshot } from '../../db/database.ts';
import { visible } from '../../db/visibility.ts';
import type { Severity } from '../../model/vocabulary.ts';
import {
  type IndicatorFilters,
  type IndicatorRow,
  listedConditions,
  rowsBefore,
  sorted,
} from './indicators.queries.ts';
import { BOUNDS, type Bounds, type ListPage, type PageQuery, readPage, rowsOf } from './list.queries.ts';
import { coveredBySegments, isCountedTag, matchesInOrder, placeByFirstSeen } from './segments.queries.ts';
import { countByValue, countMatches, coveredBySummary, isCountable } from './summaries.queries.ts';

/** A value with fewer matches than this is read as a whole. */
const FEW = 2_000;

type SortedRows<More> = Pick<ListPage<More>, 'total' | 'rows'>;

/**
 * Returns the same as `readPage`. A list by severity or confidence is read as one list for each value, each in the default order, one by
 * the oldest sighting from the other end of the default order: their indexes serve all of these. The statements have one snapshot.
 */
export async function readSortedPage<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds = BOUNDS,
): Promise<SortedRows<More>> {
  const { filters, page, visibility } = of;
  const by = page.sort?.by;
  if ((by === 'severity' || by === 'confidence') && !visibility && isCountableByValue(filters, by))
    return inSnapshot(db, (snapshot) => readByValue(snapshot, of, by, more, bounds));
  if (by === 'lastSeen' && page.sort?.ascending && !visibility && (await isInDefaultOrder(db, filters)))
    return inSnapshot(db, (snapshot) => readOldest(snapshot, of, more, bounds));
  if (by === 'firstSeen' && !visibility && isCountedByFirstSeen(filters))
    return inSnapshot(db, (snapshot) => readByFirstSeen(snapshot, of, more, bounds));
  if (by === 'epss' && !visibility && isCountable(filters))
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
  const { principal, filters, page } = of;
  const scored = await readPage(db, { ...of, filters: { minEpss: 0, ...filters } }, more, bounds);
  if (scored.total === 0) {
    const { sort, ...inOrder } = page;
    return readPage(db, { ...of, page: inOrder }, more, bounds);
  }
  if (scored.total < rowsBefore(page) + page.pageSize) return readPage(db, of, more, bounds);
  const { rows } = await countMatches(principal, filters).execute(db);
  return { total: rows[0]?.total ?? 0, rows: scored.rows };
}

/** Reads the page from the nearest place that was counted before. */
async function readByFirstSeen<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const { principal, filters, page } = of;
  const isAscending = page.sort?.ascending ?? false;
  const { rows } = await placeByFirstSeen(principal, filters, rowsBefore(page), isAscending, bounds).execute(
    db,
  );
  const [place] = rows;
  if (!place || place.total < bounds.materialize) return readPage(db, of, more, bounds, undefined, 'sorted');
  const side = isAscending
    ? sql`indicator.first_seen > ${place.time}::timestamptz`
    : sql`indicator.first_seen <= ${place.time}::timestamptz`;
  const matches = sql.join([visible('indicator', principal), ...listedConditions(filters), side], sql` and `);
  const shown = sql`select id from indicator where ${matches} order by ${sorted(page)} limit ${page.pageSize} offset ${place.skipped}`;
  return { total: place.total, rows: await rowsOf(db, shown, page, more) };
}

/** Returns whether the segments in the order of the first sighting count the matches. */
const isCountedByFirstSeen = (filters: IndicatorFilters) =>
  filters.since === undefined && filters.tag === undefined && coveredBySegments(filters);

/** Returns whether any page in the default order is read at once: by the indexes in this order, or by the segments that count a tag. */
async function isInDefaultOrder(db: Db, { since, ...filters }: IndicatorFilters): Promise<boolean> {
  const { tag } = filters;
  if (tag === undefined) return coveredBySummary(filters);
  return coveredBySegments(filters) && (await isCountedTag(db, tag));
}

function isCountableByValue({ since, ...filters }: IndicatorFilters, by: 'severity' | 'confidence'): boolean {
  if (since !== undefined) return coveredBySegments({ ...filters, [by]: filters[by] ?? 0, since });
  return by === 'severity' ? isCountable(filters) : coveredBySummary(filters);
}

/** Returns the numbers of matches by value, in ascending order of the values. */
async function countsByValue(
  db: Db,
  { principal, filters: { since, ...filters } }: PageQuery,
  by: 'severity' | 'confidence',
  bounds: Bounds,
): Promise<{ value: string; count: number }[]> {
  const { rows } = await countByValue(principal, filters, by).execute(db);
  if (since === undefined) return rows;
  const counts = [];
  for (const { value } of rows) {
    const wanted = { ...filters, ...exactly(by, value), since };
    const page = { page: 1, pageSize: 1 };
    const { total } = await readPage(
      db,
      { principal, filters: wanted, page },
      sql<object>`true as one`,
      bounds,
    );
    counts.push({ value, count: total });
  }
  return counts;
}

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
  const rows: (IndicatorRow & More)[] = [];
  let before = rowsBefore(page);
  for (const { value, count } of page.sort?.ascending ? counts : counts.reverse()) {
    const wanted = Math.min(page.pageSize - rows.length, count - before);
    if (wanted > 0) {
      const part = {
        principal,
        filters: { ...filters, ...exactly(by, value) },
        page: { page: 1, pageSize: wanted, before },
      };
      const read = await readPage(db, part, more, bounds, undefined, count < FEW ? 'sorted' : undefined);
      rows.push(...read.rows);
    }
    before = Math.max(0, before - count);
  }
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return { total, rows };
}

const exactly = (by: 'severity' | 'confidence', value: string): IndicatorFilters =>
  by === 'severity' ? { severity: value as Severity } : { confidence: Number(value) };

/** Reads the page from the row of the default order that has the same number of rows behind it as the page has before it. */
async function readOldest<More>(
  db: Db,
  { principal, filters, page }: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const before = rowsBefore(page);
  const time = sql<{ last: string }>`indicator.last_seen::text as last`;
  const read = (wanted: IndicatorFilters, at: number) =>
    readPage(db, { principal, filters: wanted, page: { page: 1, pageSize: 1, before: at } }, time, bounds);
  const { total } = await read(filters, 0);
  const { rows: found } = total > before ? await read(filters, total - 1 - before) : { rows: [] };
  const oldest = found[0]?.last;
  if (oldest === undefined) return { total, rows: [] };
  const { total: newer } = await read({ ...filters, since: oldest }, 0);
  const matches = sql.join([visible('indicator', principal), ...matchesInOrder(filters)], sql` and `);
  const limit = sql`limit ${page.pageSize}`;
  const shown = sql`
    (select id, last_seen from indicator where ${matches} and last_seen = ${oldest}::timestamptz
      order by id ${limit} offset ${before - (total - newer)}::bigint)
    union all
    (select id, last_seen from indicator where ${matches} and last_seen > ${oldest}::timestamptz
      order by last_seen, id ${limit})
    ${limit}`;
  return { total, rows: await rowsOf(db, shown, page, more) };
}
