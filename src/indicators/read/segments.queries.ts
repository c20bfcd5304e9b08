import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { MAX_PAGE_SIZE } from '../../db/expressions.ts';
import { type CountKey, listChanges, type Principal, segmentCount, visible } from '../../db/visibility.ts';
import { INDICATOR_TYPES, SEVERITIES } from '../../model/vocabulary.ts';
import {
  firstInListOrder,
  type IndicatorFilters,
  isStatedBy,
  listedConditions,
  rowsBefore,
  type SortedPage,
} from './indicators.queries.ts';
import { countMatches } from './summaries.queries.ts';

/** The kinds of subsets of all indicators that are counted apart, if they are large: the table of the counted ones, and its key. */
export const COUNTED_SUBSETS = {
  tag: { list: 'list_tag', key: 'tag', type: 'text' },
  source: { list: 'list_source', key: 'source_id', type: 'uuid' },
} as const;
export type Subset = keyof typeof COUNTED_SUBSETS;

/** Indicators of a segment when it begins; with twice as many it is divided. */
export const SEGMENT_SIZE = 8_000;
/** With a smaller share of the rows, the matches of a subset are read by another index: a page in order would read too many other rows. */
const SPARSE = 0.01;

/** Returns the subset that the filters select; undefined: none. With a tag and a source it is that of the tag. */
export function subsetOf({ tag, sourceId }: IndicatorFilters): { subset: Subset; key: string } | undefined {
  if (tag !== undefined) return { subset: 'tag', key: tag };
  return sourceId === undefined ? undefined : { subset: 'source', key: sourceId };
}

/** The columns of the key of each table of segments; the tables of subsets have the same, after the key of the subset. */
export const SEGMENT_KEYS = {
  list_segment: ['last_seen', 'id'],
  first_seen_segment: ['first_seen'],
} as const;

/** Returns whether `matchesInOrder` has all of these filters, and at most one of them selects a subset. */
export function coveredByOrder({
  type,
  types,
  severity,
  minConfidence,
  confidence,
  since,
  tag,
  sourceId,
  ...others
}: IndicatorFilters): boolean {
  return (
    Object.values(others).every((value) => value === undefined) &&
    (tag === undefined || sourceId === undefined)
  );
}

/** Returns whether the segments of the list count the matches of these filters, if the tag or source is one that they count. */
export function coveredBySegments(filters: IndicatorFilters): boolean {
  const { type, types, severity, minConfidence, confidence } = filters;
  // They count the values of confidence by severity and by type, but not by both.
  const isByBoth = (type !== undefined || types !== undefined) && severity !== undefined;
  const isByConfidence = confidence !== undefined || Boolean(minConfidence);
  return coveredByOrder(filters) && !(isByBoth && isByConfidence);
}

/** Returns whether the matches are counted in `counts_with_confidence`. */
const isWithConfidence = ({ type, types, severity, confidence, minConfidence }: IndicatorFilters) =>
  (confidence !== undefined || Boolean(minConfidence)) &&
  [type, types, severity].some((value) => value !== undefined);

/** Returns the keys of the matches in the counts of a segment, as in the function list_segment_places. */
function keysOf(filters: IndicatorFilters): CountKey[] {
  const { type, types, severity, minConfidence = 0, confidence } = filters;
  if (confidence !== undefined && confidence < minConfidence) return [];
  const severityNumber = severity ? SEVERITIES.indexOf(severity) + 1 : 0;
  const wanted = type ? (types && !types.includes(type) ? [] : [type]) : types;
  const typeNumbers = wanted && [...new Set(wanted)].map((each) => INDICATOR_TYPES.indexOf(each));
  if (isWithConfidence(filters)) {
    const begins = typeNumbers?.map((number) => 505 + 101 * number) ?? [101 * (severityNumber - 1)];
    return begins.map((begin) => [begin + (confidence ?? minConfidence), begin + (confidence ?? 100)]);
  }
  if (typeNumbers) return typeNumbers.map((number) => 206 + 6 * number + severityNumber);
  if (confidence !== undefined) return [50 + confidence];
  return minConfidence > 0 ? keysFrom(minConfidence) : [severityNumber];
}

/** Returns the keys of the values of confidence from the minimum on: single ones up to the next ten, then tens. */
function keysFrom(minConfidence: number): number[] {
  const tens = Math.ceil(minConfidence / 10);
  const single = Array.from({ length: 10 * tens - minConfidence }, (_, i) => minConfidence + i);
  return [
    ...single.filter((value) => value <= 100).map((value) => 50 + value),
    ...[...Array(11).keys()].slice(tens).map((ten) => 10 + ten),
  ];
}

