import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { MAX_PAGE_SIZE } from '../../db/expressions.ts';
import { listChanges, type Principal } from '../../db/visibility.ts';
import { type IndicatorFilters, rowsBefore, type SortedPage } from './indicators.queries.ts';
import { END, firstMatches, keyOf, listedBetween, matchesInOrder } from './list-order.queries.ts';
import {
  isUsable,
  NOT_COUNTED,
  SEGMENT_SIZE,
  segmentsByValue,
  segmentsOf,
  subsetOf,
} from './segment-counts.queries.ts';
import { countMatches } from './summaries.queries.ts';

/** With a smaller share of the rows, the matches of a subset are read by another index: a page in order would read too many other rows. */
const SPARSE = 0.01;

/** Limits of the corrections, as a number of rows. */
export interface SegmentBounds {
  /** The maximum number of rows that have changed since the segments were counted, and of those that have expired. */
  changes: number;
  /** As many matches of a subset are counted, however small their share of the rows is. */
  materialize: number;
}

/**
 * Returns common table expressions: `counted` with the total, or NOT_COUNTED, `start` with the last known place of the list
 * before the page, which is the key of a row and the number of matches before it, and `stop` with the key of the first one after it,
 * or after the last match.
 * @param known the total, if it was counted in the same snapshot
 */
