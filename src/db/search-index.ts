import { sql, type Transaction } from 'kysely';
import type { Db } from './database.ts';
import type { Tables } from './tables.ts';

/** Written rows whose texts wait in the pending list of the trigram index of `q` while no requests are served: some 25 MB. */
const MOST_PENDING = 50_000;
/** More than `MOST_PENDING` rows take, so that the writer does not empty the list in the middle of a statement. */
const PENDING_LIMIT = '256MB';

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Lets the inserts of a transaction leave the texts of their rows in the pending list of the trigram index (PostgreSQL's manual, 70.4.1):
 * emptying it costs half as much for many rows as for the 4 MB at which a writer does it by default. Searches read the list as a whole.
 */
export async function deferSearchIndex(trx: Transaction<Tables>): Promise<void> {
  await sql`set local gin_pending_list_limit = ${sql.lit(PENDING_LIMIT)}`.execute(trx);
}

/** Empties the pending list while an import defers it. */
export interface PendingListCleaner {
  /**
   * Reports the number of rows written so far: an update writes the text of its row too. Begins, on a connection of its own, if many
   * are pending, or if requests are served.
   */
  written(rows: number, besideReaders: boolean): void;
  /** Empties the list, unless it is empty. @throws when that failed, now or before */
  end(): Promise<void>;
}

/** @param defers whether the import defers the index */
export function pendingListCleaner(db: Db, defers: boolean): PendingListCleaner {
  let cleaning: Promise<void> | null = null;
  let problem: unknown = null;
  let all = 0;
  let cleaned = 0;
  const clean = async () => {
    const upTo = all;
    try {
      await sql`select gin_clean_pending_list('indicator_search')`.execute(db);
      cleaned = upTo;
    } catch (error) {
      // Only the owner of an index may do this; otherwise autovacuum does.
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