/** Returns whether the segments count the indicators of a subset; the page is read from another snapshot. */
export async function isCountedSubset(
  db: Db,
  subset: NonNullable<ReturnType<typeof subsetOf>>,
): Promise<boolean> {
  const { rows } = await sql`select ${isCounted(subset)} as counted`.execute(db);
  return (rows as [{ counted: boolean }])[0].counted;
}

const isCounted = ({ subset, key }: { subset: Subset; key: string }) =>
  sql`exists (select from ${sql.table(COUNTED_SUBSETS[subset].list)} where ${sql.ref(COUNTED_SUBSETS[subset].key)} = ${key})`;

/** Limits of the corrections, as a number of rows. */
interface SegmentBounds {
  /** The maximum number of rows that have changed since the segments were counted, and of those that have expired. */
  changes: number;
  /** As many matches of a subset are counted, however small their share of the rows is. */
  materialize: number;
}

/** The total that stands for counts that cannot be used. */
export const NOT_COUNTED = -1;

/**
 * Returns common table expressions: `counted` with the total, or NOT_COUNTED, `start` with the last known place of the list
 * before the page, which is the key of a row and the number of matches before it, and `stop` with the key of the first one after it,
 * or after the last match.
 */
export function segmentCtes(
  principal: Principal,
  filters: IndicatorFilters,
  page: SortedPage,
  { changes, materialize }: SegmentBounds,
): RawBuilder<unknown>[] {
  const { since, ...ofRows } = filters;
  const before = rowsBefore(page);
  const end = sql`least(${before + page.pageSize}::bigint, (select total from counted))`;
  const { from, conditions } = changesOf(principal, filters, changes);
  const correction = (key: string) => sql`(
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= ${sql.ref(`${key}.last_seen`)}
      and (c.last_seen > ${sql.ref(`${key}.last_seen`)} or c.id < ${sql.ref(`${key}.id`)}))`;
  const total = since ? sql`(select total from counted_since)` : totalOf(principal, ofRows);
  const least = sql`least(${materialize}::bigint, (select count(*) from segment) * ${sql.lit(SPARSE * SEGMENT_SIZE)})`;
  return [
    sql`usable as materialized (
      select ${isUsable(principal, filters, changes)} as usable)`,
    sql`changed as materialized (
      select last_seen, id, n from ${from} where (select usable from usable) and ${conditions})`,
    sql`segment as materialized (
      select last_seen, id, n, coalesce(sum(n) over (order by last_seen desc, id rows between unbounded preceding and 1 preceding), 0) as before
      from (
        select last_seen, id, coalesce(n0, 0) as n from ${segmentsOf('list_segment', principal, [filters])}
        where ${since ? sql`last_seen >= ${since}::timestamptz` : sql`true`}
      ) as counted_segment)`,
    ...(since ? [countedSince(principal, filters, correction)] : []),
    sql`counted as materialized (
      select case when usable and total >= ${subsetOf(filters) ? least : sql`0`} then total else ${sql.lit(NOT_COUNTED)} end::bigint as total
      from usable left join lateral (select ${total} as total) as of_all on usable)`,
    // Corrected, its place is not behind the page.
    sql`start as materialized (
      select last_seen, id, before + ${correction('segment')} as before from segment
      where last_seen = 'infinity' or before + (select count(*) from changed where n > 0) <= ${before}
      order by last_seen, id desc limit 1)`,
    // Candidates are corrected in their order, until one is behind the page.
    sql`stop as materialized (
      select last_seen, id from (
        (select last_seen, id from (
          select last_seen, id, before from segment
          where before + (select count(*) from changed where n > 0) >= ${end} order by last_seen desc, id offset 0
        ) as candidate where before + ${correction('candidate')} >= ${end} limit 1)
        union all select ${END.lastSeen}, ${END.id}
      ) as after order by last_seen desc, id limit 1)`,
  ];
}

/** Returns the total of the matches of all segments, by summaries or, with a tag, by the tables `segment` and `changed`. */
const totalOf = (principal: Principal, filters: IndicatorFilters) =>
  filters.tag === undefined
    ? sql`(${countMatches(principal, filters)})`
    : sql`(select coalesce(sum(n), 0) from segment) + (select coalesce(sum(n), 0) from changed)`;

