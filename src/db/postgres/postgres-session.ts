import { sql } from 'kysely';
import pg from 'pg';
import { CopyIn } from '../copy-in.ts';
import { copyOut } from '../copy-out.ts';
import { COPY_SETTINGS, type Session, singleConnection } from '../session.ts';
import { connectionLease } from './engine.ts';
import { connectionTo, NO_TIMEOUTS } from './postgres.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Opens a connection to PostgreSQL on which tables are copied.
 * @param name of the application, as `pg_stat_activity` shows it
 */
export async function openPostgresSession(url: string, name: string): Promise<Session> {
  const client = new pg.Client({
    ...connectionTo(url, name),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A connection that breaks fails the statement in progress.
  client.on('error', () => {});
  await client.connect();
  await client.query(COPY_SETTINGS);
  await client.query(`set jit = off; ${NO_TIMEOUTS}`);
  const db = singleConnection(connectionLease(client));
  return {
    db,
    kind: 'postgresql',
    async *copyOut(table, columns) {
      const query = sql`select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(table)}`;
      for await (const { bytes, places } of copyOut(db, [{ compile: () => query.compile(db) }]))
        yield linesAt(bytes, places);
    },
    async copyIn(table, columns, lines) {
      const names = columns.map((column) => client.escapeIdentifier(column)).join(', ');
      const copy = new CopyIn(`copy ${client.escapeIdentifier(table)} (${names}) from stdin`, lines);
      client.query(copy as unknown as pg.Submittable);
      return copy.done;
    },
    close: () => client.end(),
  };
}

/** Returns the lines of a piece of COPY's output with their ends. @param places see `CopiedRows` */
function linesAt(bytes: Buffer, places: readonly number[]): Buffer {
  const lines: Buffer[] = [];
  for (let i = 0; i < places.length; i += 2) lines.push(bytes.subarray(places[i], Number(places[i + 1]) + 1));
  return Buffer.concat(lines);
}
