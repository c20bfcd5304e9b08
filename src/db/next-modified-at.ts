import { sql } from 'kysely';

/** The time of a change of a row of `alias`: now, but after the one before, whatever order writers come in. */
export function laterThan(alias: string, now: Date) {
  const before = sql`coalesce(${sql.ref(`${alias}.modified_at`)}, ${sql.ref(`${alias}.created_at`)})`;
  return sql<Date>`greatest(${now}::timestamptz, ${before} + interval '1 millisecond')`;
}
