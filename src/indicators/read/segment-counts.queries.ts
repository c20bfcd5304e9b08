import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type CountKey, type Principal, segmentCount } from '../../db/visibility.ts';
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
 * Returns the segments of an order with the numbers `n0`, `n1` and so on of their matches of each of the filters, which differ in the value
 * of one alone. Only the numbers are sorted with them, not the arrays of counts.
 */
export function segmentsOf(
  table: keyof typeof SEGMENT_KEYS,
  principal: Principal,
  each: readonly IndicatorFilters[],
) {
  const columns = sql.join(SEGMENT_KEYS[table].map((column) => sql.ref(column)));
  const numbers = each.map(
    (filters, i) => sql`${segmentCount(principal, keysOf(filters))} as ${sql.ref(`n${i}`)}`,
  );
  const counted = (counts: RawBuilder<unknown>) =>
    sql`(select ${columns}, ${sql.join(numbers)} from ${counts} offset 0) as segment_count`;
  const [first = {}] = each;
  const wanted = subsetOf(first);
  const column = sql.ref(isWithConfidence(first) ? 'counts_with_confidence' : 'counts');
  if (!wanted && !isWithConfidence(first)) return counted(sql.table(table));
  // The arrays are compressed: joined to an empty one, they are decompressed once, not for each element.
  const expanded = sql`select ${columns}, ${column} || '{}' as counts`;
  if (!wanted) return counted(sql`(${expanded} from ${sql.table(table)} offset 0) as expanded`);
  const isOfSubset = sql`${sql.ref(COUNTED_SUBSETS[wanted.subset].key)} = ${wanted.key}`;
  const ofSubset = sql`(
    ${expanded} from ${sql.table(`${table}_${wanted.subset}`)} where ${isOfSubset} offset 0
  ) as of_subset`;
  return sql`(select ${columns} from ${sql.table(table)}) as every left join ${counted(ofSubset)} using (${columns})`;
}
