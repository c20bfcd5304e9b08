import type { Engine, QueryRows } from '../engine.ts';

/** An engine that this process holds: every commit goes through it. */
export interface OwnEngine extends Engine {
  /** Registers a function that is called after each commit, before the caller of the commit continues. */
  onCommit(tell: () => void): void;
}

/**
 * The connection itself: to PGlite on this thread (pglite.ts) or on a thread of its own (store-thread.ts).
 */
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
