import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Principal, summaryCorrection, visible } from '../../db/visibility.ts';
import type { IndicatorType, Tlp } from '../../model/vocabulary.ts';
import type { IndicatorFilters } from './indicators.queries.ts';

/** A hash of an indicator's state, which changes with every change of the indicator. */
export const ROW_HASH = sql`indicator_hash(indicator.id, indicator.version, indicator.created_at, indicator.modified_at)`;

/** The summary of the indicators of one type and TLP that are, or are not, for detection. */
export interface SummaryRow {
  type: IndicatorType;
  tlp: Tlp;
  for_detection: boolean;
  count: number;
  /** The hash of the indicators, independent of their order; text, because a number would not be exact. */
  hash: string;
}

/** Returns whether the summary table can count the matches of these filters. */
export function coveredBySummary({
  type,
  types,
  severity,
  minConfidence,
  confidence,
  forDetection,
  ...others
}: IndicatorFilters): boolean {
  return Object.values(others).every((value) => value === undefined);
}

/**
 * Returns the query that summarizes the matches visible to the principal, as rows of `SummaryRow`, except
 * that the hash is a bigint and several rows may have the same key. It reads the summary table, which every
 * write updates, and the correction: the few indicators that have expired and are still in the sums, or the reverse.
 */
export function summaries(principal: Principal, filters: IndicatorFilters): RawBuilder<SummaryRow> {
  const conditions = sql.join(summaryConditions(filters), sql` and `);
  return sql<SummaryRow>`
    select type, tlp, for_detection, count, hash from indicator_summary
    where ${visible('indicator_summary', principal)} and ${conditions}
    union all
    select type, tlp, for_detection, n, ${ROW_HASH} from ${summaryCorrection(principal)} where ${conditions}`;
}

/** Returns whether `countedFrom` can count the matches of these filters. */
export function isCountable(filters: IndicatorFilters): boolean {
  const { tag, ...others } = filters;
  return coveredBySummary(others) && (tag === undefined || isCountedByTag(others));
}

/** Returns whether the summary table of tags, which has fewer columns, can count the matches. */
function isCountedByTag({ minConfidence, confidence, forDetection }: IndicatorFilters): boolean {
  return minConfidence === undefined && confidence === undefined && forDetection === undefined;
}

/** The key under which the summary table of tags counts all indicators. */
const EVERY_TAG = '';

/**
 * Returns the query of the number of matches visible to the principal, as `total`. It reads summaries and the
 * correction like `summaries`; where it can, it reads the summary table of tags.
 */
export function countMatches(
  principal: Principal,
  { tag, ...filters }: IndicatorFilters,
): RawBuilder<{ total: number }> {
  const table = isCountedByTag(filters) ? 'indicator_tag_summary' : 'indicator_summary';
  const conditions = sql.join(summaryConditions(filters), sql` and `);
  const ofTag = table === 'indicator_tag_summary' ? sql`tag = ${tag ?? EVERY_TAG}` : sql`true`;
  const tagged = tag === undefined ? sql`true` : sql`tags @> array[${tag}]::text[]`;
  return sql`select (
    (select coalesce(sum(count), 0) from ${sql.table(table)} where ${ofTag} and ${visible(table, principal)} and ${conditions})
    + (select coalesce(sum(n), 0) from ${summaryCorrection(principal)} where ${tagged} and ${conditions})
  )::bigint as total`;
}

/**
 * Returns the query of the numbers of matches visible to the principal by their value of a column, in the order of the values; some may
 * be zero. By confidence, no tag is allowed.
 */
export function countByValue(
  principal: Principal,
  { tag, ...filters }: IndicatorFilters,
  column: 'severity' | 'confidence',
): RawBuilder<{ value: string; count: number }> {
  const conditions = sql.join(summaryConditions(filters), sql` and `);
  const table = tag === undefined ? 'indicator_summary' : 'indicator_tag_summary';
  const ofTag = tag === undefined ? sql`true` : sql`tag = ${tag}`;
  const tagged = tag === undefined ? sql`true` : sql`tags @> array[${tag}]::text[]`;
  return sql`
    select value::text, sum(count)::bigint as count
    from (
      select ${sql.ref(column)} as value, count from ${sql.table(table)}
      where ${ofTag} and ${visible(table, principal)} and ${conditions}
      union all
      select ${sql.ref(column)}, n from ${summaryCorrection(principal)} where ${tagged} and ${conditions}
    ) as counted
    group by counted.value order by counted.value`;
}

/** Returns the conditions on columns that both the summary tables and the correction have. */
function summaryConditions({
  type,
  types,
  severity,
  minConfidence,
  confidence,
  forDetection,
}: IndicatorFilters) {
  return [
    sql<SqlBool>`true`,
    ...(type ? [sql<SqlBool>`type = ${type}`] : []),
    ...(types ? [sql<SqlBool>`type = any (${types}::text[]::indicator_type[])`] : []),
    ...(severity ? [sql<SqlBool>`severity = ${severity}`] : []),
    ...(minConfidence === undefined ? [] : [sql<SqlBool>`confidence >= ${minConfidence}`]),
    ...(confidence === undefined ? [] : [sql<SqlBool>`confidence = ${confidence}`]),
    ...(forDetection === undefined ? [] : [sql<SqlBool>`for_detection = ${forDetection}`]),
  ];
}
