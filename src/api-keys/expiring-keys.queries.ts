import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** Keys that expire within this time are reported. */
export const KEY_WARNING_DAYS = 14;
const MAX_KEYS = 100;

/** Returns the usable keys that expire soon, the first to expire first. */
export async function findExpiringKeys(db: Db, now: Date) {
  const { rows } = await sql<{ id: string; name: string; expiresAt: Date }>`
    select id, name, expires_at as "expiresAt" from api_key
    where revoked_at is null and expires_at > ${now}::timestamptz
      and expires_at <= ${now}::timestamptz + make_interval(days => ${KEY_WARNING_DAYS})
    order by expires_at, id limit ${MAX_KEYS}
  `.execute(db);
  return rows;
}

/** Returns true to one caller per day (UTC) among all workers, so that the warnings are logged once. */
export async function claimDailyWarning(db: Db, now: Date): Promise<boolean> {
  const day = now.toISOString().slice(0, 10);
  const { rows } = await sql`
    insert into meta (name, value) values ('expiring keys warned of', ${day})
    on conflict (name) do update set value = excluded.value where meta.value < excluded.value returning name
  `.execute(db);
  return rows.length > 0;
}
