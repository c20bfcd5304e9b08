/**
 * The embedded database has one connection. Whoever holds the lease has it to himself: a single statement or
 * a whole transaction. Held by this process (pglite.ts) or, over a socket, by another (store-client.ts).
 */
export interface Engine {
  acquire(): Promise<Lease>;
  close(): Promise<void>;
}

/** Held by this process: every commit goes through it. */
export interface OwnEngine extends Engine {
  /** Calls this after each commit, before whoever waits for it goes on. */
  onCommit(tell: () => void): void;
}

export interface Lease {
  query(sql: string, parameters: readonly unknown[]): Promise<QueryRows>;
  /** Rolls back what the holder left open, and lets the next one in. */
  release(): Promise<void>;
}

export interface QueryRows {
  rows: Record<string, unknown>[];
  affectedRows: number | undefined;
}
