import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';

/** Returns whether the sums contain indicators that have expired, in either part. */
export async function hasExpiredInSums(db: Db, now: Date): Promise<boolean> {
  const { rows } = await sql`
    select from indicator_summary_expiry as last
    where ((last.next_expires_at, last.next_id) > (last.expires_at, last.id) and last.next_expires_at <= ${now}::timestamptz)
      or (
        select id from indicator
        where not whitelisted and (expires_at, id) > (last.expires_at, last.id) and expires_at <= ${now}::timestamptz
        order by expires_at, id limit 1
      ) is not null`.execute(db);
  return rows.length > 0;
}

/**
 * Takes expired indicators off the sums: the part that was summed before they expired at once, others in order of expiry. Until then, each
 * query of a total has to subtract the others one by one.
 */
export async function takeExpiredFromSums(trx: Transaction<Tables>, now: Date, most: number): Promise<void> {
  await sql`select take_expired_from_summaries(${now}::timestamptz, ${most}::integer)`.execute(trx);
}

/**
 * Returns the time up to which the next indicators to expire are to be summed in a part of their own; undefined: there are none, or they are.
 * @param until the end of the time in which at least `many` must expire within a second
 */
export async function nextExpiriesToSum(
  db: Db,
  now: Date,
  until: Date,
  many: number,
): Promise<Date | undefined> {
  const { rows } = await sql<{ expires_at: Date }>`
    select coming.expires_at from indicator_summary_expiry as last, lateral (
      select last.next_expires_at as expires_at
      where last.next_expires_at > ${now}::timestamptz and (
        select id from indicator
        where not whitelisted and (expires_at, id) > (last.next_expires_at, last.next_id) and expires_at <= last.next_expires_at
        order by expires_at, id limit 1
      ) is not null
      union all
      (select max(expires_at) from indicator
        where last.next_expires_at <= ${now}::timestamptz and not whitelisted
          and expires_at > ${now}::timestamptz and expires_at <= ${until}::timestamptz
        group by date_trunc('second', expires_at) having count(*) >= ${many}::integer
        order by 1 limit 1)
    ) as coming`.execute(db);
  return rows[0]?.expires_at;
}

/** Moves the next indicators that expire by a time to the part of the sums that is left out from then on, in order of expiry. */
export async function sumNextExpiries(trx: Transaction<Tables>, until: Date, most: number): Promise<void> {
  await sql`select sum_next_expiries(${until}::timestamptz, ${most}::integer)`.execute(trx);
}
