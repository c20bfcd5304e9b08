import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { uuidArray } from '../../db/recordset.ts';

/** Returns the numbers of the indicators with these ids, as an array that an SQL statement reads once. */
export const numbersOf = (ids: readonly string[]) =>
  sql<number[]>`array(select number from indicator where id = any(${uuidArray(ids)}))`;

/**
 * Returns the ids of indicators that a source states, in the order of their numbers.
 * @param after the id of the last indicator of the page before; `BEFORE_ALL_IDS` for the first page
 * @param members whether to return only those that are on its list, which it has not delisted
 */
export async function findStatedIndicators(
  db: Db,
  sourceId: string,
  after: string,
  most: number,
  members = false,
): Promise<string[]> {
  // A range of one source instead of an equation: for the order alone PostgreSQL would read the index by number, in which the source may
  // be far behind others.
  const { rows } = await sql<{ id: string }>`
    select each.id
    from (
      select indicator_number as number from indicator_source
      where source_id between ${sourceId}::uuid and ${sourceId}::uuid ${members ? sql`and delisted_at is null` : sql``}
        and indicator_number > coalesce((select number from indicator where id = ${after}::uuid), 0)
      order by source_id, indicator_number limit ${most}
    ) as said, lateral (select id from indicator where indicator.number = said.number offset 0) as each
    order by said.number
  `.execute(db);
  return rows.map(({ id }) => id);
}
