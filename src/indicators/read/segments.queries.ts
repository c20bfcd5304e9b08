import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { MAX_PAGE_SIZE } from '../../db/expressions.ts';
import { listChanges, type Principal, segmentCount, visible } from '../../db/visibility.ts';
import { INDICATOR_TYPES, SEVERITIES } from '../../model/vocabulary.ts';
import {
  type IndicatorFilters,
  listedConditions,
  rowsBefore,
  type SortedPage,
} from './indicators.queries.ts';
import { countMatches } from './summaries.queries.ts';

/** Returns whether the segments of the list count the matches of these filters, if the tag is one that they count. */
export function coveredBySegments({
  type,
  types,
  severity,
  minConfidence,
  confidence,
  since,
  tag,
  ...others
}: IndicatorFilters): boolean {
  const isOfTag = type === undefined && !types && confidence === undefined && (minConfidence ?? 0) % 10 === 0;
  if (tag !== undefined && !isOfTag) return false;
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

/** Returns whether the segments count the indicators of a tag; the page is read from another snapshot. */
export async function isCountedTag(db: Db, tag: string): Promise<boolean> {
  const { rows } = await sql`select from list_tag where tag = ${tag}`.execute(db);
  return rows.length > 0;
}

/** Limits of the corrections, as a number of rows. */
interface SegmentBounds {
  /** The maximum number of rows that have changed since the segments were counted, and of those that have expired. */
  changes: number;
}

/** The total that stands for counts that cannot be used. */
export const NOT_COUNTED = -1;

/**
 * Returns common table expressions: `counted` with the total, or NOT_COUNTED, `start` with the last known place of the list
 * before the page, which is the key of a row and the number of matches before it, and `stop` with the key of the first one after it.
 */
export function segmentCtes(
  principal: Principal,
  filters: IndicatorFilters,
  page: SortedPage,
  { changes }: SegmentBounds,
): RawBuilder<unknown>[] {
  const { since, tag, ...ofRows } = filters;
  const before = rowsBefore(page);
  const conditions = sql.join([sql`true`, ...matchesInOrder({ tag, ...ofRows })], sql` and `);
  const correction = (key: string) => sql`(
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= ${sql.ref(`${key}.last_seen`)}
      and (c.last_seen > ${sql.ref(`${key}.last_seen`)} or c.id < ${sql.ref(`${key}.id`)}))`;
  const ofTag = sql`(select coalesce(sum(n), 0) from segment) + (select coalesce(sum(n), 0) from changed)`;
  const ofAll = tag === undefined ? sql`(${countMatches(principal, ofRows)})` : ofTag;
  const total = since ? sql`(select total from counted_since)` : ofAll;
  const isCounted = tag === undefined ? sql`` : sql`exists (select from list_tag where tag = ${tag}) and`;
  return [
    sql`usable as materialized (
      select ${isCounted} list_segments_usable(${principal.now}::timestamptz, ${changes}::integer) as usable)`,
    sql`changed as materialized (
      select last_seen, id, n from ${listChanges(principal, changes)} where (select usable from usable) and ${conditions})`,
    sql`segment as materialized (
      select last_seen, id, n, coalesce(sum(n) over (order by last_seen desc, id rows between unbounded preceding and 1 preceding), 0) as before
      from (
        select last_seen, id, ${segmentCount(principal, keysOf(filters))} as n from ${segmentsOf(tag)}
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
    sql`stop as materialized (
      select last_seen, id from (
        select last_seen, id from segment where before - (select count(*) from changed where n < 0) >= ${before + page.pageSize}
        union all select ${END.lastSeen}, ${END.id}
      ) as after order by last_seen desc, id limit 1)`,
  ];
}

/** Returns the query of the ids of a page, in order, which are between `start` and `stop`. */
export function pageOfSegments(principal: Principal, filters: IndicatorFilters, page: SortedPage) {
  const wanted = sql`case when (select usable from usable) then ${page.pageSize} else 0 end`;
  const wholePage = sql`select * from ${listedBetween(principal, filters, keyOf('start'), keyOf('stop'))}
    limit ${wanted} offset (select ${rowsBefore(page)} - before from start)`;
  return sql`select * from (${wholePage}) as indicator limit ${sql.lit(MAX_PAGE_SIZE)}`;
}

/** Returns the segments with the counts of a tag, or of all indicators. */
const segmentsOf = (tag: string | undefined) =>
  tag === undefined
    ? sql`list_segment`
    : sql`(select last_seen, id from list_segment) as every
        left join (select * from list_segment_tag where tag = ${tag}) as of_tag using (last_seen, id)`;

/** Returns the conditions of the filters for reading in the default order. With a tag no other index serves them. */
export function matchesInOrder({ tag, since, ...listed }: IndicatorFilters): RawBuilder<SqlBool>[] {
  if (tag === undefined) return listedConditions({ since, ...listed });
  const conditions = sql.join([sql`${tag} = any (indicator.tags)`, ...listedConditions(listed)], sql` and `);
  return [sql`(${conditions}) is true`, ...listedConditions({ since })];
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
function listedBetween(principal: Principal, filters: IndicatorFilters, first: ListKey, last: ListKey) {
  const matches = sql.join([visible('indicator', principal), ...matchesInOrder(filters)], sql` and `);
  const select = sql`select id, last_seen from indicator where ${matches}`;
  return sql`(
    (${select} and last_seen = ${first.lastSeen} and id >= ${first.id}
      and id <= case when ${last.lastSeen} = ${first.lastSeen} then ${last.id} else ${LAST_ID} end order by id)
    union all
    (${select} and last_seen < ${first.lastSeen} and last_seen > ${last.lastSeen} order by last_seen desc, id)
    union all
    (${select} and last_seen < ${first.lastSeen} and last_seen = ${last.lastSeen} and id <= ${last.id} order by id)
  ) as indicator`;
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
