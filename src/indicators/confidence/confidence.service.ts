import { type AuditActor, writeAudit } from '../../audit/audit.queries.ts';
import type { Db } from '../../db/database.ts';
import { withRevision } from '../../db/revision/revision.ts';
import { afterTrigger, type PinTrigger } from '../../model/confidence.ts';
import { currentMatcher } from '../../whitelist/current-matcher.ts';
import { changedRow, recompute } from '../state/recompute.ts';
import {
  loadIndicators,
  prepareIndicators,
  type StoredState,
  writeIndicators,
} from '../state/state.queries.ts';

interface PinnedConfidence {
  confidence: number;
  /** null: it is not pinned. */
  pinned: number | null;
}

export interface PinChange {
  before: PinnedConfidence;
  after: PinnedConfidence;
  /** False: the pin had this value already, and nothing was written. */
  changed: boolean;
}

/** The pin is not the one on which a change is based. */
export class PinConflictError extends Error {
  override name = 'PinConflictError';
}

/**
 * Pins the confidence of an indicator, changes the pinned value, or unpins it, and audits the change. One
 * transaction under the revision lock does this, so that it is serialized with concurrent enrichments.
 * @param by the actor and the reason of the change
 * @param expected the pinned value on which the change is based, null: not pinned; absent: any
 * @returns undefined if there is no such indicator
 * @throws {PinConflictError} if the pin is not the expected one
 */
export async function changePin(
  db: Db,
  indicatorId: string,
  trigger: PinTrigger,
  { reason, ...by }: AuditActor & { reason: string | null },
  expected?: number | null,
): Promise<PinChange | undefined> {
  const { now } = by;
  await currentMatcher(db);
  return withRevision(db, async (trx, revision) => {
    const indicator = (await loadIndicators(trx, [indicatorId])).get(indicatorId);
    if (!indicator?.stored) return undefined;
    const before = pinnedConfidence(indicator.stored);
    const pinned = afterTrigger(trigger);
    if (before.pinned === pinned) return { before, after: before, changed: false };
    if (expected !== undefined && before.pinned !== expected)
      throw new PinConflictError(
        `Somebody has changed the pin meanwhile: ${before.pinned === null ? 'it is gone' : `it is ${before.pinned}`}.`,
      );
    const state = recompute({ ...indicator, pinned }, await currentMatcher(trx), now);
    const write = changedRow(indicatorId, indicator, state);
    await writeIndicators(trx, prepareIndicators(write ? [write] : []), revision, now);
    const after = pinnedConfidence(state);
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

const pinnedConfidence = ({ confidence, pinned }: StoredState): PinnedConfidence => ({ confidence, pinned });

function actionOf(before: PinnedConfidence, pinned: number | null) {
  if (pinned === null) return 'confidence.unpin';
  return before.pinned === null ? 'confidence.pin' : 'confidence.change';
}
