import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Moves what inserts have put into the pending list of the trigram index of `q` into the index itself (PostgreSQL's manual, 70.4.1). */
export interface PendingListCleaner {
  /** Begins on a connection of its own, unless it is under way: the writer would do it in the middle of a statement. */
  begin(): void;
  /** Resolves when it is not under way. @throws when it failed */
  settled(): Promise<void>;
}

export function pendingListCleaner(db: Db): PendingListCleaner {
  let cleaning: Promise<void> | null = null;
  let problem: unknown = null;
  const clean = async () => {
    try {
      await sql`select gin_clean_pending_list('indicator_search')`.execute(db);
    } catch (error) {
      problem = error;
    } finally {
      cleaning = null;
    }
  };
  return {
    begin() {
      cleaning ??= clean();
    },
    async settled() {
      await cleaning;
      if (problem !== null) throw problem;
    },
  };
}
