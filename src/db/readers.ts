import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Name of the connection over which a node reads the revision, as long as it gets requests. */
export const REVISION_READER_NAME = 'tipline revisions';
/** The revision is read twenty times a second, so a node at work has read it within this time. */
const LATELY_MS = 200;

/**
 * Returns whether all processes use one connection, so that readers wait for a transaction to end: the
 * embedded database.
 */
export async function hasOneConnection(db: Db): Promise<boolean> {
  const { rows } = await sql<{ wasm: boolean }>`select version() like '%wasm%' as wasm`.execute(db);
  return rows[0]?.wasm ?? false;
}

/**
 * Returns whether any node is serving requests now; false for the embedded database, which has one process.
 */
export async function hasActiveReaders(db: Db, withinMs = LATELY_MS): Promise<boolean> {
  const { rows } = await sql<{ served: boolean }>`
    select exists (select from pg_stat_activity where datname = current_database()
      and application_name = ${REVISION_READER_NAME} and state_change > clock_timestamp() - ${withinMs} * interval '1 ms') as served
  `.execute(db);
  return rows[0]?.served ?? false;
}
