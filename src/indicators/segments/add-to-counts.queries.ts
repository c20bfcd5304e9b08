import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { COUNTED_SUBSETS, SEGMENT_KEYS, type Subset, weekOf } from '../read/segment-counts.queries.ts';

/** One of the orders in which the indicators are divided into segments. */
export interface Segments {
  table: keyof typeof SEGMENT_KEYS;
  /** The query of the key of the segment with a row `c`. */
  of: RawBuilder<unknown>;
}

export const BY_LAST_SEEN: Segments = {
  table: 'list_segment',
  of: sql`select s.last_seen, s.id from list_segment as s
    where s.last_seen >= c.last_seen and (s.last_seen > c.last_seen or s.id <= c.id)
    order by s.last_seen, s.id desc limit 1`,
};

export const BY_FIRST_SEEN: Segments = {
  table: 'first_seen_segment',
  of: sql`select s.first_seen from first_seen_segment as s where s.first_seen >= c.first_seen order by s.first_seen limit 1`,
};

/**
 * Adds rows to the counts of their segments.
 * @param rows a FROM item with the columns of `list_changes`, or those and the key of a subset
 * @param subset counts rows under the subset of this kind that they have the key of; undefined: under their segments alone
 */
export async function addToCounts(
  trx: Transaction<Tables>,
  { table, of }: Segments,
  rows: RawBuilder<unknown>,
  subset?: Subset,
): Promise<void> {
  const segmentKey = SEGMENT_KEYS[table];
  const subsetKey = subset ? [COUNTED_SUBSETS[subset].key] : [];
  const columns = [...subsetKey, ...segmentKey].map((column) => sql.ref(column));
  const listed = sql.join(columns);
  const found = sql.join([
    ...subsetKey.map((column) => sql.ref(`c.${column}`)),
    ...segmentKey.map((column) => sql.ref(`segment.${column}`)),
  ]);
  const known = sql.join(columns.map((column) => sql`known.${column}`));
  const added = sql.join(columns.map((column) => sql`added.${column}`));
  await sql`
    with counted as materialized (
      select ${found}, c.type, c.severity, c.confidence, c.tlp, sum(c.n) as n
      from ${rows} as c, lateral (${of}) as segment
      group by ${found}, c.type, c.severity, c.confidence, c.tlp having sum(c.n) <> 0
    ), ${changesBy(listed)}
    merge into ${sql.table(subset ? `${table}_${subset}` : table)} as known using added on (${known}) = (${added})
    when matched then update set counts = list_counts_plus(known.counts, places, changes),
      counts_with_confidence = list_counts_plus(known.counts_with_confidence, places_with_confidence, changes_with_confidence)
    when not matched then insert (${listed}, counts, counts_with_confidence) values (${added},
      list_counts_plus('{}', places, changes), list_counts_plus('{}', places_with_confidence, changes_with_confidence))`.execute(
    trx,
  );
}

/** Adds rows to the numbers of their segments by the week of the last sighting. @param rows a FROM item with some columns of `list_changes` */
export async function addToWeeks(trx: Transaction<Tables>, rows: RawBuilder<unknown>): Promise<void> {
  await sql`
    with added as (
      select segment.first_seen, ${weekOf(sql`c.last_seen`)} as week, sum(c.n)::integer as count
      from ${rows} as c, lateral (${BY_FIRST_SEEN.of}) as segment
      group by 1, 2 having sum(c.n) <> 0
    )
    merge into first_seen_segment_week as known
      using added on (known.first_seen, known.week) = (added.first_seen, added.week)
    when matched and known.count + added.count = 0 then delete
    when matched then update set count = known.count + added.count
    when not matched then insert (first_seen, week, count) values (added.first_seen, added.week, added.count)`.execute(
    trx,
  );
}

/**
 * Returns common table expressions: `added` has for each of these keys the places of its counts, and what is added there, for the rows
 * of the table `counted`, which are so many (`n`) of one type, severity, confidence and TLP.
 */
export const changesBy = (keys: RawBuilder<unknown>) => sql`placed as (
    select ${keys}, place, with_confidence, sum(n)::integer as n
    from counted, lateral list_segment_places(type, severity, confidence, tlp) group by ${keys}, place, with_confidence
  ), added as (
    select ${keys}, array_agg(place) filter (where not with_confidence) as places,
      array_agg(n) filter (where not with_confidence) as changes,
      array_agg(place) filter (where with_confidence) as places_with_confidence,
      array_agg(n) filter (where with_confidence) as changes_with_confidence
    from placed group by ${keys}
  )`;

/** The values of the counts of new segments with the rows of `added`; a segment without one is empty. */
export const NEW_COUNTS = sql`list_counts_plus('{0,0,0,0,0}', coalesce(places, '{}'), changes),
  list_counts_plus('{}', coalesce(places_with_confidence, '{}'), changes_with_confidence)`;
