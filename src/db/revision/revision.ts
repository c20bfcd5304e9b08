import type { Transaction } from 'kysely';
import type { Db } from '../database.ts';
import type { Tables } from '../tables.ts';

export interface RevisionLock {
  /** The revision before this transaction. */
  previous: number;
  /** The one that its changed rows carry. */
  next: number;
  /** The last indicator number given out. */
  lastNumber: number;
}

/**
 * Takes the revision's row: from here to the end of the transaction this is the only writer. Nothing is used up
 * until `commitRevision`.
 */
export async function lockRevision(trx: Transaction<Tables>): Promise<RevisionLock> {
  const row = await trx
    .selectFrom('revision')
    .select(['value', 'last_number'])
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { previous: row.value, next: row.value + 1, lastNumber: row.last_number };
}

/** Moves the revision on. To be called once, only when the transaction has changed an answer. */
export async function commitRevision(
  trx: Transaction<Tables>,
  lock: RevisionLock,
  numbersUsed = 0,
): Promise<void> {
  await trx
    .updateTable('revision')
    .set({ value: lock.next, last_number: lock.lastNumber + numbersUsed })
    .execute();
}

/** The last ones that are committed, of one snapshot. */
export const READ_REVISIONS =
  'select revision.value as answers, access_revision.value as access from revision, access_revision';

/** One run of a server: another server has another, and so has the same one once it is started again. */
const RUN = 'extract(epoch from pg_postmaster_start_time())::text';
const PRIMARY_RUN = 'run of the primary';

/** The same, of which run of a server, and of which one of the primary by what is written in the database. */
export const READ_REVISIONS_OF_SERVER = `select asked.*, ${RUN} as server,
    (select value from meta where name = '${PRIMARY_RUN}') as follows, pg_is_in_recovery() as standby
  from (${READ_REVISIONS}) as asked`;

/** Writes into the database which run of a server is its primary: replicas that follow this one come to say so. */
export const WRITE_PRIMARY_RUN = `insert into meta (name, value) values ('${PRIMARY_RUN}', ${RUN})
  on conflict (name) do update set value = excluded.value where meta.value <> excluded.value`;

/** The last one that is committed. */
export async function readRevision(db: Db): Promise<number> {
  return (await db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
}
