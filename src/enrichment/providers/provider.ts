import { verdictOf } from '../../model/verdict.ts';
import type { IndicatorType, Verdict } from '../../model/vocabulary.ts';

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

/** How often one key may ask; null: no limit is documented. */
export interface Quota {
  perMinute: number | null;
  perDay: number | null;
}

interface ProviderRequest {
  /** Below the base URL, with a leading slash; its parts and query are escaped. */
  path: string;
  method: 'GET' | 'POST';
  /** Headers that must never reach another origin. */
  credentials: Record<string, string>;
  /** `application/x-www-form-urlencoded`. */
  body?: string;
}

/** A provider with an API of its own, which `asker.ts` asks. */
export interface AskableProvider extends Provider {
  /** Without a trailing slash. */
  defaultBaseUrl: string;
  /** Also of those that answer without one: strangers get too little, and share it by their address. */
  keyNeeded: true;
  /** Of the free tier, as documented. The operator may set others. */
  quota: Quota;
  /** Requests that may follow each other within a second, where the provider documents it, whatever the plan. */
  perSecond?: number;
  /** The header that says in Unix seconds when a spent limit ends, where one is documented. */
  resetHeader?: string;
  /** @param normalized of one of the types in `accepts` */
  request(type: IndicatorType, normalized: string, key: string): ProviderRequest;
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
export function failed(reason: string): Assessment & { error: string } {
  const error = reason.slice(0, LONGEST_ERROR).replace(/\p{Cc}/gu, ' ');
  return { verdict: 'UNKNOWN', score: null, lifetimeSeconds: FAILURE_LIFETIME, error };
}

export const UNEXPECTED = 'unexpected answer';

/** The answer does not have the documented shape. */
export function unexpected(): Assessment {
  return failed(UNEXPECTED);
}