export function segmentCtes(
  principal: Principal,
  filters: IndicatorFilters,
  page: SortedPage,
  { changes, materialize }: SegmentBounds,
  known?: number,
): RawBuilder<unknown>[] {
  const { since, ...ofRows } = filters;
  const before = rowsBefore(page);
  const end = sql`least(${before + page.pageSize}::bigint, (select total from counted))`;
  const { from, conditions } = changesOf(principal, filters, changes);
  const correction = (key: string) => sql`(
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= ${sql.ref(`${key}.last_seen`)}
      and (c.last_seen > ${sql.ref(`${key}.last_seen`)} or c.id < ${sql.ref(`${key}.id`)}))`;
  const isCountedSince = since !== undefined && known === undefined;
  const counted = isCountedSince ? sql`(select total from counted_since)` : totalOf(principal, ofRows);
  const total = known === undefined ? counted : sql`${known}::bigint`;
  const least = sql`least(${materialize}::bigint, (select count(*) from segment) * ${sql.lit(SPARSE * SEGMENT_SIZE)})`;
  return [
    sql`usable as materialized (
      select ${isUsable(principal, filters, changes)} as usable)`,
    sql`changed as materialized (
      select last_seen, id, n from ${from} where (select usable from usable) and ${conditions})`,
    sql`segment as materialized (
      select last_seen, id, n, coalesce(sum(n) over (order by last_seen desc, id rows between unbounded preceding and 1 preceding), 0) as before
      from (
        select last_seen, id, coalesce(n, 0) as n from ${segmentsOf('list_segment', principal, filters, since)}
      ) as counted_segment)`,
    ...(isCountedSince ? countedSince(principal, filters, since) : []),
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
export const totalOf = (principal: Principal, filters: IndicatorFilters) =>
  filters.tag === undefined
    ? sql`(${countMatches(principal, filters)})`
    : sql`(select coalesce(sum(n), 0) from segment) + (select coalesce(sum(n), 0) from changed)`;

/** Returns the FROM item of the changes since the segments were counted, and the conditions of those that match the filters but `since`. */
export const changesOf = (
  principal: Principal,
  { since, sourceId, ...listed }: IndicatorFilters,
  most: number,
) => ({
  from: listChanges(principal, most, sourceId),
  conditions: sql.join([sql`true`, ...matchesInOrder(principal, listed)], sql` and `),
});

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
 * Returns the query of the last segment that begins at a time or later, which contains this time: its key and that of the next one, if there
 * is one. `is_nearer`: it begins nearer to the time than it ends; `edge_seen` and `edge_id` are the key of the nearer end.
 */
function segmentWithTime(since: string) {
  const time = sql`${since}::timestamptz`;
  const seconds = (at: RawBuilder<unknown>) => sql`extract(epoch from ${at})::float8`;
  const isNearer = sql`${seconds(sql`last_seen`)} - ${seconds(time)} <= ${seconds(time)} - ${seconds(sql`next_seen`)}`;
  return sql`
    select *, case when is_nearer then last_seen else next_seen end as edge_seen, case when is_nearer then id else next_id end as edge_id
    from (
      select *, coalesce(${isNearer}, true) as is_nearer
      from (select last_seen, id from list_segment where last_seen >= ${time} order by last_seen, id desc limit 1) as last
        left join (
          select last_seen as next_seen, id as next_id from list_segment where last_seen < ${time} order by last_seen desc, id limit 1
        ) as next on true
    ) as segment`;
}

/** Returns the condition that a key comes before the nearer end of the segment in the table `with_time`. */
const isBeforeEdge = sql<SqlBool>`last_seen >= (select edge_seen from with_time)
  and (last_seen > (select edge_seen from with_time) or id < (select edge_id from with_time))`;

/**
 * Returns a FROM item: the matches between `since` and the nearer end of the segment in the table `with_time`, which are to be added to
 * those before this end (`n` is 1) or to be subtracted from them (-1).
 */
function matchesUpToEdge(principal: Principal, filters: IndicatorFilters, columns: RawBuilder<unknown>) {
  const { since, ...ofRows } = filters;
  const of = (column: string) => sql`(select ${sql.ref(column)} from with_time)`;
  const added = listedBetween(principal, filters, keyOf('with_time'), END, { columns });
  const subtracted = firstMatches(principal, ofRows, {
    bounds: sql`last_seen < ${since}::timestamptz and last_seen >= ${of('next_seen')}
      and (last_seen > ${of('next_seen')} or id < ${of('next_id')})`,
    columns,
    order: sql`last_seen desc, id`,
    limit: sql`all`,
  });
  return sql`(
    select *, 1 as n from ${added} where ${of('is_nearer')}
    union all
    select *, -1 as n from (${subtracted}) as indicator where not ${of('is_nearer')}
  ) as indicator`;
}

/** Returns common table expressions: `counted_since` has the number of matches since a time. */
const countedSince = (principal: Principal, filters: IndicatorFilters, since: string) => [
  sql`with_time as materialized (${segmentWithTime(since)})`,
  sql`counted_since as materialized (
    select sum(n)::bigint as total from (
      select n from segment where ${isBeforeEdge}
      union all select n from changed where ${isBeforeEdge}
      union all select n from ${matchesUpToEdge(principal, filters, sql`id, last_seen`)}
      union all select 0
    ) as counted)`,
];

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
  const segments = segmentsByValue(
    principal,
    values.map((each) => ({ ...ofRows, [column]: each })),
    since,
  );
  const isWhole = since === undefined ? sql`true` : isBeforeEdge;
  const columns = sql`id, last_seen, ${sql.ref(column)}`;
  const [withTime, ofPart] =
    since === undefined
      ? [sql``, sql``]
      : [
          sql`with_time as materialized (${segmentWithTime(since)}),`,
          sql`union all select ${value}, n from ${matchesUpToEdge(principal, filters, columns)}`,
        ];
  return sql`
    with ${withTime} counted as materialized (
      select number, sum(n) as n from ${segments} where ${isWhole} group by number
    ), other as materialized (
      select value, sum(n) as n from (
        select ${value} as value, n from ${from} where ${conditions} and ${isWhole}
        ${ofPart}
      ) as every group by value
    )
    select each.value, (coalesce(counted.n, 0) + coalesce(other.n, 0))::bigint as count
    from unnest(${values.map(String)}::text[]) with ordinality as each (value, number)
      left join counted using (number) left join other using (value)
    where ${isUsable(principal, filters, changes)}
    order by number`;
}
