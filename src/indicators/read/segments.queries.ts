import { type RawBuilder, sql } from 'kysely';
import { MAX_PAGE_SIZE } from '../../db/expressions.ts';
import { listChanges, type Principal } from '../../db/visibility.ts';
import { type IndicatorFilters, rowsBefore, type SortedPage } from './indicators.queries.ts';
import { END, firstMatches, keyOf, listedBetween, matchesInOrder } from './list-order.queries.ts';
import { isUsable, NOT_COUNTED, SEGMENT_SIZE, segmentsOf, subsetOf } from './segment-counts.queries.ts';
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
 * Returns the common table expression of the number of matches from a time on: that of whole segments, and of a part of the one that has
 * this time, which is counted from its nearer end.
 */
function countedSince(
  principal: Principal,
  filters: IndicatorFilters,
  correction: (key: string) => RawBuilder<unknown>,
) {
  const { since, ...ofRows } = filters;
  const time = sql`${since}::timestamptz`;
  const seconds = (at: RawBuilder<unknown>) => sql`extract(epoch from ${at})::float8`;
  const [last, next] = [sql`last.last_seen`, sql`next.last_seen`];
  const isNearer = sql`${seconds(last)} - ${seconds(time)} <= ${seconds(time)} - ${seconds(next)}`;
  const first = listedBetween(principal, filters, { lastSeen: last, id: sql`last.id` }, END);
  const rest = firstMatches(principal, ofRows, {
    bounds: sql`last_seen < ${time} and last_seen >= ${next} and (last_seen > ${next} or id < next.id)`,
    order: sql`last_seen desc, id`,
    limit: sql`all`,
  });
  return sql`counted_since as materialized (
    select case
      when coalesce(${isNearer}, true) then last.before + ${correction('last')} + (select count(*) from ${first})
      else last.before + last.n + ${correction('next')} - (select count(*) from (${rest}) as indicator)
    end as total
    from (select * from segment order by last_seen, id desc limit 1) as last left join (
      select last_seen, id from list_segment where last_seen < ${time} order by last_seen desc, id limit 1
    ) as next on true)`;
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
