import { sql } from 'kysely';
import type { Db } from './database.ts';

/** The bounds of autovacuum (`autovacuum_vacuum_threshold`, `autovacuum_vacuum_scale_factor`). */
const DEAD_ROWS = { least: 50, share: 0.2 };

/**
 * Vacuums the tables of the embedded database in which more rows have died since the process began than autovacuum would leave: that
 * engine has no autovacuum, so that each update would make its tables and indexes larger. All others wait until a table is done.
 * @returns the names of the tables
 */
export async function vacuumDeadRows(db: Db): Promise<string[]> {
  return db.connection().execute(async (connection) => {
    // The counts are written at most once a second otherwise.
    await sql`select pg_stat_force_next_flush()`.execute(connection);
    const { rows } = await sql<{ schema: string; table: string }>`
      select s.schemaname as schema, s.relname as table
      from pg_stat_user_tables s join pg_class c on c.oid = s.relid
      where s.n_dead_tup > ${sql.lit(DEAD_ROWS.least)} + ${sql.lit(DEAD_ROWS.share)} * greatest(c.reltuples, 0)
      order by s.relname`.execute(connection);
    for (const { schema, table } of rows) await sql`vacuum ${sql.id(schema, table)}`.execute(connection);
    return rows.map(({ table }) => table);
  });
}
