import { type AuditActor, writeAudit } from '../../audit/audit.queries.ts';
import type { Db } from '../../db/database.ts';
import { commitRevision, lockRevision } from '../../db/revision/revision.ts';
import { afterTrigger, type LockTrigger } from '../../model/confidence.ts';
import { currentMatcher } from '../../whitelist/current-matcher.ts';
import { writeRecomputed } from '../state/recompute.ts';
import { findConfidence, type LockedConfidence, writePin } from './confidence.queries.ts';

export interface LockChange {
  before: LockedConfidence;
  after: LockedConfidence;
  /** false: it was so already; nothing was written. */
  changed: boolean;
}

/**
 * Pins the confidence of an indicator, changes the pinned value, or unpins it; with its audit, in one transaction
 * under the revision's lock, so that an enrichment that lands meanwhile comes wholly before or wholly after it.
 * @param by who says so, and for what reason
 * @returns undefined: there is no such indicator
 */
export async function changeLock(
  db: Db,
  indicatorId: string,
  trigger: LockTrigger,
  { reason, ...by }: AuditActor & { reason: string | null },
): Promise<LockChange | undefined> {
  const { now } = by;
  await currentMatcher(db);
  return db.transaction().execute(async (trx) => {
    const lock = await lockRevision(trx);
    const before = await findConfidence(trx, indicatorId);
    if (!before) return undefined;
    const pinned = afterTrigger(trigger);
    if (before.pinned === pinned) return { before, after: before, changed: false };
    await writePin(trx, indicatorId, pinned, lock.next, now);
    await writeRecomputed(trx, [indicatorId], await currentMatcher(trx), lock, now);
    const after = (await findConfidence(trx, indicatorId)) ?? before;
    await writeAudit(trx, by, {
      action: actionOf(before, pinned),
      object: { kind: 'indicator', id: indicatorId },
      before,
      after,
      reason,
    });
    await commitRevision(trx, lock);
    return { before, after, changed: true };
  });
}

function actionOf(before: LockedConfidence, pinned: number | null) {
  if (pinned === null) return 'confidence.unpin';
  return before.pinned === null ? 'confidence.pin' : 'confidence.change';
}
