import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../database.ts';

/** The microseconds that each change has: one for each object that an indicator may become (`change_date`). */
export const DATES_A_CHANGE = 4;

/**
 * Records when the rows of a revision were changed: now, but later than all changes before and not before the time of change that
 * any of these rows states. Must be called at the end of the transaction: a client that asks with the time of its last request
 * misses what is dated earlier and committed later. Each revision begins in a millisecond of its own, the precision of STIX: the
 * versions of relationships follow from these times.
 */
export async function recordChangeDates(trx: Db, revision: number): Promise<void> {
  await sql`
    insert into change_date (first_number, last_number, revision, first_date, modified)
    select first_number, last_number, ${revision}::bigint, first_date,
      coalesce(ceil(extract(epoch from modified) * 1000000)::bigint, first_date / 1000 * 1000)
    from (
      select *, greatest(earliest, ceil(extract(epoch from greatest(clock_timestamp(), modified)) * 1000000)::bigint) as first_date
      from (
        select latest.last_number + 1 as first_number, changed.last_value as last_number, ${EARLIEST} as earliest,
          greatest(
            ${lastModified('indicator', sql`coalesce(change_number, number)`)},
            ${sql.join(ENTITIES.map((table) => lastModified(table, sql`change_number`)))},
            -- The end of a deleted entity is a version after its last one.
            (select max(coalesce((state ->> 'modified_at')::timestamptz, (state ->> 'created_at')::timestamptz)) + ${VERSION_STEP}
              from entity_history where ${isNew(sql`ended_number`)})
          ) as modified
        from (select * from change_date order by first_number desc limit 1) as latest, change_number as changed
        where changed.last_value > latest.last_number
        -- The times are read once: PostgreSQL would copy these queries to each place that names their result.
        offset 0
      ) as changes
    ) as timed
  `.execute(trx);
}

/** The first millisecond after all changes. */
const EARLIEST = sql`(latest.first_date + ${sql.lit(DATES_A_CHANGE)} * (latest.last_number - latest.first_number + 1) + 999) / 1000 * 1000`;

const ENTITIES = ['actor', 'campaign', 'technique', 'software'];

/** The shortest time between two versions of an object: STIX has milliseconds. */
export const VERSION_STEP = sql`interval '1 millisecond'`;

/** Both bounds, although no number is above the upper one: with the lower one alone the planner expects a third of all rows, and reads the table. */
const isNew = (number: RawBuilder<unknown>) =>
  sql`(${number} > latest.last_number and ${number} <= changed.last_value)`;

const lastModified = (table: string, number: RawBuilder<unknown>) =>
  sql`(select max(coalesce(modified_at, created_at)) from ${sql.table(table)} where ${isNew(number)})`;

/** Returns the time of the first object of a change, in microseconds since 1970. @param number the change number */
export const dateOfChange = (number: RawBuilder<unknown>) => sql<number>`(
  select first_date + ${sql.lit(DATES_A_CHANGE)} * (${number} - first_number) from change_date
  where first_number <= ${number} order by first_number desc limit 1)`;

/**
 * The place of a change of a collection's extent: what matches since then was added to the collection then, whenever it was changed
 * before. Objects of earlier changes have times from `date` on, in their order; all later changes have later times.
 */
export interface ExtentChange {
  /** The number of the last change before. */
  number: number;
  /** In microseconds since 1970. */
  date: number;
}

/** The times before those of changes, for the objects that are in every collection. */
const DATES_OF_CONSTANTS = 16;

/** Records that the extent of a collection has changed. Must be called under the lock of the revision: no change may get a time in between. */
export async function recordExtentChange(trx: Db): Promise<ExtentChange> {
  const { rows } = await sql<ExtentChange>`
    with extent as (
      select latest.last_number + 1 as first_number, nextval('change_number') as number,
        greatest(${EARLIEST}, ceil(extract(epoch from clock_timestamp()) * 1000000)::bigint) as date
      from (select * from change_date order by first_number desc limit 1) as latest
    ), timed as (
      select *, (date + ${sql.lit(DATES_OF_CONSTANTS)} + ${sql.lit(DATES_A_CHANGE)} * (number + 1) + 999) / 1000 * 1000 as end from extent
    ), recorded as (
      insert into change_date (first_number, last_number, revision, first_date, modified)
      select first_number, number, revision.value, timed.end, timed.end from timed, revision
    )
    select number, date from extent
  `.execute(trx);
  const [change] = rows;
  if (!change) throw new Error('there is no change');
  return change;
}

