import type { Kysely } from 'kysely';
import type { RevisionWatch } from './revision/watch.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;

/**
 * Reads from whatever is as recent as it has to be. `work` only reads, and may be done twice; `mayLag`: it is a replica,
 * which may lack what was committed elsewhere within the last MAX_STALE_MS.
 */
export type Read = <T>(work: (db: Db, mayLag: boolean) => Promise<T>) => Promise<T>;

export interface Database {
  db: Db;
  kind: 'postgresql' | 'embedded';
  /** Another process holds the store, and this one works through it. */
  shared: boolean;
  /** Updates the planner's statistics after many rows have changed; on PostgreSQL autovacuum does it within a minute. */
  refreshStatistics(): Promise<void>;
  /** Which revisions are the latest; it looks while somebody wants to know. */
  revisions: RevisionWatch;
  /** For what is answered: from a replica where there is one that is as recent as it has to be. */
  read: Read;
  /** Resolves with why nothing is written, for operators: the disk is full or nearly so; null while writing is allowed. */
  diskProblem(): Promise<string | null>;
  /** @throws {DiskFullError} when too little is free for temporary files */
  requireSpace(): void;
  /** Before anything closes: another process that has the store and does nothing must not be waited for. */
  expediteClose?(): void;
  close(): Promise<void>;
}
