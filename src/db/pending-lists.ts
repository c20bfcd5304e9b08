import { sql, type Transaction } from 'kysely';
import type { Db } from './database.ts';
import type { Tables } from './tables.ts';

/** Written rows whose texts and tags wait in the pending lists of their indexes while no requests are served: some 25 MB. */
const MOST_PENDING = 50_000;
/** More than `MOST_PENDING` rows take, so that the writer does not empty a list in the middle of a statement. */
const PENDING_LIMIT = '256MB';
/** The indexes that have pending lists: the trigrams of `q`, and the tags. */
const DEFERRED = ['indicator_search', 'indicator_tags'];

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Lets the inserts of a transaction leave the texts and tags of their rows in the pending lists of their indexes (PostgreSQL's manual,
 * 70.4.1): emptying these costs half as much for many rows as for the 4 MB at which a writer does it by default. Searches read a list as
 * a whole.
 */
export async function deferIndexes(trx: Transaction<Tables>): Promise<void> {
  await sql`set local gin_pending_list_limit = ${sql.lit(PENDING_LIMIT)}`.execute(trx);
}

/** Empties the pending lists of all deferred indexes. Only the owner of the indexes may do this. */
export async function emptyPendingLists(db: Db): Promise<void> {
  for (const index of DEFERRED) await sql`select gin_clean_pending_list(${index}::regclass)`.execute(db);
}

/** Empties the pending lists while an import defers the indexes. */
export interface PendingListCleaner {
  /**
   * Reports the number of rows written so far: an update writes the text of its row too. Begins, on a connection of its own if there
   * are several, if many are pending, or if requests are served.
   */
  written(rows: number, besideReaders: boolean): void;
  /** Empties the lists, unless they are empty. @throws when that failed, now or before */
  end(): Promise<void>;
}

/** @param defers whether the import defers the indexes */
export function pendingListCleaner(db: Db, defers: boolean): PendingListCleaner {
  let cleaning: Promise<void> | null = null;
  let problem: unknown = null;
  let all = 0;
  let cleaned = 0;
  const clean = async () => {
    const upTo = all;
    try {
      await emptyPendingLists(db);
      cleaned = upTo;
    } catch (error) {
      // Where another role owns the indexes, autovacuum does it.
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) problem = error;
      cleaned = upTo;
    } finally {
      cleaning = null;
    }
  };
  return {
    written(rows, besideReaders) {
      all = rows;
      if (defers && all - cleaned > (besideReaders ? 0 : MOST_PENDING)) cleaning ??= clean();
    },
    async end() {
      await cleaning;
      if (defers && all > cleaned && problem === null) await clean();
      if (problem !== null) throw problem;
    },
  };
}
