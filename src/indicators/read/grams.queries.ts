import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { likeContains } from '../../db/expressions.ts';
import { gramCount, listChanges, type Principal } from '../../db/visibility.ts';
import { isGram } from '../../model/grams.ts';
import { searchForms, searchText } from '../../model/text.ts';
import type { IndicatorFilters } from './indicators.queries.ts';
import { NOT_COUNTED } from './segment-counts.queries.ts';

/** Returns the text of one or two characters that `q` searches; undefined: it is longer, or searches several. */
export function gramOf({ q }: IndicatorFilters): string | undefined {
  if (q === undefined || searchForms(q).length > 1) return undefined;
  const text = searchText(q);
  return isGram(text) ? text : undefined;
}

/** Returns whether the grams count the matches of these filters. */
export const coveredByGrams = ({ q, ...others }: IndicatorFilters): boolean =>
  gramOf({ q }) !== undefined && Object.values(others).every((value) => value === undefined);

/** Returns whether the latest indicators with a gram are listed, and whether all are; the page is read from another snapshot. */
export async function listingOf(db: Db, gram: string): Promise<'none' | 'latest' | 'all'> {
  const { rows } = await sql<{ listing: 'none' | 'latest' | 'all' }>`
    select case
      when not has_grams or (gram is not null and numbers is null) then 'none'
      when newer_than > '-infinity' then 'latest' else 'all' end as listing
    from list_segment_state left join list_gram on gram = ${gram}`.execute(db);
  return rows[0]?.listing ?? 'none';
}

const usable = (principal: Principal, changes: number) => sql`usable as materialized (
    select list_segments_usable(${principal.now}::timestamptz, ${changes}::integer)
      and exists (select from list_segment_state where has_grams) as usable)`;

/** Returns common table expressions: `usable`, and `counted` with the total, or NOT_COUNTED. */
export function gramCtes(principal: Principal, gram: string, changes: number): RawBuilder<unknown>[] {
  return [
    usable(principal, changes),
    sql`counted as (
      select case when (select usable from usable) then
        (select coalesce(sum(${gramCount(principal)}), 0) from list_gram where gram = ${gram})
        + (select coalesce(sum(n), 0) from ${listChanges(principal, changes)} where text like ${likeContains(gram)})
      else ${sql.lit(NOT_COUNTED)} end::bigint as total)`,
  ];
}

/** Returns common table expressions: `usable`, and `counted` with the number of rows of `matched`, or NOT_COUNTED if not all are listed. */
export function listedGramCtes(principal: Principal, gram: string, changes: number): RawBuilder<unknown>[] {
  return [
    usable(principal, changes),
    sql`counted as (
      select case
        when (select usable from usable) and not exists (select from list_gram where gram = ${gram} and newer_than > '-infinity')
        then (select count(*) from matched) else ${sql.lit(NOT_COUNTED)} end::bigint as total)`,
  ];
}

/** Returns the condition that an indicator is listed for the gram or has changed since, and is new enough to be listed. */
export const isListedFor = (principal: Principal, gram: string, changes: number) => sql<SqlBool>`(
  indicator.number = any(array(
    select unnest(numbers) from list_gram where gram = ${gram} and (select usable from usable)
    union select number from ${listChanges(principal, changes)} where (select usable from usable)))
  and indicator.last_seen > coalesce((select newer_than from list_gram where gram = ${gram}), '-infinity'))`;
