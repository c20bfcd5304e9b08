import type { Verdict } from './vocabulary.ts';

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

const MALICIOUS_FROM = 70;
const SUSPICIOUS_FROM = 30;

/** Returns the verdict of a score of 0 to 100; null (no provider judged) is UNKNOWN, never BENIGN. */
export function verdictOf(score: number | null): Verdict {
  if (score === null) return 'UNKNOWN';
  if (score >= MALICIOUS_FROM) return 'MALICIOUS';
  if (score >= SUSPICIOUS_FROM) return 'SUSPICIOUS';
  return 'BENIGN';
}

/** The part of a provider's stored response that the aggregate needs. */
export interface JudgedEnrichment {
  /** 0 to 100; null: the answer carries no judgement. */
  score: number | null;
  /** null: the provider answered. */
  error: string | null;
  expiresAt: Date;
}

export interface EnrichmentSummary {
  verdict: Verdict;
  maxScore: number | null;
  /** Number of providers that answered, with or without a judgement. */
  providerCount: number;
  /** At least one answered, and no answer has expired. */
  fresh: boolean;
}

/** Returns the aggregate verdict on one indicator, from its enrichments that did not fail. */
export function summarize(enrichments: readonly JudgedEnrichment[], now: Date): EnrichmentSummary {
  const answered = enrichments.filter((enrichment) => enrichment.error === null);
  let maxScore: number | null = null;
  for (const { score } of answered) {
    if (score !== null && (maxScore === null || score > maxScore)) maxScore = score;
  }
  return {
    verdict: verdictOf(maxScore),
    maxScore,
    providerCount: answered.length,
    fresh: answered.length > 0 && answered.every(({ expiresAt }) => expiresAt > now),
  };
}
