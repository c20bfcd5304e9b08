/** All that decides the confidence of an indicator. */
export interface ConfidenceGrounds {
  /** What an analyst has set, 0 to 100; null: unlocked. */
  pinned: number | null;
  /** Of the last answer of each provider that did not fail, fresh or not. */
  scores: readonly number[];
  /** What the sources say. */
  stated: number;
}

/** What an analyst does to the lock: pinning a locked one changes its value. */
export type LockTrigger = { kind: 'pin'; confidence: number } | { kind: 'unpin' };

/**
 * The confidence that is shown (contract, "Confidence locking"): locked, the pinned value, whatever providers and
 * sources say; unlocked, the highest provider score, or, with none, what the sources say.
 */
export function confidenceShown({ pinned, scores, stated }: ConfidenceGrounds): number {
  return pinned ?? (scores.length > 0 ? Math.max(...scores) : stated);
}

/** The pinned value after a trigger; null: unlocked. Unpinning what is unlocked leaves it so. */
export function afterTrigger(trigger: LockTrigger): number | null {
  return trigger.kind === 'pin' ? trigger.confidence : null;
}
