import { sql } from 'kysely';
import type { Db } from './open.ts';

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
const TARGET = 20;

/**
 * Updates the planner's statistics of the tables that imports write. For the embedded database, which has no autovacuum: plans made for
 * tables as small as they were read all of them. A transaction for each table: readers wait for one of them at most.
 */
export async function updateStatistics(db: Db): Promise<void> {
  for (const table of TABLES)
    await db.transaction().execute(async (trx) => {
      await sql`set local default_statistics_target = ${sql.lit(TARGET)}`.execute(trx);
      await sql`analyze ${sql.table(table)}`.execute(trx);
    });
}
