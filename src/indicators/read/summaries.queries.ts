import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Principal, summaryCorrection, visible } from '../../db/visibility.ts';
import type { IndicatorType, Tlp } from '../../model/vocabulary.ts';
import type { IndicatorFilters } from './indicators.queries.ts';

/** A hash of what an indicator is now: it changes with every change of it. */
export const ROW_HASH = sql`indicator_hash(indicator.id, indicator.version, indicator.created_at, indicator.modified_at)`;

/** The indicators of one type, marking and use, together. */
export interface SummaryRow {
  type: IndicatorType;
  tlp: Tlp;
  for_detection: boolean;
  count: number;
  /** Over what they are, in any order; as text, exact. */
  hash: string;
}

/** Whether the sums tell how much these filters let through. */
export function coveredBySummary({
  type,
  types,
  severity,
  minConfidence,
  ...others
}: IndicatorFilters): boolean {
  return Object.values(others).every((value) => value === undefined);
}

/**
 * How much the principal may see of what these filters let through, as rows of Part, hash a bigint, several for one part:
 * from the sums, which every write keeps, and the few rows whose expiry and its mark differ at this instant.
 */
export function sums(principal: Principal, filters: IndicatorFilters): RawBuilder<SummaryRow> {
  const conditions = sql.join(summedConditions(filters), sql` and `);
  return sql<SummaryRow>`
    select type, tlp, for_detection, count, hash from indicator_summary
    where ${visible('indicator_summary', principal)} and ${conditions}
    union all
    select type, tlp, for_detection, n, ${ROW_HASH} from ${summaryCorrection(principal)} where ${conditions}`;
}

/** Whether `countedFrom` tells how many these filters let through. */
export function isCounted(filters: IndicatorFilters): boolean {
  const { tag, ...others } = filters;
  return (
    coveredBySummary(tag === undefined ? filters : others) &&
    (tag === undefined || filters.minConfidence === undefined)
  );
}

/** Where the sums of tags hold all indicators. */
const EVERY_TAG = '';

/**
 * How many the principal may see of what these filters let through, as `total`: in the same way as `sums`, with a tag from
 * sums of each tag.
 */
export function countedFrom(
  principal: Principal,
  { tag, ...filters }: IndicatorFilters,
): RawBuilder<{ total: number }> {
  const table = filters.minConfidence === undefined ? 'indicator_tag_summary' : 'indicator_summary';
  const conditions = sql.join(summedConditions(filters), sql` and `);
  const ofTag = table === 'indicator_tag_summary' ? sql`tag = ${tag ?? EVERY_TAG}` : sql`true`;
  const tagged = tag === undefined ? sql`true` : sql`tags @> array[${tag}]::text[]`;
  return sql`select (
    (select coalesce(sum(count), 0) from ${sql.table(table)} where ${ofTag} and ${visible(table, principal)} and ${conditions})
    + (select coalesce(sum(n), 0) from ${summaryCorrection(principal)} where ${tagged} and ${conditions})
  )::bigint as total`;
}

/** On columns that both the sums and the rows have. */
function summedConditions({ type, types, severity, minConfidence }: IndicatorFilters) {
  return [
    sql<SqlBool>`true`,
    ...(type ? [sql<SqlBool>`type = ${type}`] : []),
    ...(types ? [sql<SqlBool>`type = any (${types}::text[]::indicator_type[])`] : []),
    ...(severity ? [sql<SqlBool>`severity = ${severity}`] : []),
    ...(minConfidence === undefined ? [] : [sql<SqlBool>`confidence >= ${minConfidence}`]),
  ];
}
