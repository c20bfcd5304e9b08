import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { RevisionWatch } from './revision/watch.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;

/**
 * Reads from the primary or a sufficiently recent replica. `work` only reads, and may run twice; `mayLag`: it
 * runs on a replica, which may lack commits of other nodes from the last MAX_STALE_MS.
 */
export type Read = <T>(work: (db: Db, mayLag: boolean) => Promise<T>) => Promise<T>;

/** How reads were served since the start. */
export interface ReadStats {
  primary: number;
  replica: number;
  /** Reads that failed on a replica and were done on the primary. */
  failed: number;
  /** Replicas that are configured, and those whose lag is within bounds now. */
  replicas: number;
  usable: number;
}

/** The connections of this process to the primary. */
export interface ConnectionStats {
  used: number;
  idle: number;
  /** Statements and transactions that wait for one. */
  waiting: number;
}

export interface Database {
  db: Db;
  kind: 'postgresql' | 'embedded';
  /** Whether another process holds the store and this one works through it. */
  shared: boolean;
  /** Watches the latest revisions; polls only while they are in demand. */
  revisions: RevisionWatch;
  /** Reads for responses: from a replica if one is recent enough. */
  read: Read;
  /** null: there are no replicas. */
  readStats: (() => ReadStats) | null;
  /** null: the embedded database, which has one connection. */
  connectionStats: (() => ConnectionStats) | null;
  /**
   * Resolves with the reason why nothing is written, for operators: the disk is full or nearly full; null
   * while writing is allowed.
   */
  diskProblem(): Promise<string | null>;
  /** @throws {DiskFullError} when too little is free for temporary files */
  requireSpace(): void;
  /** Called before closing, which must not wait for another process that holds the store idly. */
  expediteClose?(): void;
  close(): Promise<void>;
}

/**
 * Connections to a database. The embedded one has a single connection, which its leases use one after the
 * other.
 */
export interface Engine {
  acquire(): Promise<Lease>;
  close(): Promise<void>;
}

/** The exclusive use of a connection, for one statement or one transaction. */
export interface Lease {
  query(sql: string, parameters: readonly unknown[], preparation?: Preparation): Promise<QueryRows>;
  /** Yields the rows of a statement without parameters as they arrive. Absent: the engine cannot stream. */
  stream?(sql: string): AsyncGenerator<unknown[]>;
  /** Lets others use the connection. The embedded engine first rolls back an open transaction. */
  release(): Promise<void>;
}

export interface QueryRows {
  rows: unknown[];
  affectedRows: number | undefined;
}

/** Runs several statements, which only read, on one snapshot. */
export function inSnapshot<T>(db: Db, read: (snapshot: Db) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}

/** Ends the time limit of the statements of its transaction, of the server and of the client. */
export const NO_TIME_LIMIT = 'set local statement_timeout = 0';

/** Lets the statements of a transaction take longer than a request may wait. */
export async function liftTimeLimit(trx: Db): Promise<void> {
  await sql.raw(NO_TIME_LIMIT).execute(trx);
}

/** @throws when the database does not answer */
export async function pingDatabase(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}

/** Returns whether the server rejects writes: it only follows another one, or new transactions are read-only. */
export async function isReadOnly(db: Db): Promise<boolean> {
  const { rows } = await sql<{
    rejects: boolean;
  }>`select current_setting('transaction_read_only')::boolean as rejects`.execute(db);
  return rows[0]?.rejects ?? false;
}

/** How PostgreSQL runs a statement that is sent often. The embedded database ignores it. */
export interface Preparation {
  /**
   * Name of the server's prepared statement (`pg_prepared_statements`); lower-case letters and underscores.
   */
  name: string;
  /** `generic`: planned once, for any parameters. `custom`: planned for the parameters of each execution. */
  plan: 'generic' | 'custom';
  /** PostgreSQL returns each row as a `RawRow`. */
  isRaw?: boolean;
}

export interface PreparedQuery<Row> extends CompiledQuery<Row> {
  readonly preparation?: Preparation;
}

export function prepare<Row>(query: CompiledQuery<Row>, preparation: Preparation): PreparedQuery<Row> {
  return { ...query, preparation };
}

/**
 * A row as the texts that PostgreSQL sent, by the names of its columns: parsing columns that are never read
 * would cost more than reading the row.
 */
export class RawRow {
  readonly #texts: readonly (string | null)[];
  readonly #places: Readonly<Record<string, number>>;

  /** @param places index of the text of each column */
  constructor(texts: readonly (string | null)[], places: Readonly<Record<string, number>>) {
    this.#texts = texts;
    this.#places = places;
  }

  /** @throws {RangeError} for a column that the statement does not return */
  text(column: string): string | null {
    const text = this.#texts[this.#places[column] ?? -1];
    if (text === undefined) throw new RangeError(`there is no column ${column}`);
    return text;
  }
}
