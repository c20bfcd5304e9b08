import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** Tags of fewer indicators than this are not counted: all of them are read in some 30 ms. */
export const FEWEST = 20_000;
/** The share of all indicators below which a tag is not counted: a page would read too many others. */
const SHARE = 1 / 200;
/** The last place of list_segment_places for all indicators, severities and tens of confidence; types and single values follow. */
const PLACES = 105;

/** Applies the changes since the segments were counted, before any segment is divided. */
export const applyToTags = (trx: Transaction<Tables>, now: Date, most: number): Promise<void> =>
  addToTags(trx, sql`list_changes(${now}::timestamptz, ${most})`);

/** Counts the indicators of new segments. @param rows the indicators in them, as a FROM item with a WHERE clause */
export const countTagsOf = (trx: Transaction<Tables>, rows: RawBuilder<unknown>): Promise<void> =>
  addToTags(trx, sql`(select *, 1 as n from ${rows} and tags && array(select tag from list_tag))`);

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
  rows: RawBuilder<unknown>,
  tags: readonly string[],
): Promise<void> =>
  addToTags(
    trx,
    sql`(select *, 1 as n from ${rows} and tags && ${tags}::text[])`,
    sql`tag = any(${tags}::text[])`,
  );

/**
 * Adds rows to the counts of their segments.
 * @param rows a FROM item with the columns of `list_changes`
 * @param isWanted which of the tags are counted, as a condition on `tag`
 */
async function addToTags(
  trx: Transaction<Tables>,
  rows: RawBuilder<unknown>,
  isWanted: RawBuilder<unknown> = sql`true`,
): Promise<void> {
  await sql`
    with counted as materialized (
      select tag, segment.last_seen, segment.id, c.type, c.severity, c.confidence, c.tlp, sum(c.n) as n
      from ${rows} as c, lateral (
        select s.last_seen, s.id from list_segment as s
        where s.last_seen >= c.last_seen and (s.last_seen > c.last_seen or s.id <= c.id)
        order by s.last_seen, s.id desc limit 1
      ) as segment, lateral (select distinct tag from unnest(c.tags) as tag) as own join list_tag using (tag)
      where ${isWanted}
      group by 1, 2, 3, 4, 5, 6, 7 having sum(c.n) <> 0
    ), placed as materialized (
      select tag, last_seen, id, place, sum(n) as n
      from counted, lateral list_segment_places(type, severity, confidence, tlp) as place
      where place <= ${PLACES} group by 1, 2, 3, 4
    )
    insert into list_segment_tag as known (tag, last_seen, id, counts)
    select tag, last_seen, id, array_agg(coalesce(n, 0)::integer order by place)
    from (select tag, last_seen, id, generate_series(1, max(place)) as place from placed group by tag, last_seen, id) as every
      left join placed using (tag, last_seen, id, place)
    group by tag, last_seen, id
    on conflict (tag, last_seen, id) do update set counts = array(
      select coalesce(was, 0) + coalesce(change, 0)
      from unnest(known.counts, excluded.counts) with ordinality as both_of (was, change, place) order by place)`.execute(
    trx,
  );
}
