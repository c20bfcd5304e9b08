import type { Db } from '../../db/database.ts';
import { commitRevision, lockRevision } from '../../db/revision/revision.ts';
import { isAnythingDue, markExpired } from './sweep.queries.ts';

/** Written in well under the 200 ms for which the revision may be held. */
const BATCH = 2_000;

/**
 * Gives every expiry up to now its revision, in batches. Nothing waits for it to be right: whether a row is visible
 * is asked of the time.
 * @param stopped asked between batches
 * @returns how many were marked
 */
export async function sweepExpired(db: Db, now: Date, stopped = () => false): Promise<number> {
  let marked = 0;
  while (!stopped() && (await isAnythingDue(db, now))) {
    marked += await db.transaction().execute(async (trx) => {
      const lock = await lockRevision(trx);
      const count = await markExpired(trx, now, BATCH, lock.next);
      if (count > 0) await commitRevision(trx, lock);
      return count;
    });
  }
  return marked;
}
