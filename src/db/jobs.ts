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

/** The queue of jobs, in the same database (schema `pgboss`) and, on the embedded engine, through the same lock. */
export async function openJobs(
  { db, kind }: Pick<Database, 'db' | 'kind'>,
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
  await boss.start();
  // Nobody else can be at work on the embedded store: what is under way belongs to a process that was killed.
  if (kind === 'embedded') await sql`delete from pgboss.job where state = 'active'`.execute(db);
  return boss;
}
