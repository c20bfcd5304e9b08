import { CompiledQuery, Kysely } from 'kysely';
import type { Database, Db, Engine, Lease } from './database.ts';
import { engineDialect } from './dialect.ts';

/**
 * One connection to a database, without time limits, on which whole tables are copied by PostgreSQL's COPY. Rows are lines in its text
 * format, the same on both engines.
 */
export interface Session {
  /** Every statement runs on the connection, also between `begin` and `commit` that are sent as statements. */
  db: Db;
  kind: Database['kind'];
  /** Yields the rows of a table, whole lines each time. Nothing else may run on the connection meanwhile. */
  copyOut(table: string, columns: readonly string[]): AsyncGenerator<Buffer>;
  /** Adds rows to a table. @param lines whole lines each time @returns their number */
  copyIn(table: string, columns: readonly string[], lines: AsyncIterable<Buffer>): Promise<number>;
  close(): Promise<void>;
}

/** Settings on which the text format of values depends, as all sessions of Tipline and of other programs may have others. */
export const COPY_SETTINGS = `set datestyle = 'ISO, MDY'; set intervalstyle = 'postgres'; set time zone 'UTC'; set extra_float_digits = 1;
  set bytea_output = 'hex'; set client_encoding = 'UTF8'`;

/** Returns the database of a connection that is never given up. */
export function singleConnection(lease: Omit<Lease, 'release'>): Db {
  const engine: Engine = {
    acquire: async () => ({ ...lease, release: async () => {} }),
    close: async () => {},
  };
  return new Kysely({ dialect: engineDialect(engine) });
}

/** Runs `work` between `begin` and `commit`. @param begin the statement that begins the transaction */
export async function within<T>(
  { db }: Pick<Session, 'db'>,
  begin: string,
  work: () => Promise<T>,
): Promise<T> {
  const run = (statement: string) => db.executeQuery(CompiledQuery.raw(statement));
  await run(begin);
  try {
    const result = await work();
    await run('commit');
    return result;
  } catch (error) {
    // The connection may be gone, which ends the transaction too.
    await run('rollback').catch(() => {});
    throw error;
  }
}
