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

/** Returns whether the sums contain an indicator that has expired. */
export async function hasExpiredInSummaries(db: Db, now: Date): Promise<boolean> {
  const { rows } = await sql`
    select from indicator_summary_expiry as last, lateral (
      select from indicator
      where not whitelisted and (expires_at, id) > (last.expires_at, last.id) and expires_at <= ${now}::timestamptz
      order by expires_at, id limit 1
    ) as expired`.execute(db);
  return rows.length > 0;
}

/**
 * Takes expired indicators off the sums, in order of expiry. Until then, each query of a total has to subtract them one by one.
 */
export async function takeExpiredFromSummaries(
  trx: Transaction<Tables>,
  now: Date,
  most: number,
): Promise<void> {
  await sql`select take_expired_from_summaries(${now}::timestamptz, ${most}::integer)`.execute(trx);
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
