import type { Db } from '../db/database.ts';
import { idPages } from '../db/keyset.ts';
import { withRevision } from '../db/revision/revision.ts';
import type { Guard } from '../imports/assert-lease.ts';
import { writeRecomputed } from '../indicators/state/recompute.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import { markLeft, membersOf } from './feeds.queries.ts';

const PAGE = 10_000;
/** Written in well under the 200 ms for which the revision may be held. */
const BATCH = 500;

/**
 * What stood in a source's list and is not in this good copy of it has left: its lifetime begins now.
 * @param present ids of all that the copy holds
 * @param lastCopyAt when the last good copy was fetched, in which they still stood
 * @param guard throws when the run may write no more
 * @returns how many left
 */
export async function delistMissing(
  db: Db,
  sourceId: string,
  present: ReadonlySet<string>,
  lastCopyAt: Date | null,
  now: Date,
  guard: Guard,
): Promise<number> {
  let left = 0;
  for await (const members of idPages((after) => membersOf(db, sourceId, after, PAGE))) {
    const gone = members.filter((id) => !present.has(id));
    await currentMatcher(db);
    for (let at = 0; at < gone.length; at += BATCH) {
      const batch = gone.slice(at, at + BATCH);
      await withRevision(db, async (trx, revision) => {
        await guard(trx);
        await markLeft(trx, sourceId, batch, lastCopyAt, now);
        await writeRecomputed(trx, batch, await currentMatcher(trx), revision, now);
      });
    }
    left += gone.length;
  }
  return left;
}
