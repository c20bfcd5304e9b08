/**
 * The embedded database has one connection. A lease is the exclusive use of it: for a single statement or a whole
 * transaction. The connection is this process's (lease-queue.ts) or, over a socket, another's (store-client.ts).
 */
export interface Engine {
  acquire(): Promise<Lease>;
  close(): Promise<void>;
}

/** Held by this process: every commit goes through it. */
export interface OwnEngine extends Engine {
  /** Calls this after each commit, before the caller of the commit continues. */
  onCommit(tell: () => void): void;
}

export interface Lease {
  query(sql: string, parameters: readonly unknown[]): Promise<QueryRows>;
  /** Rolls back what the holder left open, and lets the next one in. */
  release(): Promise<void>;
}

/** The connection itself: to PGlite on this thread (pglite.ts) or on a thread of its own (store-thread.ts). */
export interface Connection {
  query(sql: string, parameters: readonly unknown[]): Promise<QueryRows>;
  /** Whether the last statement left a transaction open. */
  isInTransaction(): boolean;
  /**
   * Opens the connection again if the database has exited; called before each lease.
   * @returns whether this is a new session
   */
  reconnect?(): Promise<boolean>;
  close(): Promise<void>;
}

export interface QueryRows {
  rows: Record<string, unknown>[];
  affectedRows: number | undefined;
}
