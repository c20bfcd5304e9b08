import { verdictOf } from '../model/verdict.ts';
import type { IndicatorType, Verdict } from '../model/vocabulary.ts';

/** What a provider's answer comes to. */
export interface Assessment {
  verdict: Verdict;
  /** 0 (harmless) to 100 (malicious), whole; null: the answer carries no judgement. */
  score: number | null;
  /** How long the answer may be shown as fresh. */
  lifetimeSeconds: number;
  /** Why there is no usable answer; null when there is one. */
  error: string | null;
}

export interface Provider {
  /** Stable, e.g. `virustotal`; stored with each answer. */
  name: string;
  accepts: readonly IndicatorType[];
  /** Judges the parsed JSON of one answer, whatever its HTTP status was. Never throws. */
  assess(raw: unknown): Assessment;
}

const HOUR = 3_600;
export const DAY = 24 * HOUR;
/** A failure (a spent quota, an outage) is worth asking again soon. */
const FAILURE_LIFETIME = HOUR / 4;
const LONGEST_ERROR = 200;

/** An answer that was understood. `score` null: the provider knows nothing, which is not "clean". */
export function judged(score: number | null, lifetimeSeconds: number): Assessment {
  const whole = score === null ? null : Math.round(Math.min(100, Math.max(0, score)));
  return { verdict: verdictOf(whole), score: whole, lifetimeSeconds, error: null };
}

/** An error of the provider, in its own words (cut, and without control characters). */
export function failed(reason: string): Assessment {
  const error = reason.slice(0, LONGEST_ERROR).replace(/\p{Cc}/gu, ' ');
  return { verdict: 'UNKNOWN', score: null, lifetimeSeconds: FAILURE_LIFETIME, error };
}

/** The answer does not have the documented shape. */
export function unexpected(): Assessment {
  return failed('unexpected answer');
}
