import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../database.ts';

/** The microseconds that each change has: one for each object that an indicator may become (`change_date`). */
const DATES_A_CHANGE = 4;

/**
 * Records when the rows of a revision were changed: now, but later than all changes before and not before the time of change that
 * any of these rows states. Must be called at the end of the transaction: a client that asks with the time of its last request
 * misses what is dated earlier and committed later.
 */
export async function recordChangeDates(trx: Db, revision: number): Promise<void> {
  await sql`
    insert into change_date (first_number, last_number, revision, first_date, modified)
    select first_number, last_number, ${revision}::bigint,
      greatest(earliest, ceil(extract(epoch from greatest(clock_timestamp(), modified)) * 1000000)::bigint),
      coalesce(ceil(extract(epoch from modified) * 1000000)::bigint, 0)
    from (
      select latest.last_number + 1 as first_number, changed.last_value as last_number,
        latest.first_date + ${sql.lit(DATES_A_CHANGE)} * (latest.last_number - latest.first_number + 1) as earliest,
        (select max(coalesce(modified_at, created_at)) from indicator
          where coalesce(change_number, number) > latest.last_number) as modified
      from (select * from change_date order by first_number desc limit 1) as latest, change_number as changed
      where changed.last_value > latest.last_number
    ) as changes
  `.execute(trx);
}

/** Returns the time of the first object of a change, in microseconds since 1970. @param number the change number */
export const dateOfChange = (number: RawBuilder<unknown>) => sql<number>`(
  select first_date + ${sql.lit(DATES_A_CHANGE)} * (${number} - first_number) from change_date
  where first_number <= ${number} order by first_number desc limit 1)`;

/** The place of a time in the order of changes. */
export interface ChangePlace {
  /** The first change of which an object may have a later time. */
  number: number;
  /** The revision of the changes at the time, or of the last ones before it; 0: there are none. */
  revision: number;
  /** The last revision whose objects were all modified by then; at least `revision`. */
  modified: number;
}

/** Returns the place of a time. @param date in microseconds since 1970 */
export async function findChangePlace(db: Db, date: number): Promise<ChangePlace> {
  const { rows } = await sql<ChangePlace>`
    select coalesce(number, 0) as number, coalesce(revision, 0) as revision, coalesce(greatest(revision, modified), 0) as modified
    from (select (
      select revision from change_date where modified <= ${date}::bigint order by modified desc, revision desc limit 1) as modified
    ) as stated left join (
      select revision, least(last_number + 1, first_number + (${date}::bigint - first_date) / ${sql.lit(DATES_A_CHANGE)}) as number
      from change_date where first_date <= ${date}::bigint order by first_date desc limit 1
    ) as place on true
  `.execute(db);
  return rows[0] ?? { number: 0, revision: 0, modified: 0 };
}
