import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import {
  type CountKey,
  type CountRange,
  type Principal,
  segmentCount,
  segmentCounts,
} from '../../db/visibility.ts';
import { INDICATOR_TYPES, SEVERITIES } from '../../model/vocabulary.ts';
import type { IndicatorFilters } from './indicators.queries.ts';

/** The kinds of subsets of all indicators that are counted apart, if they are large: the table of the counted ones, and its key. */
export const COUNTED_SUBSETS = {
  tag: { list: 'list_tag', key: 'tag', type: 'text' },
  source: { list: 'list_source', key: 'source_id', type: 'uuid' },
} as const;

export type Subset = keyof typeof COUNTED_SUBSETS;

/** Indicators of a segment when it begins; with twice as many it is divided. */
export const SEGMENT_SIZE = 8_000;

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

/** Returns the week of a time as in `first_seen_segment_week`: weeks since 1970-01-01. */
export const weekOf = (time: RawBuilder<unknown>) =>
  sql`floor(extract(epoch from ${time}) / 604800)::integer`;

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

/** The total that stands for counts that cannot be used. */
export const NOT_COUNTED = -1;

/** Returns whether the segments count the matches and can be corrected. */
export function isUsable({ now }: Principal, filters: IndicatorFilters, changes: number) {
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

/**
 * Returns a FROM item: the segments of an order with those of their `counts` that have the keys of these filters. With a subset, only
 * segments that have some of it are in it.
 * @param since only the segments of the list that begin at this time or later
 */
function countsOf(table: keyof typeof SEGMENT_KEYS, filters: IndicatorFilters, since?: string) {
  const subset = subsetOf(filters);
  const isLarge = isWithConfidence(filters);
  const column = sql.ref(isLarge ? 'counts_with_confidence' : 'counts');
  const conditions = [
    ...(subset ? [sql`${sql.ref(COUNTED_SUBSETS[subset.subset].key)} = ${subset.key}`] : []),
    ...(since === undefined ? [] : [sql`last_seen >= ${since}::timestamptz`]),
  ];
  // Compressed arrays are decompressed once when they are joined to an empty one, not for each element.
  return sql`(
    select ${keyColumns(table)}, ${subset || isLarge ? sql`${column} || '{}'` : column} as counts
    from ${sql.table(subset ? `${table}_${subset.subset}` : table)} where ${sql.join([sql`true`, ...conditions], sql` and `)} offset 0
  ) as segment_counts`;
}

const keyColumns = (table: keyof typeof SEGMENT_KEYS) =>
  sql.join(SEGMENT_KEYS[table].map((column) => sql.ref(column)));

/**
 * Returns a FROM item: the segments of an order with the numbers `n` of their matches; null: none. Only the numbers are sorted with them,
 * not the arrays of counts.
 * @param since only the segments of the list that begin at this time or later
 */
export function segmentsOf(
  table: keyof typeof SEGMENT_KEYS,
  principal: Principal,
  filters: IndicatorFilters,
  since?: string,
) {
  const key = keyColumns(table);
  const counted = sql`(
    select ${key}, ${segmentCount(principal, keysOf(filters))} as n from ${countsOf(table, filters, since)} offset 0
  ) as segment_count`;
  if (!subsetOf(filters)) return counted;
  const isSince = since === undefined ? sql`true` : sql`last_seen >= ${since}::timestamptz`;
  return sql`(select ${key} from ${sql.table(table)} where ${isSince}) as every left join ${counted} using (${key})`;
}

/**
 * Returns a FROM item: the segments of the list, each with the numbers `n` of matches of some filters, which differ in the value of one
 * alone, and with the `number` of the filters, from 1.
 * @param since only the segments that begin at this time or later
 */
export function segmentsByValue(principal: Principal, each: readonly IndicatorFilters[], since?: string) {
  const counts = segmentCounts(principal, rangesOf(each.map(keysOf)));
  const [first = {}] = each;
  return sql`${countsOf('list_segment', first, since)} cross join lateral ${counts} as of_value`;
}

/** Returns the keys of some filters as ranges, each for one of the filters or, by single keys, for neighbouring ones. */
function rangesOf(keysOfEach: readonly CountKey[][]): CountRange[] {
  const ranges: CountRange[] = [];
  const latest: CountRange[] = [];
  for (const [index, keys] of keysOfEach.entries())
    for (const [at, key] of keys.entries()) {
      const [first, last] = typeof key === 'number' ? [key, key] : key;
      const number = index + 1;
      const isByKey = first === last;
      const before = latest[at];
      if (
        isByKey &&
        before?.isByKey &&
        before.last === first - 1 &&
        before.number - before.first === number - first
      )
        before.last = last;
      else {
        const range = { first, last, number, isByKey };
        latest[at] = range;
        ranges.push(range);
      }
    }
  return ranges;
}
