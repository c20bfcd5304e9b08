import { type AuditActor, writeAudit } from '../../audit/audit.queries.ts';
import type { Db } from '../../db/database.ts';
import { withRevision } from '../../db/revision/revision.ts';
import { afterTrigger, type PinTrigger } from '../../model/confidence.ts';
import { currentMatcher } from '../../whitelist/current-matcher.ts';
import { writeRecomputed } from '../state/recompute.ts';
import { findConfidence, type PinnedConfidence, writePin } from './confidence.queries.ts';

export interface PinChange {
  before: PinnedConfidence;
  after: PinnedConfidence;
  /** False: the pin had this value already, and nothing was written. */
  changed: boolean;
}

/**
 * Pins the confidence of an indicator, changes the pinned value, or unpins it, and audits the change. One
 * transaction under the revision lock does this, so that it is serialized with concurrent enrichments.
 * @param by the actor and the reason of the change
 * @returns undefined if there is no such indicator
 */
export async function changePin(
  db: Db,
  indicatorId: string,
  trigger: PinTrigger,
  { reason, ...by }: AuditActor & { reason: string | null },
): Promise<PinChange | undefined> {
  const { now } = by;
  await currentMatcher(db);
  return withRevision(db, async (trx, revision) => {
    const before = await findConfidence(trx, indicatorId);
    if (!before) return undefined;
    const pinned = afterTrigger(trigger);
    if (before.pinned === pinned) return { before, after: before, changed: false };
    await writePin(trx, indicatorId, pinned, revision.next, now);
    await writeRecomputed(trx, [indicatorId], await currentMatcher(trx), revision, now);
    const after = (await findConfidence(trx, indicatorId)) ?? before;
    await writeAudit(trx, by, {
      action: actionOf(before, pinned),
      object: { kind: 'indicator', id: indicatorId },
      before,
      after,
      reason,
    });
    revision.advance();
    return { before, after, changed: true };
  });
}

function actionOf(before: PinnedConfidence, pinned: number | null) {
  if (pinned === null) return 'confidence.unpin';
  return before.pinned === null ? 'confidence.pin' : 'confidence.change';
}
