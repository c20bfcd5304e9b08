import { sql, type Transaction } from 'kysely';
import type { Db } from '../database.ts';
import type { Tables } from '../tables.ts';
import { recordChangeDates } from './change-dates.ts';

export interface RevisionLock {
  /** The revision before this transaction. */
  previous: number;
  /** The revision that the rows changed by this transaction carry. */
  next: number;
  /** The last indicator number that was assigned. */
  lastNumber: number;
}

export interface OpenRevision extends RevisionLock {
  /**
   * States that the transaction has changed a response: the revision advances when it ends.
   * @param numbersUsed how many indicator numbers were assigned, from `lastNumber + 1` on
   */
  advance(numbersUsed?: number): void;
}

/**
 * Runs a transaction under the lock of the revision. Without a call of `advance` no revision is used up.
 */
export async function withRevision<T>(
  db: Db,
  write: (trx: Transaction<Tables>, revision: OpenRevision) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const lock = await lockRevision(trx);
    let numbers: number | null = null;
    const result = await write(trx, {
      ...lock,
      advance(numbersUsed = 0) {
        numbers = numbersUsed;
      },
    });
    if (numbers !== null) await commitRevision(trx, lock, numbers);
    return result;
  });
}

/**
 * Locks the row of the revision: from here to the end of the transaction this is the only writer. No revision
 * and no number is used up until `commitRevision`.
 */
async function lockRevision(trx: Transaction<Tables>): Promise<RevisionLock> {
  const row = await trx
    .selectFrom('revision')
    .select(['value', 'last_number'])
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { previous: row.value, next: row.value + 1, lastNumber: row.last_number };
}

/**
 * Advances the revision. Must be called once, and only when the transaction has changed a response.
 */
async function commitRevision(
  trx: Transaction<Tables>,
  lock: RevisionLock,
  numbersUsed: number,
): Promise<void> {
  await sql`
    with advanced as (
      update revision set value = ${lock.next}::bigint, last_number = ${lock.lastNumber + numbersUsed}::bigint
    )
    insert into revision_log (revision) values (${lock.next}::bigint)
  `.execute(trx);
  await recordChangeDates(trx, lock.next);
}

/** Reads the last committed revisions, and the history that they belong to, from one snapshot. */
export const READ_REVISIONS = `select revision.value as revision, access_revision.value as access, revision.epoch as history
  from revision, access_revision`;

/** Identifies a run of a server: it differs between servers, and after each restart of one. */
const RUN = 'extract(epoch from pg_postmaster_start_time())::text';
const PRIMARY_RUN = 'run of the primary';

/** Reads the same, with the run of this server, and the run of the primary as recorded in the database. */
export const READ_REVISIONS_OF_SERVER = `select asked.*, ${RUN} as server,
    (select value from meta where name = '${PRIMARY_RUN}') as follows, pg_is_in_recovery() as standby
  from (${READ_REVISIONS}) as asked`;

/** Reads the same identity of the server alone. */
export const READ_SERVER = `select ${RUN} as server`;

/**
 * Records the run of this server as the primary's in the database, from where it reaches the replicas that
 * follow it.
 */
export const WRITE_PRIMARY_RUN = `insert into meta (name, value) values ('${PRIMARY_RUN}', ${RUN})
  on conflict (name) do update set value = excluded.value where meta.value <> excluded.value`;

/** Returns the id of the history that the revisions belong to; a restore renews it. */
export async function readEpoch(db: Db): Promise<string> {
  return (await db.selectFrom('revision').select('epoch').executeTakeFirstOrThrow()).epoch;
}

/** A revision of one history. After a failover that lost commits, another state of the database may have the same revision. */
export interface RevisionId {
  revision: number;
  /** Random, and written with the revision; null: it is not kept. */
  token: string | null;
}

/** Returns the last committed revision with its token. */
export async function readRevisionId(db: Db): Promise<RevisionId> {
  return await db
    .selectFrom('revision')
    .leftJoin('revision_log', 'revision_log.revision', 'revision.value')
    .select(['revision.value as revision', 'revision_log.token'])
    .executeTakeFirstOrThrow();
}

export function isSameRevision(one: RevisionId, other: RevisionId): boolean {
  return one.revision === other.revision && one.token === other.token;
}

/** Returns the last committed revision. */
export async function readRevision(db: Db): Promise<number> {
  return (await db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
}
