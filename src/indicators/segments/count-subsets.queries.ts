import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { COUNTED_SUBSETS, type Subset, statementChangesUpTo } from '../read/segment-counts.queries.ts';
import { addToCounts, BY_FIRST_SEEN, BY_LAST_SEEN, type Segments } from './add-to-counts.queries.ts';

/** A subset of fewer indicators than this is not counted: a list of it is read as a whole. */
export const FEWEST = 10_000;
/** The share of all indicators below which a subset is not counted: a page would read too many others. */
const SHARE = 1 / 200;

interface Counting {
  /** Returns a FROM item: the rows of another one, once for each counted subset that they are in, whose key is in the column of these. */
  each(rows: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Returns a condition that all indicators in any of these subsets meet. */
  mayBeIn(keys: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Returns a FROM item: the changes since the segments were counted, in the same form. */
  changes(now: Date, most: number): RawBuilder<unknown>;
  /** The query of the keys of all subsets, as `key`, with the numbers of their indicators, as `n`. */
  sums: RawBuilder<unknown>;
}

const ofTags = (rows: RawBuilder<unknown>) => sql`(
  select own.tag, c.* from ${rows} as c, lateral (select distinct tag from unnest(c.tags) as tag) as own join list_tag using (tag))`;

const COUNTINGS: Record<Subset, Counting> = {
  tag: {
    each: ofTags,
    mayBeIn: (keys) => sql`tags && ${keys}`,
    changes: (now, most) => ofTags(sql`list_changes(${now}::timestamptz, ${most})`),
    sums: sql`select tag as key, sum(count) as n from indicator_tag_summary where tag <> '' group by tag`,
  },
  source: {
    each: (rows) => sql`(
      select s.source_id, c.last_seen, c.id, c.first_seen, c.type, c.severity, c.confidence, greatest(c.tlp, s.tlp) as tlp, c.n
      from ${rows} as c, lateral (select source_id, tlp from indicator_source where indicator_number = c.number offset 0) as s
        join list_source using (source_id))`,
    mayBeIn: () => sql`true`,
    changes: (now, most) => sql`(
      select c.* from list_changes_of_sources(${now}::timestamptz, ${most}) as c join list_source using (source_id))`,
    sums: sql`select source_id as key, sum(count) as n from source_summary group by source_id`,
  },
};

const SUBSETS = Object.keys(COUNTINGS) as Subset[];

/** Applies the changes since the segments were counted, before any segment is divided. */
export async function applyToSubsets(trx: Transaction<Tables>, now: Date, most: number): Promise<void> {
  // Statements may have changed without their indicators.
  await sql`delete from list_source where not ${statementChangesUpTo(most)}`.execute(trx);
  for (const subset of SUBSETS)
    for (const segments of [BY_LAST_SEEN, BY_FIRST_SEEN])
      await addToCounts(trx, segments, COUNTINGS[subset].changes(now, most), subset);
}

/** Counts the indicators of new segments. @param rows the indicators in them, as a FROM item with a WHERE clause */
export async function countSubsetsOf(
  trx: Transaction<Tables>,
  segments: Segments,
  rows: RawBuilder<unknown>,
): Promise<void> {
  for (const subset of SUBSETS) {
    const { list, key } = COUNTED_SUBSETS[subset];
    const { each, mayBeIn } = COUNTINGS[subset];
    const counted = sql`(select ${sql.ref(key)} from ${sql.table(list)})`;
    const some = sql`(select *, 1 as n from ${rows} and exists ${counted} and ${mayBeIn(sql`array${counted}`)})`;
    await addToCounts(trx, segments, each(some), subset);
  }
}

/** The keys of subsets of each kind. */
export type SubsetKeys = Record<Subset, string[]>;

/**
 * Chooses the large subsets, and forgets those that are no longer.
 * @param fewest indicators of a subset that is counted
 * @returns the keys of the added ones, which have not been counted
 */
export async function chooseSubsets(trx: Transaction<Tables>, fewest: number): Promise<SubsetKeys> {
  const chosen: SubsetKeys = { tag: [], source: [] };
  for (const subset of SUBSETS) chosen[subset] = await choose(trx, subset, fewest);
  return chosen;
}

async function choose(trx: Transaction<Tables>, subset: Subset, fewest: number): Promise<string[]> {
  const { list, key } = COUNTED_SUBSETS[subset];
  const sums = sql`(${COUNTINGS[subset].sums})`;
  const least = sql`greatest(${fewest}::bigint, ${SHARE}::float8 * (select sum(count) from indicator_tag_summary where tag = ''))`;
  await sql`
    delete from ${sql.table(list)} as known where not exists (
      select from ${sums} as counted where counted.key = known.${sql.ref(key)} and n >= ${least} / 2)`.execute(
    trx,
  );
  const { rows } = await sql<{ key: string }>`
    insert into ${sql.table(list)}
    select key from ${sums} as counted where n >= ${least} on conflict do nothing
    returning ${sql.ref(key)} as key`.execute(trx);
  return rows.map((row) => row.key);
}

/** Counts the indicators of subsets that have been added. @param rows some of all indicators, as a FROM item with a WHERE clause */
export async function countAddedSubsets(
  trx: Transaction<Tables>,
  segments: Segments,
  rows: RawBuilder<unknown>,
  added: SubsetKeys,
): Promise<void> {
  for (const subset of SUBSETS) {
    const keys = added[subset];
    if (keys.length === 0) continue;
    const { key, type } = COUNTED_SUBSETS[subset];
    const { each, mayBeIn } = COUNTINGS[subset];
    const those = sql`${keys}::text[]::${sql.raw(type)}[]`;
    const some = sql`(select *, 1 as n from ${rows} and ${mayBeIn(those)})`;
    const ofThose = sql`(select * from ${each(some)} as every where ${sql.ref(key)} = any(${those}))`;
    await addToCounts(trx, segments, ofThose, subset);
  }
}
