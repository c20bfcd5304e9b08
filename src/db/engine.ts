import type { Preparation } from './prepared-query.ts';

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