/** Returns the FROM item of the changes since the segments were counted, and the conditions of those that match the filters but `since`. */
const changesOf = (principal: Principal, { since, sourceId, ...listed }: IndicatorFilters, most: number) => ({
  from: listChanges(principal, most, sourceId),
  conditions: sql.join([sql`true`, ...matchesInOrder(principal, listed)], sql` and `),
});

/** Returns whether the segments count the matches and can be corrected. */
function isUsable({ now }: Principal, filters: IndicatorFilters, changes: number) {
  const subset = subsetOf(filters);
  const conditions = [
    ...(subset ? [isCounted(subset)] : []),
    ...(subset?.subset === 'source' ? [statementChangesUpTo(changes)] : []),
    sql`list_segments_usable(${now}::timestamptz, ${changes}::integer)`,
  ];
  return sql.join(conditions, sql` and `);
}

/** Returns the condition that at most so many statements have changed since the segments were counted. */
export const statementChangesUpTo = (most: number) => sql`(
  select count(*) from (
    select from statement_change where revision > (select revision from list_segment_state) limit ${most + 1}) as changed
) <= ${most}`;

/** Returns the query of the ids of a page, in order, which are between `start` and `stop`. */
export function pageOfSegments(
  principal: Principal,
  filters: IndicatorFilters,
  page: SortedPage,
  isRare: boolean | undefined,
) {
  const wanted = sql`case when (select total from counted) >= 0 then ${page.pageSize} else 0 end`;
  const skipped = sql`(select ${rowsBefore(page)} - before from start)`;
  const listed = listedBetween(principal, filters, keyOf('start'), keyOf('stop'), {
    // With a limit of each part the planner reads it in order, not as a whole to be sorted.
    limit: sql`${skipped} + ${wanted}`,
    isRare: isRare && subsetOf(filters) !== undefined,
  });
  const wholePage = sql`select * from ${listed} limit ${wanted} offset ${skipped}`;
  return sql`select * from (${wholePage}) as indicator limit ${sql.lit(MAX_PAGE_SIZE)}`;
}

/**
 * Returns the segments of an order with the numbers `n0`, `n1` and so on of their matches of each of the filters, which differ in the value
 * of one alone. Only the numbers are sorted with them, not the arrays of counts.
 */
function segmentsOf(
  table: keyof typeof SEGMENT_KEYS,
  principal: Principal,
  each: readonly IndicatorFilters[],
) {
  const columns = sql.join(SEGMENT_KEYS[table].map((column) => sql.ref(column)));
  const numbers = each.map(
    (filters, i) => sql`${segmentCount(principal, keysOf(filters))} as ${sql.ref(`n${i}`)}`,
  );
  const counted = (counts: RawBuilder<unknown>) =>
    sql`(select ${columns}, ${sql.join(numbers)} from ${counts} offset 0) as segment_count`;
  const [first = {}] = each;
  const wanted = subsetOf(first);
  const column = sql.ref(isWithConfidence(first) ? 'counts_with_confidence' : 'counts');
  if (!wanted && !isWithConfidence(first)) return counted(sql.table(table));
  // The arrays are compressed: joined to an empty one, they are decompressed once, not for each element.
  const expanded = sql`select ${columns}, ${column} || '{}' as counts`;
  if (!wanted) return counted(sql`(${expanded} from ${sql.table(table)} offset 0) as expanded`);
  const isOfSubset = sql`${sql.ref(COUNTED_SUBSETS[wanted.subset].key)} = ${wanted.key}`;
  const ofSubset = sql`(
    ${expanded} from ${sql.table(`${table}_${wanted.subset}`)} where ${isOfSubset} offset 0
  ) as of_subset`;
  return sql`(select ${columns} from ${sql.table(table)}) as every left join ${counted(ofSubset)} using (${columns})`;
}

/** Returns the conditions of the filters for reading in the default order. With a subset no other index serves them. */
export function matchesInOrder(principal: Principal, filters: IndicatorFilters): RawBuilder<SqlBool>[] {
  const { tag, sourceId, since, ...listed } = filters;
  const ofSubset = isInSubset(principal, filters);
  if (ofSubset.length === 0) return listedConditions({ since, ...listed });
  // PostgreSQL tests them in this order: the dearer ones last.
  const conditions = sql.join([...listedConditions(listed), ...ofSubset], sql` and `);
  return [sql`(${conditions}) is true`, ...listedConditions({ since })];
}

