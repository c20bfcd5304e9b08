import { sql } from 'kysely';
import type { Db } from './database.ts';
import { hasOneConnection } from './readers.ts';

const TABLES = [
  'indicator',
  'indicator_source',
  'relationship',
  'external_id',
  'enrichment',
  'entity_source',
  'entity_key',
];
/** A fifth of the default: readers wait for a tenth of a second instead of a whole one. */
const QUICK_TARGET = 20;

/**
 * Updates the planner's statistics of the tables that imports write, one table per transaction.
 * @param readersWait whether readers wait until a table is done, as on the embedded database: a smaller
 *   sample is taken
 */
export async function updateStatistics(db: Db, readersWait: boolean): Promise<void> {
  for (const table of TABLES)
    await db.transaction().execute(async (trx) => {
      if (readersWait) await sql`set local default_statistics_target = ${sql.lit(QUICK_TARGET)}`.execute(trx);
      await sql`analyze ${sql.table(table)}`.execute(trx);
    });
}

/**
 * Updates the statistics of the embedded database after many rows have changed; on PostgreSQL autovacuum does it
 * within a minute.
 */
export async function refreshStatistics(db: Db): Promise<void> {
  if (await hasOneConnection(db)) await updateStatistics(db, true);
}

/** Returns the planner's estimate of the number of indicators. */
export async function knownIndicators(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select greatest(reltuples, 0)::float8 as count from pg_class where oid = 'indicator'::regclass
  `.execute(db);
  return rows[0]?.count ?? 0;
}
