import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';

/** Returns the indicators with these ids for operators, without a visibility predicate. */
export async function findIdentities(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; type: IndicatorType; value: string }[]> {
  return db
    .selectFrom('indicator')
    .select(['id', 'type', 'value'])
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .execute();
}