/** Returns the conditions of the tag and the source for each row. */
const isInSubset = (principal: Principal, { tag, sourceId }: IndicatorFilters) => [
  ...(tag === undefined ? [] : [sql<SqlBool>`${tag} = any (indicator.tags)`]),
  ...(sourceId === undefined ? [] : [isStatedBy(sourceId, principal)]),
];

interface FirstMatches {
  /** One more condition, on their place in the list. */
  bounds: RawBuilder<unknown>;
  /** Of the index of the list. */
  columns?: RawBuilder<unknown>;
  order: RawBuilder<unknown>;
  limit: RawBuilder<unknown>;
  /** Whether few indicators meet the filters other than the tag and the source. */
  isRare?: boolean;
}

/** Returns the query of the first visible matches in one of the orders of the list. */
export function firstMatches(
  principal: Principal,
  filters: IndicatorFilters,
  { bounds, columns = sql`id, last_seen`, order, limit, isRare = false }: FirstMatches,
): RawBuilder<unknown> {
  const isVisible = visible('indicator', principal);
  if (!isRare) {
    const conditions = [isVisible, ...matchesInOrder(principal, filters), bounds];
    // A subset is read from the index of the whole list.
    return firstInListOrder(subsetOf(filters) ? {} : filters, { conditions, columns, order, limit });
  }
  // The index excludes most, which are not read.
  const { tag, sourceId, ...listed } = filters;
  const conditions = sql.join([isVisible, ...listedConditions(listed), bounds], sql` and `);
  const own = sql.join([sql`true`, ...isInSubset(principal, filters)], sql` and `);
  return sql`
    select * from (select ${columns} from indicator where ${conditions} order by ${order} offset 0) as listed
    where exists (select from indicator where indicator.id = listed.id and ${own} offset 0) limit ${limit}`;
}

/** Returns the common table expression of the number of matches from a time on: whole segments and a part of one. */
function countedSince(
  principal: Principal,
  filters: IndicatorFilters,
  correction: (key: string) => RawBuilder<unknown>,
) {
  return sql`counted_since as materialized (
    select (
      last.before + ${correction('last')}
      + (select count(*) from ${listedBetween(principal, filters, { lastSeen: sql`last.last_seen`, id: sql`last.id` }, END)})
    ) as total
    from (select * from segment order by last_seen, id desc limit 1) as last)`;
}

/** A key of the list, as expressions. */
interface ListKey {
  lastSeen: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
}

const LAST_ID = sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;
/** The key after all others. */
const END: ListKey = { lastSeen: sql`'-infinity'::timestamptz`, id: LAST_ID };

/** Returns the key that a common table expression has as its only row. */
const keyOf = (table: string): ListKey => ({
  lastSeen: sql`(select last_seen from ${sql.table(table)})`,
  id: sql`(select id from ${sql.table(table)})`,
});

/** Returns the visible matches from one key of the list to another, both included, in order: with the first time, with later ones, with the last. */
function listedBetween(
  principal: Principal,
  filters: IndicatorFilters,
  first: ListKey,
  last: ListKey,
  {
    limit = sql`all`,
    ...more
  }: Pick<FirstMatches, 'columns' | 'isRare'> & { limit?: RawBuilder<unknown> } = {},
) {
  const part = (bounds: RawBuilder<unknown>, order: RawBuilder<unknown>) =>
    sql`(${firstMatches(principal, filters, { bounds, order, limit, ...more })})`;
  return sql`(
    ${part(
      sql`last_seen = ${first.lastSeen} and id >= ${first.id}
        and id <= case when ${last.lastSeen} = ${first.lastSeen} then ${last.id} else ${LAST_ID} end`,
      sql`id`,
    )}
    union all
    ${part(sql`last_seen < ${first.lastSeen} and last_seen > ${last.lastSeen}`, sql`last_seen desc, id`)}
    union all
    ${part(sql`last_seen < ${first.lastSeen} and last_seen = ${last.lastSeen} and id <= ${last.id}`, sql`id`)}
  ) as indicator`;
}

/** A range of the list by the time of the first sighting that contains a page. */
interface FirstSeenPlace {
  total: number;
  /** The latest time of the range. */
  newest: string;
  /** The time before its earliest one. */
  oldest: string;
  /** The number of its matches that come before the page. */
  skipped: number;
}