/** Returns the time of the first object of a change in a collection with this extent. */
export function dateOfChangeIn(extent: ExtentChange | null, number: RawBuilder<unknown>): RawBuilder<number> {
  if (extent === null) return dateOfChange(number);
  const first = extent.date + DATES_OF_CONSTANTS;
  return sql`case when ${number} <= ${extent.number}::bigint
    then ${first}::bigint + ${sql.lit(DATES_A_CHANGE)} * ${number} else ${dateOfChange(number)} end`;
}

/** Returns the first change of which an object may have a later time in a collection with this extent. */
export function firstChangeAfter(extent: ExtentChange | null, date: number, place: ChangePlace): number {
  if (extent === null) return place.number;
  const number = Math.floor((date - extent.date - DATES_OF_CONSTANTS) / DATES_A_CHANGE);
  return number > extent.number ? place.number : Math.max(number, 0);
}

/** Returns the time of the first change of the revision of a change, in milliseconds since 1970. @param number the change number */
export const revisionTimeOfChange = (number: RawBuilder<unknown>) => sql<number>`(
  select first_date / 1000 from change_date where first_number <= ${number} order by first_number desc limit 1)`;

/** Returns the last change number up to a revision. */
export async function findLastChange(db: Db, revision: number): Promise<number> {
  const { rows } = await sql<{ number: number }>`
    select last_number as number from change_date where revision <= ${revision}::bigint order by first_number desc limit 1
  `.execute(db);
  return rows[0]?.number ?? -1;
}

/** Returns the first and the last change number of the revisions that began between two times, in milliseconds since 1970; null: there are none. */
export async function findChangesBetween(
  db: Db,
  first: number,
  last: number,
): Promise<{ from: number; upTo: number } | null> {
  const { rows } = await sql<{ from: number | null; upTo: number | null }>`
    select min(first_number) as from, max(last_number) as "upTo" from change_date
    where first_date >= ${first}::bigint * 1000 and first_date < (${last}::bigint + 1) * 1000
  `.execute(db);
  const { from = null, upTo = null } = rows[0] ?? {};
  return from === null || upTo === null ? null : { from, upTo };
}

/** The place of a time in the order of changes. */
export interface ChangePlace {
  /** The first change of which an object may have a later time. */
  number: number;
  /** The revision of the changes at the time, or of the last ones before it; 0: there are none. */
  revision: number;
  /** The last revision whose objects were all modified by then; at least `revision`. */
  modified: number;
  /** Whether a history that a restore has replaced may have stated the time. */
  isLost: boolean;
}

/** Returns the place of a time. @param date in microseconds since 1970 */
export async function findChangePlace(db: Db, date: number): Promise<ChangePlace> {
  const { rows } = await sql<ChangePlace>`
    select coalesce(number, 0) as number, coalesce(revision, 0) as revision, coalesce(greatest(revision, modified), 0) as modified,
      exists (select from lost_period where after_date < ${date}::bigint and last_date >= ${date}::bigint) as "isLost"
    from (select (
      select revision from change_date where modified <= ${date}::bigint order by modified desc, revision desc limit 1) as modified
    ) as stated left join (
      select revision, least(last_number + 1, first_number + (${date}::bigint - first_date) / ${sql.lit(DATES_A_CHANGE)}) as number
      from change_date where first_date <= ${date}::bigint order by first_date desc limit 1
    ) as place on true
  `.execute(db);
  return rows[0] ?? { number: 0, revision: 0, modified: 0, isLost: false };
}
