import { sql } from 'kysely';

/**
 * Returns the time of a change of a row of `alias`: now, but always later than its last change, in whatever
 * order writers commit.
 */
export function nextModifiedAt(alias: string, now: Date) {
  const before = sql`coalesce(${sql.ref(`${alias}.modified_at`)}, ${sql.ref(`${alias}.created_at`)})`;
  return sql<Date>`greatest(${now}::timestamptz, ${before} + interval '1 millisecond')`;
}
