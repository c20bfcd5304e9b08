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
  /** False: the pin had this value already, and nothing was written. */
  changed: boolean;
}

/**
 * Pins the confidence of an indicator, changes the pinned value, or unpins it, and audits the change. One
 * transaction under the revision lock does this, so that it is serialized with concurrent enrichments.
 * @param by the actor and the reason of the change
 * @returns undefined if there is no such indicator
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
