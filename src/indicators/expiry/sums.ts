import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../db/database.ts';
import { withRevision } from '../../db/revision/revision.ts';
import { hasExpiredInSums, nextExpiriesToSum, sumNextExpiries, takeExpiredFromSums } from './sums.queries.ts';

/** How long before their expiry many indicators are summed in a part of their own. A million takes a minute or two. */
const AHEAD_MS = 600_000;

const SIZES = {
  /** Indicators per transaction, moved in under the 200 ms for which the revision may be locked: 60 µs each on a slow machine. */
  batch: 2_500,
  /** Indicators that expire within a second, from which on they are summed beforehand: fewer take a total 2 ms to subtract. */
  many: 1_000,
};

/**
 * Takes the indicators that have expired off the sums, and sums the next ones apart if many expire at once. Totals are exact before
 * and after: they compare the expiry with the time of the request, and subtract one by one what has expired and is still in the sums.
 * @param stopped called between batches; true ends the work
 */
export async function sumExpiries(
  db: Db,
  now: Date,
  stopped = () => false,
  { batch, many } = SIZES,
): Promise<void> {
  while (!stopped() && (await hasExpiredInSums(db, now)))
    await withRevision(db, (trx) => takeExpiredFromSums(trx, now, batch));
  const end = new Date(now.getTime() + AHEAD_MS);
  while (!stopped()) {
    const until = await nextExpiriesToSum(db, now, end, many);
    if (until === undefined) return;
    const startedAt = performance.now();
    await withRevision(db, (trx) => sumNextExpiries(trx, until, batch));
    // Nothing waits for it.
    await delay(performance.now() - startedAt);
  }
}
