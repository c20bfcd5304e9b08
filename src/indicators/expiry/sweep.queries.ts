import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { PENDING_EXPIRY } from '../../db/visibility.ts';

/** Returns whether an indicator has expired that no sweep has marked. */
export async function hasPendingExpiry(db: Db, now: Date): Promise<boolean> {
  const due = await db
    .selectFrom('indicator')
    .select('id')
    .where(sql<boolean>`${PENDING_EXPIRY} <= ${now}::timestamptz`)
    // Without an order the planner reads the table, and passes over all that a sweep has marked already.
    .orderBy(PENDING_EXPIRY)
    .limit(1)
    .executeTakeFirst();
  return due !== undefined;
}

/**
 * Marks expired indicators, in order of expiry. The mark is no change of the indicator: its version stays.
 * @returns the number of indicators marked
 */
export async function markExpired(
  trx: Transaction<Tables>,
  now: Date,
  most: number,
  revision: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update indicator set expired = true, revision = ${revision}::bigint
    where id = any(array(
      select id from indicator where ${PENDING_EXPIRY} <= ${now}::timestamptz
      order by ${PENDING_EXPIRY} limit ${most}
    ))
  `.execute(trx);
  return Number(numAffectedRows ?? 0);
}
