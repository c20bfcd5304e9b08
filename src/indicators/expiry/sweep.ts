import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../db/database.ts';
import { withRevision } from '../../db/revision/revision.ts';
import { hasPendingExpiry, markExpired } from './sweep.queries.ts';

/** Indicators per transaction, written in well under the 200 ms for which the revision may be locked. */
const BATCH = 2_000;

/** The rest after each batch, as a part of the time that the batch took: requests need the processor, and no response waits for marks. */
const REST = 1.5;

/**
 * Marks the indicators that have expired in batches, each with a new revision. Visibility and totals do not depend on the marks: they
 * compare the expiry with the time of the request.
 * @param stopped called between batches; true ends the sweep
 * @returns the number of indicators marked
 */
export async function sweepExpired(db: Db, now: Date, stopped = () => false, batch = BATCH): Promise<number> {
  let marked = 0;
  while (!stopped() && (await hasPendingExpiry(db, now))) {
    const startedAt = performance.now();
    marked += await withRevision(db, async (trx, revision) => {
      const count = await markExpired(trx, now, batch, revision.next);
      if (count > 0) revision.advanceByMarks();
      return count;
    });
    await delay((performance.now() - startedAt) * REST);
  }
  return marked;
}
