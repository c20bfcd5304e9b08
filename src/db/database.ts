import type { Kysely } from 'kysely';
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
