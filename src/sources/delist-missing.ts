import type { Db } from '../db/database.ts';
import { idPages } from '../db/expressions.ts';
import { withRevision } from '../db/revision/revision.ts';
import type { AssertLease } from '../imports/import-context.ts';
import { writeRecomputed } from '../indicators/state/recompute.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import { markDelisted, membersOf } from './feeds.queries.ts';

const PAGE = 10_000;
/** Indicators per transaction: written in well under the 200 ms for which the revision may be locked. */
const BATCH = 500;

/**
 * Delists the indicators of a snapshot list that are missing from a new good copy: their lifetime starts now.
 * @param present ids of all indicators in the copy
 * @param lastCopyAt when the last good copy was fetched, which still contained them
 * @param guard throws when the run may no longer write
 * @returns the number of delisted indicators
 */
export async function delistMissing(
  db: Db,
  sourceId: string,
  present: ReadonlySet<string>,
  lastCopyAt: Date | null,
  now: Date,
  guard: AssertLease,
): Promise<number> {
  let left = 0;
  for await (const members of idPages((after) => membersOf(db, sourceId, after, PAGE))) {
    const gone = members.filter((id) => !present.has(id));
    await currentMatcher(db);
    for (let at = 0; at < gone.length; at += BATCH) {
      const batch = gone.slice(at, at + BATCH);
      await withRevision(db, async (trx, revision) => {
        await guard(trx);
        await markDelisted(trx, sourceId, batch, lastCopyAt, now);
        await writeRecomputed(trx, batch, await currentMatcher(trx), revision, now);
      });
    }
    left += gone.length;
  }
  return left;
}
