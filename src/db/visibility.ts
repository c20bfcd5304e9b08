import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { TLPS, type Tlp } from '../model/vocabulary.ts';
import type { Db } from './database.ts';
import type { Tables } from './tables.ts';

/** The caller's TLP ceiling and the time of the request, which decide what the caller may see. */
export interface Principal {
  tlpCeiling: Tlp;
  now: Date;
}

type SummaryTable =
  /** Sums of indicators that are not whitelisted and that have not been taken off as expired, in two parts. */
  | 'indicator_summary'
  /** The same sums for each tag. */
  | 'indicator_tag_summary'
  /** The same sums for each campaign, by the marking that shows both the indicator and its link. */
  | 'campaign_summary'
  /** The same sums for each source, by the TLP that shows both the indicator and the source's statement about it. */
  | 'source_summary';

export type MarkedTable =
  | 'indicator'
  | SummaryTable
  /** Links of indicators to campaigns, by any kind of relationship. */
  | 'indicator_campaign'
  /** Indicators by which the sums differ from those that have not expired at a time. */
  | 'indicator_summary_correction'
  /** Indicators by which the counts of the segments of the list differ from those that are visible. */
  | 'list_change'
  /** Statements of one source about one indicator. */
  | 'indicator_source'
  /** Statements of one source about one object of an entity, including its ids there. */
  | 'entity_source'
  | 'actor'
  | 'campaign'
  | 'technique'
  | 'software'
  | 'report'
  | 'attribute'
  | 'relationship';

/** Tables whose rows the API and the application return. */
type ReadableTable = 'indicator' | 'actor' | 'campaign' | 'technique' | 'software' | 'report' | 'attribute';

const isSummaryTable = (table: MarkedTable) =>
  ['indicator_summary', 'indicator_tag_summary', 'campaign_summary', 'source_summary'].includes(table);

const isEntityTable = (table: MarkedTable) =>
  ['actor', 'campaign', 'technique', 'software', 'report', 'attribute'].includes(table);

/**
 * Returns the condition under which a row of `table` is visible to `principal`. Every query for a caller
 * (lists, totals, counts, joins) applies it to every marked table that it reads, relationships included.
 * @param alias the name of the table in the query
 */
export function visible(table: MarkedTable, principal: Principal, alias: string = table) {
  const under = visibleToAnalyst(table, principal, alias);
  if (isEntityTable(table)) return sql<SqlBool>`(not ${sql.ref(`${alias}.withdrawn`)} and ${under})`;
  if (isSummaryTable(table))
    // The part of the sums that expires next has expired as a whole from its key on.
    return sql<SqlBool>`(${under} and (not ${sql.ref(`${alias}.expires_next`)}
      or (select next_expires_at from indicator_summary_expiry) > ${principal.now}::timestamptz))`;
  if (table !== 'indicator') return under;
  const expiresAt = sql.ref(`${alias}.expires_at`);
  return sql<SqlBool>`(not ${sql.ref(`${alias}.whitelisted`)} and ${under}
    and (${expiresAt} is null or ${expiresAt} > ${principal.now}::timestamptz))`;
}

/**
 * Returns the difference of the sums of indicators for `principal`, without the part that has expired as a whole: indicators that have
 * expired and are still in the sums (`n` is -1), and indicators that a worker with a fast clock has taken off too early (1).
 */
export function summaryCorrection(principal: Principal) {
  return sql`(select * from indicator_summary_correction(${principal.now}::timestamptz) as drifted
    where ${visibleToAnalyst('indicator_summary_correction', principal, 'drifted')}) as indicator`;
}

/**
 * Returns the difference between the counts of the segments of the list and the indicators visible to `principal`: rows
 * to subtract (`n` is -1) and to add (1).
 * @param most the maximum number of rows that have changed, and of those that have expired
 * @param sourceId only those that a statement of this source shows
 */
export function listChanges({ tlpCeiling, now }: Principal, most: number, sourceId?: string) {
  const at = sql`${now}::timestamptz, ${most}::integer`;
  const changes = sourceId
    ? sql`list_changes_of_sources(${at}, ${sourceId}::uuid)`
    : sql`list_changes(${at})`;
  return sql`(select * from ${changes} as list_change
    where ${visibleToAnalyst('list_change', { tlpCeiling, now })}) as indicator`;
}

/** A key of the counts of a segment, as in the function list_segment_places, or the first and the last of some keys. */
export type CountKey = number | readonly [first: number, last: number];

/** Returns the number of indicators of a row of `list_segment` up to the ceiling of `principal`. */
export function segmentCount({ tlpCeiling }: Principal, keys: readonly CountKey[]) {
  const allowed = TLPS.slice(0, TLPS.indexOf(tlpCeiling) + 1);
  const placeOf = (key: number, tlp: number) => TLPS.length * key + tlp + 1;
  const counts = keys.flatMap((key) => {
    const [first, last] = typeof key === 'number' ? [key, key] : key;
    if (first === last)
      return allowed.map((_, tlp) => sql`coalesce(counts[${placeOf(first, tlp)}::integer], 0)`);
    const places = sql`counts[${placeOf(first, 0)}::integer : ${placeOf(last, TLPS.length - 1)}::integer]`;
    return [
      sql`(select coalesce(sum(n), 0) from unnest(${places}) with ordinality as counted (n, place)
        where (place - 1) % ${sql.lit(TLPS.length)} < ${allowed.length}::integer)`,
    ];
  });
  return sql`(${sql.join([sql`0`, ...counts], sql` + `)})`;
}

/** A range of keys of the counts of a segment. */
export interface CountRange {
  first: number;
  last: number;
  /** The number that stands for the first key. */
  number: number;
  /** Whether each later key has the next number; otherwise all have this one. */
  isByKey: boolean;
}

/** Returns a FROM item: the numbers `n` of indicators of a row of `list_segment` up to the ceiling of `principal`, by `number`, in parts to be summed. */
export function segmentCounts({ tlpCeiling }: Principal, ranges: readonly CountRange[]) {
  const allowed = TLPS.indexOf(tlpCeiling) + 1;
  const parts = ranges.map(({ first, last, number, isByKey }) => {
    const places = sql`counts[${TLPS.length * first + 1}::integer : ${TLPS.length * (last + 1)}::integer]`;
    const offset = isByKey ? sql`(place - 1)::integer / ${sql.lit(TLPS.length)}` : sql`0`;
    return sql`
      select ${number}::integer + ${offset} as number, n
      from unnest(${places}) with ordinality as counted (n, place) where (place - 1) % ${sql.lit(TLPS.length)} < ${allowed}::integer`;
  });
  return sql`(${sql.join([sql`select 0 as number, 0 as n`, ...parts], sql` union all `)})`;
}

/** Returns the number of indicators of a row of `list_gram` up to the ceiling of `principal`. */
export const gramCount = (principal: Principal) => segmentCount(principal, [0]);

/**
 * Starts a query of the rows of a table that a caller may see, under the name of the table.
 */
export function visibleFrom<Table extends ReadableTable>(db: Db, table: Table, principal: Principal) {
  const query = db.selectFrom(table as ReadableTable).where(visible(table, principal));
  return query as unknown as SelectQueryBuilder<Tables, Table, object>;
}

/**
 * Returns the condition for analysts, who also see whitelisted and expired rows, up to the ceiling of the
 * role.
 */
export function visibleToAnalyst(table: MarkedTable, { tlpCeiling }: Principal, alias: string = table) {
  return sql<SqlBool>`${sql.ref(`${alias}.tlp`)} <= ${tlpCeiling}::tlp`;
}
