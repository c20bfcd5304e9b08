import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import PgBoss from 'pg-boss';
import type { Database, Db } from './database.ts';

/** Ended jobs are kept for an hour: their results are in the health of the object that they ran for. */
const KEPT_HOURS = 1;
const ARCHIVE_SECONDS = 3600;
/** How often pg-boss fails jobs that have expired: those of a killed worker, which other jobs of their queues wait for. */
const EXPIRY_SECONDS = 30;
/** Poll interval of each queue. */
const POLL_MS = 2_000;
/** Longest wait at the end for a database that does not answer. */
const GIVE_UP_MS = 2_000;

/** Key of the advisory lock: any number that nothing else in the database locks. */
const SETTING_UP_QUEUES = 7_231_944;

/**
 * Runs `use` under a lock, so that one node at a time sets up its queues: pg-boss creates a table for each,
 * and two nodes that do so at once deadlock. The embedded store has one holder.
 */
async function withSetupLock(
  { db, kind }: Pick<Database, 'db' | 'kind'>,
  use: () => Promise<void>,
): Promise<void> {
  if (kind === 'embedded') return use();
  await db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${SETTING_UP_QUEUES}::bigint)`.execute(connection);
    try {
      await use();
    } finally {
      await sql`select pg_advisory_unlock(${SETTING_UP_QUEUES}::bigint)`.execute(connection);
    }
  });
}

/** Deletes the queues of earlier versions, whose jobs nobody runs any more. */
async function deleteOtherQueues(db: Db, boss: PgBoss, queues: readonly PgBoss.Queue[]): Promise<void> {
  const current = new Set(queues.map(({ name }) => name));
  for (const { name } of await boss.getQueues()) {
    if (current.has(name)) continue;
    await sql`delete from pgboss.job where name = ${name}`.execute(db);
    await boss.deleteQueue(name);
  }
}

/**
 * Opens the queue of jobs, in the same database (schema `pgboss`) and, on the embedded engine, through the
 * same lock.
 */
export async function openJobs(
  { db, kind }: Pick<Database, 'db' | 'kind'>,
  queues: readonly PgBoss.Queue[],
  onError: (error: Error) => void,
): Promise<PgBoss> {
  const boss = new PgBoss({
    db: {
      executeSql: (text, values) =>
        db.connection().execute(async (connection) => {
          try {
            const { rows } = await connection.executeQuery(CompiledQuery.raw(text, values ?? []));
            return { rows: rows as unknown[] };
          } catch (error) {
            // pg-boss's statements begin transactions of their own: a failed one must not stay open, with its
            // locks, in the pool.
            await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => {});
            throw error;
          }
        }),
    },
    schedule: false,
    archiveCompletedAfterSeconds: ARCHIVE_SECONDS,
    deleteAfterHours: KEPT_HOURS,
    maintenanceIntervalSeconds: EXPIRY_SECONDS,
  });
  boss.on('error', onError);
  await withSetupLock({ db, kind }, async () => {
    try {
      await boss.start();
      for (const queue of queues) {
        await boss.createQueue(queue.name, queue);
        await boss.updateQueue(queue.name, queue);
      }
      await deleteOtherQueues(db, boss, queues);
    } catch (error) {
      await boss.stop({ graceful: false, wait: true, close: false });
      throw error;
    }
  });
  // No other worker can use the embedded store: active jobs belong to a process that was killed.
  if (kind === 'embedded') await sql`delete from pgboss.job where state = 'active'`.execute(db);
  await repairTimes(db);
  // pg-boss does so only after an interval, which a worker that is killed again and again never reaches.
  await boss.expire();
  return boss;
}

/**
 * Removes what is dated in the future, because the clock has been set back since: an active job would expire, and pg-boss expire
 * jobs, only once the clock is there again.
 */
async function repairTimes(db: Database['db']): Promise<void> {
  await sql`delete from pgboss.job where state = 'active' and started_on > now() + interval '1 minute'`.execute(
    db,
  );
  await sql`update pgboss.version set maintained_on = null where maintained_on > now()`.execute(db);
}

/**
 * Returns whether a job of a queue is in progress. A second one of a `stately` queue cannot begin: `fetch` then violates a unique
 * index, and PostgreSQL logs an error.
 */
export async function hasActiveJob(db: Database['db'], name: string): Promise<boolean> {
  const { rows } =
    await sql`select from pgboss.job where name = ${name} and state = 'active' limit 1`.execute(db);
  return rows.length > 0;
}

interface Doing<T> {
  work(data: T): Promise<void>;
  /** Returns whether no job can begin now. Absent: one always can. */
  isBusy?(): Promise<boolean>;
  onError(error: unknown): void;
  /** Ends the loop once the current job is done. */
  signal: AbortSignal;
  pollMs?: number;
  giveUpMs?: number;
}

export interface JobRunner {
  /** Resolves when the loop has ended, with no job in progress. */
  ended: Promise<void>;
  /** Gives up the job in progress: another worker may run it, at the latest when the job expires. */
  giveUp(): Promise<void>;
}

/**
 * Runs the jobs of a queue, one after the other. A job that ended while the database was unavailable is
 * completed once it is back; pg-boss's own loop does not wait for that, and its errors end the process.
 */
export function runJobLoop<T extends object>(
  boss: Pick<PgBoss, 'fetch' | 'complete' | 'fail'>,
  name: string,
  { work, isBusy, onError, signal, pollMs = POLL_MS, giveUpMs = GIVE_UP_MS }: Doing<T>,
): JobRunner {
  const pause = () => delay(pollMs, undefined, { signal }).catch(() => {});
  let underWay: string | undefined;
  const complete = async (id: string): Promise<void> => {
    for (;;) {
      try {
        return await boss.complete(name, id);
      } catch (error) {
        onError(error);
        if (signal.aborted) return;
        await pause();
      }
    }
  };
  const mayFetch = async (): Promise<boolean> => {
    try {
      return !(await isBusy?.());
    } catch (error) {
      onError(error);
      return false;
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      if (!(await mayFetch())) {
        await pause();
        continue;
      }
      // `fetch` reports no errors: it then returns no job. Jobs are sent for at once; one that starts later is from before the clock
      // was set back, and as long as it waits, the queue accepts no other one.
      const [job] = await boss.fetch<T>(name, { ignoreStartAfter: true });
      underWay = job?.id;
      if (job) await work(job.data).then(() => complete(job.id));
      else await pause();
    }
    underWay = undefined;
  };
  return {
    ended: run(),
    async giveUp() {
      if (underWay === undefined) return;
      const told = boss.fail(name, underWay).catch(onError);
      await Promise.race([told, delay(giveUpMs, undefined, { ref: false })]);
    },
  };
}
