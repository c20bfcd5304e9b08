/** The inputs of an indicator's confidence. */
export interface ConfidenceGrounds {
  /** The value that an analyst has set, 0 to 100; null: unlocked. */
  pinned: number | null;
  /** The score of each provider's latest successful response, fresh or not. */
  scores: readonly number[];
  /** The confidence that the sources state. */
  stated: number;
}

/** An analyst's action on the lock: pinning a locked confidence changes its value. */
export type PinTrigger = { kind: 'pin'; confidence: number } | { kind: 'unpin' };

/**
 * Returns the effective confidence (contract, "Confidence locking"): locked, the pinned value, whatever
 * providers and sources state; unlocked, the highest provider score or, without any, the confidence that the
 * sources state.
 */
export function effectiveConfidence({ pinned, scores, stated }: ConfidenceGrounds): number {
  return pinned ?? (scores.length > 0 ? Math.max(...scores) : stated);
}

/**
 * Returns the pinned value after a trigger; null: unlocked. Unpinning has no effect on an unlocked
 * confidence.
 */
export function afterTrigger(trigger: PinTrigger): number | null {
  return trigger.kind === 'pin' ? trigger.confidence : null;
}
