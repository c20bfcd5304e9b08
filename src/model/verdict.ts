import type { Verdict } from './vocabulary.ts';

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
