import { type RawBuilder, sql } from 'kysely';
import { listChanges, type Principal, segmentCount, visible } from '../../db/visibility.ts';
import { INDICATOR_TYPES, SEVERITIES } from '../../model/vocabulary.ts';
import { type IndicatorFilters, listedConditions } from './indicators.queries.ts';
import { countMatches } from './summaries.queries.ts';

/** Returns whether the segments of the list count the matches of these filters. */
export function coveredBySegments({
  type,
  types,
  severity,
  minConfidence,
  confidence,
  since,
  ...others
}: IndicatorFilters): boolean {
  const isByKind = [type, types, severity].some((value) => value !== undefined);
  const isByConfidence = Boolean(minConfidence) || confidence !== undefined;
  return Object.values(others).every((value) => value === undefined) && !(isByKind && isByConfidence);
}

/** Returns the keys of the matches in the counts of a segment, as in the function list_segment_places. */
function keysOf({ type, types, severity, minConfidence, confidence }: IndicatorFilters): number[] {
  const ofSeverity = severity ? SEVERITIES.indexOf(severity) + 1 : 0;
  const wanted = type ? (types && !types.includes(type) ? [] : [type]) : types;
  if (wanted) return [...new Set(wanted)].map((each) => 206 + 6 * INDICATOR_TYPES.indexOf(each) + ofSeverity);
  if (confidence !== undefined) return confidence >= (minConfidence ?? 0) ? [50 + confidence] : [];
  return minConfidence ? keysFrom(minConfidence) : [ofSeverity];
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

/** Limits of the corrections, as a number of rows. */
interface SegmentBounds {
  /** The maximum number of rows that have changed since the segments were counted, and of those that have expired. */
  changes: number;
}

/** The total that stands for counts that cannot be used. */
export const NOT_COUNTED = -1;

/**
 * Returns common table expressions: `counted` with the total, or NOT_COUNTED, and `start` with the last known place of the list
 * before the page: the key of a row, and the number of matches before it.
 * @param before the number of rows before the page
 */
export function segmentCtes(
  principal: Principal,
  filters: IndicatorFilters,
  before: number,
  { changes }: SegmentBounds,
): RawBuilder<unknown>[] {
  const { since, ...ofRows } = filters;
  const conditions = sql.join([sql`true`, ...listedConditions(ofRows)], sql` and `);
  const correction = (key: string) => sql`(
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= ${sql.ref(`${key}.last_seen`)}
      and (c.last_seen > ${sql.ref(`${key}.last_seen`)} or c.id < ${sql.ref(`${key}.id`)}))`;
  const total = since ? sql`(select total from counted_since)` : sql`(${countMatches(principal, ofRows)})`;
  return [
    sql`usable as materialized (
      select list_segments_usable(${principal.now}::timestamptz, ${changes}::integer) as usable)`,
    sql`changed as materialized (
      select last_seen, id, n from ${listChanges(principal, changes)} where (select usable from usable) and ${conditions})`,
    sql`segment as materialized (
      select last_seen, id, coalesce(sum(n) over (order by last_seen desc, id rows between unbounded preceding and 1 preceding), 0) as before
      from (
        select last_seen, id, ${segmentCount(principal, keysOf(filters))} as n from list_segment
        where ${since ? sql`last_seen >= ${since}::timestamptz` : sql`true`}
      ) as counted_segment)`,
    ...(since ? [countedSince(principal, filters, correction)] : []),
    sql`counted as (
      select case when (select usable from usable) then ${total} else ${sql.lit(NOT_COUNTED)} end::bigint as total)`,
    // Corrected, its place is not behind the page.
    sql`start as materialized (
      select last_seen, id, before + ${correction('segment')} as before from segment
      where last_seen = 'infinity' or before + (select count(*) from changed where n > 0) <= ${before}
      order by last_seen, id desc limit 1)`,
  ];
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
      + (select count(*) from ${listedFrom(principal, filters, { lastSeen: sql`last.last_seen`, id: sql`last.id` })})
    ) as total
    from (select * from segment order by last_seen, id desc limit 1) as last)`;
}

/** A key of the list, as expressions. */
interface ListKey {
  lastSeen: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
}

/** Returns the visible matches from a key of the list on, in order; those with the time of the key come first. */
export function listedFrom(
  principal: Principal,
  filters: IndicatorFilters,
  { lastSeen, id }: ListKey,
  limit: RawBuilder<unknown> = sql``,
) {
  const matches = sql.join([visible('indicator', principal), ...listedConditions(filters)], sql` and `);
  return sql`(
    (select id, last_seen from indicator where ${matches} and last_seen = ${lastSeen} and id >= ${id} order by id ${limit})
    union all
    (select id, last_seen from indicator where ${matches} and last_seen < ${lastSeen}
      order by last_seen desc, id ${limit})) as indicator`;
}

/** A place in the list by the time of the first sighting: how many matches the page skips from `time` on. */
interface FirstSeenPlace {
  total: number;
  time: string;
  skipped: number;
}

/**
 * Returns the query of the place from which to read a page in the order of the first sighting: rows up to `time` in descending
 * order, and rows after it in ascending order. It returns no row if the counts cannot be used.
 */
export function placeByFirstSeen(
  principal: Principal,
  filters: IndicatorFilters,
  before: number,
  isAscending: boolean,
  { changes }: SegmentBounds,
): RawBuilder<FirstSeenPlace> {
  const conditions = sql.join([sql`true`, ...listedConditions(filters)], sql` and `);
  const skipped = isAscending
    ? sql`(select total from counted) - newer - (select coalesce(sum(n), 0) from changed as c where c.first_seen > segment.first_seen)`
    : sql`newer + (select coalesce(sum(n), 0) from changed as c where c.first_seen > segment.first_seen)`;
  const atMost = isAscending ? sql`(select sum(n) from segment) - newer` : sql`newer`;
  return sql`
    with changed as materialized (
      select first_seen, n from ${listChanges(principal, changes)} where ${conditions}
    ), segment as materialized (
      select first_seen, n,
        coalesce(sum(n) over (order by first_seen desc rows between unbounded preceding and 1 preceding), 0) as newer
      from (select first_seen, ${segmentCount(principal, keysOf(filters))} as n from first_seen_segment) as counted_segment
    ), counted as (${countMatches(principal, filters)})
    select (select total from counted) as total, time, (${before}::bigint - skipped)::bigint as skipped
    from (
      (select first_seen::text as time, ${skipped} as skipped from segment
        where ${atMost} + (select count(*) from changed where n > 0) <= ${before}::bigint
        order by first_seen ${sql.raw(isAscending ? 'desc' : '')} limit 1)
      union all
      select ${sql.lit(isAscending ? '-infinity' : 'infinity')}, 0
    ) as place
    where list_segments_usable(${principal.now}::timestamptz, ${changes}::integer)
    limit 1`;
}
