import { type RawBuilder, sql } from 'kysely';
import { type Db, inSnapshot } from '../../db/database.ts';
import { visible } from '../../db/visibility.ts';
import { SEVERITIES, type Severity } from '../../model/vocabulary.ts';
import { type IndicatorFilters, type IndicatorRow, rowsBefore, sorted } from './indicators.queries.ts';
import { BOUNDS, type Bounds, type ListPage, type PageQuery, readPage, rowsOf } from './list.queries.ts';
import {
  countByValueOfSegments,
  coveredBySegments,
  isCountedTag,
  matchesInOrder,
  placeByFirstSeen,
} from './segments.queries.ts';
import { countByValue, coveredBySummary, isCountable } from './summaries.queries.ts';

/** A value with fewer matches than this is read as a whole. */
const FEW = 5_000;

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
  if (page.sort?.by === 'lastSeen' && !page.sort.ascending)
    return readPage(db, inDefaultOrder(of), more, bounds);
  const by = page.sort?.by;
  if ((by === 'severity' || by === 'confidence') && !visibility)
    return inSnapshot(db, (snapshot) => readByValue(snapshot, of, by, more, bounds));
  if (by === 'lastSeen' && page.sort?.ascending && !visibility && (await isInDefaultOrder(db, filters)))
    return inSnapshot(db, (snapshot) => readOldest(snapshot, of, more, bounds));
  if (by === 'firstSeen' && !visibility && (await isCountedByFirstSeen(db, filters)))
    return inSnapshot(db, (snapshot) =>
      (filters.since === undefined ? readByFirstSeen : readByFirstSeenSince)(snapshot, of, more, bounds),
    );
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

const inDefaultOrder = ({ page: { sort, ...page }, ...of }: PageQuery): PageQuery => ({ ...of, page });

/** Reads the page from the nearest place that was counted before. */
async function readByFirstSeen<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const { principal, filters, page } = of;
  const isAscending = page.sort?.ascending ?? false;
  const { rows } = await placeByFirstSeen(principal, filters, page, isAscending, bounds).execute(db);
  const [place] = rows;
  if (!place && filters.tag !== undefined) return readPage(db, of, more, bounds);
  if (!place || place.total < bounds.materialize) return readPage(db, of, more, bounds, undefined, 'sorted');
  const [newest, oldest] = isAscending ? [place.stop, place.time] : [place.time, place.stop];
  const between = sql`indicator.first_seen <= ${newest}::timestamptz and indicator.first_seen > ${oldest}::timestamptz`;
  const matches = sql.join(
    [visible('indicator', principal), ...matchesInOrder(filters), between],
    sql` and `,
  );
  const shown = sql`select id from indicator where ${matches} order by ${sorted(page)} limit ${page.pageSize} offset ${place.skipped}`;
  return { total: place.total, rows: await rowsOf(db, shown, page, more) };
}

/**
 * Reads the page as without `since` if all of its indicators were first seen after it: they have also been seen after it, as have all
 * that were first seen later. There are as many later ones with `since` as without it.
 */
async function readByFirstSeenSince<More>(
  db: Db,
  of: PageQuery,
  more: RawBuilder<More>,
  bounds: Bounds,
): Promise<SortedRows<More>> {
  const { filters, page } = of;
  const { since = '', ...others } = filters;
  const isAscending = page.sort?.ascending ?? false;
  const one = { ...page, page: 1, pageSize: 1 };
  const { total } = await readPage(db, inDefaultOrder({ ...of, page: one }), more, bounds);
  const every = isAscending
    ? await readByFirstSeen(db, { ...of, filters: others, page: one }, more, bounds)
    : { total };
  const before = rowsBefore(page) + every.total - total;
  const { rows } = await readByFirstSeen(
    db,
    { ...of, filters: others, page: { ...page, before } },
    more,
    bounds,
  );
  const wanted = Math.min(page.pageSize, total - rowsBefore(page));
  const oldest = isAscending ? rows[0] : rows[wanted - 1];
  const isSame = oldest !== undefined && oldest.first_seen >= new Date(since);
  return isSame ? { total, rows: rows.slice(0, wanted) } : readPage(db, of, more, bounds);
}

/** Returns whether the segments in the order of the first sighting count the matches, except for `since`. */
const isCountedByFirstSeen = async (db: Db, filters: IndicatorFilters) =>
  coveredBySegments(filters) && (filters.tag === undefined || (await isCountedTag(db, filters.tag)));

/** Returns whether any page in the default order is read at once: by the indexes in this order, or by the segments that count a tag. */
async function isInDefaultOrder(db: Db, { since, ...filters }: IndicatorFilters): Promise<boolean> {
  const { tag } = filters;
  if (tag === undefined) return coveredBySummary(filters);
  return coveredBySegments(filters) && (await isCountedTag(db, tag));
}

/** Returns the numbers of matches by value, in ascending order of the values; undefined: nothing counts them. */
async function countsByValue(
  db: Db,
  { principal, filters }: PageQuery,
  by: 'severity' | 'confidence',
  bounds: Bounds,
): Promise<{ value: string; count: number }[] | undefined> {
  const isSummed = by === 'severity' ? isCountable(filters) : coveredBySummary(filters);
  if (isSummed) return (await countByValue(principal, filters, by).execute(db)).rows;
  const { tag } = filters;
  const ofOne = { ...filters, [by]: filters[by] ?? 0 };
  if (!coveredBySegments(ofOne) || (tag !== undefined && !(await isCountedTag(db, tag)))) return undefined;
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
  const { total, rows: newest } = await read(filters, 0);
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
      and last_seen <= ${newest[0]?.last ?? null}::timestamptz order by last_seen, id ${limit})
    ${limit}`;
  return { total, rows: await rowsOf(db, shown, page, more) };
}
