import { sql } from 'kysely';
import type { Db } from './database.ts';

/** The connection by which a node asks for the revision, which it does as long as requests come. */
export const ASKS_FOR_REVISIONS = 'tipline revisions';
/** It is asked for twenty times a second. */
const LATELY_MS = 200;

/** Whether all processes use one connection, so that readers wait for a transaction to end: the embedded database. */
export async function hasOneConnection(db: Db): Promise<boolean> {
  const { rows } = await sql<{ wasm: boolean }>`select version() like '%wasm%' as wasm`.execute(db);
  return rows[0]?.wasm ?? false;
}

/** Whether any node is answering requests now. The embedded database has one process, and says no. */
export async function hasActiveReaders(db: Db, withinMs = LATELY_MS): Promise<boolean> {
  const { rows } = await sql<{ served: boolean }>`
    select exists (select from pg_stat_activity where datname = current_database()
      and application_name = ${ASKS_FOR_REVISIONS} and state_change > clock_timestamp() - ${withinMs} * interval '1 ms') as served
  `.execute(db);
  return rows[0]?.served ?? false;
}
