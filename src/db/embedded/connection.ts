import type { Engine, QueryRows } from '../engine.ts';

/** Held by this process: every commit goes through it. */
export interface OwnEngine extends Engine {
  /** Calls this after each commit, before the caller of the commit continues. */
  onCommit(tell: () => void): void;
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
