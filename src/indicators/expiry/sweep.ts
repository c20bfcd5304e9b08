import type { Db } from '../../db/database.ts';
import { withRevision } from '../../db/revision/revision.ts';
import { hasPendingExpiry, markExpired } from './sweep.queries.ts';

/** Indicators per transaction, written in well under the 200 ms for which the revision may be locked. */
const BATCH = 2_000;

/**
 * Marks the indicators that have expired, in batches, each with a new revision. Visibility does not depend on
 * the mark: the visibility predicate compares the expiry with the time of the request.
 * @param stopped called between batches; true ends the sweep
 * @returns the number of indicators marked
 */
export async function sweepExpired(db: Db, now: Date, stopped = () => false): Promise<number> {
  let marked = 0;
  while (!stopped() && (await hasPendingExpiry(db, now))) {
    marked += await withRevision(db, async (trx, revision) => {
      const count = await markExpired(trx, now, BATCH, revision.next);
      if (count > 0) revision.advance();
      return count;
    });
  }
  return marked;
}
