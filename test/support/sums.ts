import type { Db } from '../../src/db/database.ts';
import { sumExpiries } from '../../src/indicators/expiry/sums.ts';

/** Does what the worker does about the sums at a time, in small batches: takes off what has expired, and sums what expires next. */
export async function sumAt(db: Db, at: Date): Promise<void> {
  await sumExpiries(db, at, undefined, { batch: 3, many: 1 });
}
