import type { Db } from '../../src/db/database.ts';
import { sumExpiries } from '../../src/indicators/expiry/sums.ts';
import { sweepExpired } from '../../src/indicators/expiry/sweep.ts';

/** Does what the worker does about expiries at a time: takes off the sums what has expired, sums what expires next, and marks. */
export async function sweepAt(db: Db, at: Date): Promise<number> {
  await sumExpiries(db, at, undefined, { batch: 3, many: 1 });
  return sweepExpired(db, at);
}
