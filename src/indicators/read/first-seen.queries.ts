import { type RawBuilder, sql } from 'kysely';
import { listChanges, type Principal, visible } from '../../db/visibility.ts';
import { type IndicatorFilters, rowsBefore, type SortedPage } from './indicators.queries.ts';
import { matchesInOrder } from './list-order.queries.ts';
import { isUsable, segmentsOf, weekOf } from './segment-counts.queries.ts';
import { changesOf, type SegmentBounds, totalOf } from './segments.queries.ts';

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
      from (select first_seen, coalesce(n, 0) as n from ${segmentsOf('first_seen_segment', principal, filters)}) as counted_segment
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

/** The segments in the order of the first sighting that have the first indicators seen since a time. */
export interface FirstSeenSince {
  /** The time after which their indicators were first seen, and the latest of these. */
  after: string;
  until: string;
  /** The number of their indicators, seen since or not. */
  count: number;
}

/**
 * Returns the query of the first segments that are expected to have at least so many indicators seen since a time, of any TLP; no row: the
 * counts cannot be used, or there are not so many. Only indicators that have changed since they were counted may be in earlier ones.
 */
export function firstSeenSince(
  principal: Principal,
  since: string,
  wanted: number,
  { changes }: SegmentBounds,
): RawBuilder<FirstSeenSince> {
  const time = sql`${since}::timestamptz`;
  const week = weekOf(time);
  // Of the week that has this time half of the part after it is expected: most in the first segments were seen at its beginning.
  const share = sql`(1 - (extract(epoch from ${time}) / 604800 - ${week})) / 2`;
  // The windows have the order of the primary key, and end with the first row that is wanted.
  return sql`
    select after::text as after, first_seen::text as until, count::float8 as count
    from (
      select first_seen, expected, min(before) filter (where is_found) over list as after,
        sum(count) filter (where is_found) over list as count
      from (
        select first_seen, lag(first_seen, 1, '-infinity') over list as before,
          counts[1] + counts[2] + counts[3] + counts[4] + counts[5] as count,
          sum(since) over list > 0 as is_found, sum(likely) over list as expected
        from first_seen_segment as segment, lateral (
          select coalesce(sum(count), 0) as since,
            coalesce(sum(case when week > ${week} then count else count * ${share} end), 0) as likely
          from first_seen_segment_week as of_week
          where of_week.first_seen = segment.first_seen and week >= ${week}
        ) as of_segment
        window list as (order by first_seen)
      ) as segment
      window list as (order by first_seen)
    ) as segment
    where expected >= ${wanted} and ${isUsable(principal, {}, changes)}
    order by first_seen limit 1`;
}

/**
 * Returns the query of the ids of the matches in these segments, and of earlier ones that have changed since they were counted.
 * @param order of the first sighting, rising
 * @param range the number of matches to skip, and how many are wanted
 */
export function matchesFirstSeen(
  principal: Principal,
  filters: IndicatorFilters,
  { after, until }: FirstSeenSince,
  order: RawBuilder<unknown>,
  range: { skipped: number; wanted: number },
  { changes }: SegmentBounds,
) {
  const isVisible = visible('indicator', principal);
  const { since = '-infinity', ...others } = filters;
  const least = sql`${since}::timestamptz`;
  const conditions = [sql`indicator.last_seen >= ${least}`, ...matchesInOrder(principal, others)];
  // No other index is to serve these. They are tested in this order: the dearest one last.
  const isMatch = sql`(${sql.join(conditions, sql` and `)}) is true`;
  const changed = sql`(
    select id from ${listChanges(principal, changes)}
    where n > 0 and first_seen <= ${after}::timestamptz and last_seen >= ${least}
  )`;
  return sql`
    select id from (
      (select id, first_seen, last_seen from indicator
        where ${isVisible} and ${isMatch} and first_seen > ${after}::timestamptz and first_seen <= ${until}::timestamptz
        order by ${order} limit ${range.skipped + range.wanted}::bigint)
      union all
      select id, first_seen, last_seen from indicator
        where ${isVisible} and ${isMatch} and first_seen <= ${after}::timestamptz and id in ${changed}
    ) as indicator order by ${order} limit ${range.wanted}::bigint offset ${range.skipped}::bigint`;
}