/** Returns the query of the range to read for a page in the order of the first sighting; no row: the counts cannot be used. */
export function placeByFirstSeen(
  principal: Principal,
  filters: IndicatorFilters,
  page: SortedPage,
  isAscending: boolean,
  { changes }: SegmentBounds,
): RawBuilder<FirstSeenPlace> {
  const before = rowsBefore(page);
  const { from, conditions } = changesOf(principal, filters, changes);
  const correction = sql`(select coalesce(sum(n), 0) from changed as c where c.first_seen > segment.first_seen)`;
  const total = sql`(select total from counted)`;
  const counted = isAscending ? sql`${total} - newer` : sql`newer`;
  const skipped = isAscending ? sql`${total} - newer - ${correction}` : sql`newer + ${correction}`;
  const [newest, oldest] = isAscending ? [sql`stop`, sql`start`] : [sql`start`, sql`stop`];
  const end = sql`least(${before + page.pageSize}::bigint, ${total})`;
  const [first, last] = isAscending ? ['-infinity', 'infinity'] : ['infinity', '-infinity'];
  const [forward, backward] = isAscending ? [sql``, sql`desc`] : [sql`desc`, sql``];
  return sql`
    with changed as materialized (
      select first_seen, n from ${from} where ${conditions}
    ), segment as materialized (
      select first_seen, n,
        coalesce(sum(n) over (order by first_seen desc rows between unbounded preceding and 1 preceding), 0) as newer
      from (select first_seen, coalesce(n0, 0) as n from ${segmentsOf('first_seen_segment', principal, [filters])}) as counted_segment
    ), counted as (select (${totalOf(principal, filters)})::bigint as total),
    -- No segment has more matches before it than were counted and these.
    most as (select count(*) as n from changed where ${isAscending ? sql`n < 0` : sql`n > 0`})
    select ${total} as total, ${newest}.time as newest, ${oldest}.time as oldest, (${before}::bigint - skipped)::bigint as skipped
    from (
      (select first_seen::text as time, ${skipped} as skipped from segment
        where ${counted} + (select n from most) <= ${before}::bigint order by first_seen ${backward} limit 1)
      union all select ${sql.lit(first)}, 0
    ) as start, (
      (select first_seen::text as time from (
        select * from segment where ${counted} + (select n from most) >= ${end} order by first_seen ${forward} offset 0
      ) as segment where ${skipped} >= ${end} limit 1)
      union all select ${sql.lit(last)}
    ) as stop
    where ${isUsable(principal, filters, changes)}
    limit 1`;
}

/**
 * Returns the query of the numbers of matches visible to the principal by the given values of a column, in their order; no row: the
 * counts cannot be used.
 */
export function countByValueOfSegments(
  principal: Principal,
  filters: IndicatorFilters,
  column: 'severity' | 'confidence',
  values: readonly (string | number)[],
  { changes }: SegmentBounds,
): RawBuilder<{ value: string; count: number }> {
  const { since, ...ofRows } = filters;
  const { from, conditions } = changesOf(principal, filters, changes);
  const value = sql`${sql.ref(column)}::text`;
  const segments = segmentsOf(
    'list_segment',
    principal,
    values.map((each) => ({ ...ofRows, [column]: each })),
  );
  const sums = values.map((_, i) => sql`coalesce(sum(${sql.ref(`n${i}`)}), 0)`);
  const last = keyOf('last');
  const isBeforeLast = sql`last_seen >= ${last.lastSeen} and (last_seen > ${last.lastSeen} or id < ${last.id})`;
  const isWhole = since ? isBeforeLast : sql`true`;
  const rest = listedBetween(principal, filters, last, END, {
    columns: sql`id, last_seen, ${sql.ref(column)}`,
  });
  const ofRest = since ? sql`union all select ${value}, 1 from ${rest}` : sql``;
  return sql`
    with last as materialized (
      select last_seen, id from list_segment where last_seen >= ${since ?? '-infinity'}::timestamptz order by last_seen, id desc limit 1
    ), counted as materialized (
      select array[${sql.join(sums)}]::bigint[] as counts from ${segments} where ${isWhole}
    ), other as materialized (
      select value, sum(n) as n from (
        select ${value} as value, n from ${from} where ${conditions} and ${isWhole}
        ${ofRest}
      ) as every group by value
    )
    select each.value, (counts[number] + coalesce(other.n, 0))::bigint as count
    from counted cross join unnest(${values.map(String)}::text[]) with ordinality as each (value, number) left join other using (value)
    where ${isUsable(principal, filters, changes)}
    order by number`;
}
