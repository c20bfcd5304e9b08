import { CompiledQuery, sql } from 'kysely';
import PgBoss from 'pg-boss';
import type { Database } from './open.ts';

/** Jobs that have ended are kept for a day: what they did stands in the health of what they did it for. */
const KEPT_HOURS = 24;
const ARCHIVE_SECONDS = 3600;
/** How often each queue is looked at. */
const POLL_SECONDS = 2;

/** The embedded engine has no autovacuum; jobs come and go by the thousand a day. */
export async function tidyJobs({ db, kind }: Pick<Database, 'db' | 'kind'>): Promise<void> {
  if (kind === 'embedded')
    await sql`vacuum pgboss.job, pgboss.archive, source, provider, enrichment_request`.execute(db);
}

/** Any number that nothing else in the database locks. */
const SETTING_UP_QUEUES = 7_231_944;

/**
 * Lets one node at a time set up its queues: pg-boss makes a table for each, and two nodes that do so at once wait for each
 * other in a circle. The embedded store has one holder.
 */
async function alone({ db, kind }: Pick<Database, 'db' | 'kind'>, use: () => Promise<void>): Promise<void> {
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

/** The queue of jobs, in the same database (schema `pgboss`) and, on the embedded engine, through the same lock. */
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
            // Its texts begin transactions of their own: one that failed must not stay open, with its locks, in the pool.
            await connection.executeQuery(CompiledQuery.raw('rollback'));
            throw error;
          }
        }),
    },
    pollingIntervalSeconds: POLL_SECONDS,
    archiveCompletedAfterSeconds: ARCHIVE_SECONDS,
    deleteAfterHours: KEPT_HOURS,
  });
  boss.on('error', onError);
  await alone({ db, kind }, async () => {
    try {
      await boss.start();
      for (const queue of queues) await boss.createQueue(queue.name, queue);
    } catch (error) {
      await boss.stop({ graceful: false, wait: true, close: false });
      throw error;
    }
  });
  // Nobody else can be at work on the embedded store: what is under way belongs to a process that was killed.
  if (kind === 'embedded') await sql`delete from pgboss.job where state = 'active'`.execute(db);
  return boss;
}
