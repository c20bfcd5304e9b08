import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The bounds of autovacuum (`autovacuum_vacuum_threshold`, `autovacuum_vacuum_scale_factor`). */
const DEAD_ROWS = { least: 50, share: 0.2 };

/**
 * Vacuums the tables of the embedded database in which more rows have died than autovacuum would leave: that engine has no
 * autovacuum, so that each update would make its tables and indexes larger. It counts dead rows from the start of the process or,
 * after an ANALYZE, as that estimates them. All others wait until a table is done. Nothing is vacuumed while the disk is too full,
 * as that writes to it.
 * @param stopped asked before each table
 * @returns the names of the tables
 */
export async function vacuumDeadRows(
  { db, diskProblem }: Pick<Database, 'db' | 'diskProblem'>,
  stopped: () => boolean = () => false,
): Promise<string[]> {
  const vacuumed: string[] = [];
  // Counts are published at most once a second otherwise.
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ schema: string; table: string }>`
    select s.schemaname as schema, s.relname as table
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.n_dead_tup > ${sql.lit(DEAD_ROWS.least)} + ${sql.lit(DEAD_ROWS.share)} * greatest(c.reltuples, 0)
    order by s.relname`.execute(db);
  for (const { schema, table } of rows) {
    if (stopped() || (await diskProblem()) !== null) break;
    await sql`vacuum ${sql.id(schema, table)}`.execute(db);
    vacuumed.push(table);
  }
  return vacuumed;
}
