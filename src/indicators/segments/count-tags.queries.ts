import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { addToCounts, BY_FIRST_SEEN, BY_LAST_SEEN, type Segments } from './add-to-counts.queries.ts';

/** Tags of fewer indicators than this are not counted: a list of them is read as a whole. */
export const FEWEST = 10_000;
/** The share of all indicators below which a tag is not counted: a page would read too many others. */
const SHARE = 1 / 200;

/** Applies the changes since the segments were counted, before any segment is divided. */
export async function applyToTags(trx: Transaction<Tables>, now: Date, most: number): Promise<void> {
  const changes = sql`list_changes(${now}::timestamptz, ${most})`;
  for (const segments of [BY_LAST_SEEN, BY_FIRST_SEEN]) await addToCounts(trx, segments, changes, sql`true`);
}

/** Counts the indicators of new segments. @param rows the indicators in them, as a FROM item with a WHERE clause */
export const countTagsOf = (
  trx: Transaction<Tables>,
  segments: Segments,
  rows: RawBuilder<unknown>,
): Promise<void> =>
  addToCounts(
    trx,
    segments,
    sql`(select *, 1 as n from ${rows} and exists (select from list_tag) and tags && array(select tag from list_tag))`,
    sql`true`,
  );

/**
 * Chooses the common tags, and forgets those that are no longer.
 * @param fewest indicators of a tag that is counted
 * @returns the added ones, which have not been counted
 */
export async function chooseTags(trx: Transaction<Tables>, fewest: number): Promise<string[]> {
  const counts = sql`(select tag, sum(count) as n from indicator_tag_summary group by tag)`;
  const least = sql`greatest(${fewest}::bigint, ${SHARE}::float8 * (select n from ${counts} as every where tag = ''))`;
  await sql`
    delete from list_tag where not exists (
      select from ${counts} as counted where counted.tag = list_tag.tag and n >= ${least} / 2)`.execute(trx);
  const { rows } = await sql<{ tag: string }>`
    insert into list_tag
    select tag from ${counts} as counted where tag <> '' and n >= ${least} on conflict do nothing
    returning tag`.execute(trx);
  return rows.map(({ tag }) => tag);
}

/** Counts the indicators of tags that have been added. @param rows some of all indicators, as a FROM item with a WHERE clause */
export const countAddedTags = (
  trx: Transaction<Tables>,
  segments: Segments,
  rows: RawBuilder<unknown>,
  tags: readonly string[],
): Promise<void> =>
  addToCounts(
    trx,
    segments,
    sql`(select *, 1 as n from ${rows} and tags && ${tags}::text[])`,
    sql`tag = any(${tags}::text[])`,
  );
