import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Principal, summaryCorrection, visible } from '../../db/visibility.ts';
import type { IndicatorType, Tlp } from '../../model/vocabulary.ts';
import { type IndicatorFilters, isStatedBy } from './indicators.queries.ts';

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

/** Returns whether `countMatches` can count the matches of these filters. */
export function isCountable({ tag, sourceId, ...others }: IndicatorFilters): boolean {
  if (!coveredBySummary(others)) return false;
  if (sourceId !== undefined) return tag === undefined && others.forDetection === undefined;
  return tag === undefined || isSummedByTag(others);
}

/** Returns whether the summary table of tags, which has fewer columns, can count the matches. */
function isSummedByTag({ minConfidence, confidence, forDetection }: IndicatorFilters): boolean {
  return minConfidence === undefined && confidence === undefined && forDetection === undefined;
}

/** The key under which the summary table of tags counts all indicators. */
const EVERY_TAG = '';

/**
 * Returns the query of the number of matches visible to the principal, as `total`. It reads summaries and the
 * correction like `summaries`; where it can, it reads the summary table of tags or of sources.
 */
export function countMatches(principal: Principal, filters: IndicatorFilters): RawBuilder<{ total: number }> {
  const { sums, correction } = countedRows(
    principal,
    filters,
    isSummedByTag(filters) ? 'indicator_tag_summary' : 'indicator_summary',
  );
  return sql`select (
    (select coalesce(sum(count), 0) ${sums})
    + (select coalesce(sum(n), 0) ${correction})
  )::bigint as total`;
}

/**
 * Returns the query of the numbers of matches visible to the principal by their value of a column, in the order of the values; some may
 * be zero. By confidence, no tag is allowed.
 */
export function countByValue(
  principal: Principal,
  filters: IndicatorFilters,
  column: 'severity' | 'confidence',
): RawBuilder<{ value: string; count: number }> {
  const { sums, correction } = countedRows(principal, filters, 'indicator_summary');
  return sql`
    select value::text, sum(count)::bigint as count
    from (
      select ${sql.ref(column)} as value, count ${sums}
      union all
      select ${sql.ref(column)}, n ${correction}
    ) as counted
    group by counted.value order by counted.value`;
}

/**
 * Returns the FROM and WHERE clauses of the rows of a summary table that count the matches visible to the principal, and of the correction.
 * @param ofAll the table for filters without a tag and a source
 */
function countedRows(
  principal: Principal,
  { tag, sourceId, ...filters }: IndicatorFilters,
  ofAll: 'indicator_summary' | 'indicator_tag_summary',
): Record<'sums' | 'correction', RawBuilder<unknown>> {
  const conditions = sql.join(summaryConditions(filters), sql` and `);
  const rows = (
    table: 'indicator_summary' | 'indicator_tag_summary' | 'source_summary',
    isSummed: RawBuilder<unknown>,
    isCorrected: RawBuilder<unknown>,
  ) => ({
    sums: sql`from ${sql.table(table)} where ${isSummed} and ${visible(table, principal)} and ${conditions}`,
    correction: sql`from ${summaryCorrection(principal)} where ${isCorrected} and ${conditions}`,
  });
  if (sourceId !== undefined)
    return rows('source_summary', sql`source_id = ${sourceId}::uuid`, isStatedBy(sourceId, principal));
  if (tag !== undefined)
    return rows('indicator_tag_summary', sql`tag = ${tag}`, sql`tags @> array[${tag}]::text[]`);
  const isSummed = ofAll === 'indicator_summary' ? sql`true` : sql`tag = ${EVERY_TAG}`;
  return rows(ofAll, isSummed, sql`true`);
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
