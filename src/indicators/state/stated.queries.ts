import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { uuidArray } from '../../db/recordset.ts';

/** Returns the numbers of the indicators with these ids, as an array that is read once for each statement. */
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
  const { rows } = await sql<{ id: string }>`
    select indicator.id from indicator_source as said join indicator on indicator.number = said.indicator_number
    where said.source_id = ${sourceId}::uuid ${members ? sql`and said.delisted_at is null` : sql``}
      and said.indicator_number > coalesce((select number from indicator where id = ${after}::uuid), 0)
    order by said.indicator_number limit ${most}
  `.execute(db);
  return rows.map(({ id }) => id);
}
