import { verdictOf } from '../../model/verdict.ts';
import type { IndicatorType, Verdict } from '../../model/vocabulary.ts';

/** The assessment of a provider's response. */
export interface Assessment {
  verdict: Verdict;
  /** An integer from 0 (harmless) to 100 (malicious); null: the response carries no judgement. */
  score: number | null;
  /** How long the response may be shown as fresh. */
  lifetimeSeconds: number;
  /** Why there is no usable response; null when there is one. */
  error: string | null;
}

export interface Provider {
  /** Stable, e.g. `virustotal`; stored with each response. */
  name: string;
  accepts: readonly IndicatorType[];
  /** Assesses the parsed JSON of one response, whatever its HTTP status was. Never throws. */
  assess(raw: unknown): Assessment;
}

/** Request limits of one key; null: no limit is documented. */
export interface Quota {
  perMinute: number | null;
  perDay: number | null;
}

interface ProviderRequest {
  /** Relative to the base URL, with a leading slash; its parts and query are escaped. */
  path: string;
  method: 'GET' | 'POST';
  /** Headers that must never reach another origin. */
  credentials: Record<string, string>;
  /** `application/x-www-form-urlencoded`. */
  body?: string;
}

/** A provider with an API, which `provider-client.ts` queries. */
export interface QueryableProvider extends Provider {
  /** Without a trailing slash. */
  defaultBaseUrl: string;
  /** Also for APIs that work without a key: the anonymous quota is too small, and shared by address. */
  requiresKey: true;
  /** Limits of the free tier, as documented. The operator may set others. */
  quota: Quota;
  /** Requests allowed within a second on every plan, where the provider documents it. */
  perSecond?: number;
  /** The header that states in Unix seconds when a used-up limit is reset, where one is documented. */
  resetHeader?: string;
  /** @param normalized of one of the types in `accepts` */
  request(type: IndicatorType, normalized: string, key: string): ProviderRequest;
}

const HOUR = 3_600;
export const DAY = 24 * HOUR;
/** A failure (a used-up quota, an outage) is worth retrying soon. */
const FAILURE_LIFETIME = HOUR / 4;
const LONGEST_ERROR = 200;

/**
 * Returns the assessment of a valid response. `score` null: the provider knows nothing, which is not "clean".
 */
export function judged(score: number | null, lifetimeSeconds: number): Assessment {
  const whole = score === null ? null : Math.round(Math.min(100, Math.max(0, score)));
  return { verdict: verdictOf(whole), score: whole, lifetimeSeconds, error: null };
}

/**
 * Returns the assessment of an error, in the provider's words (truncated, and without control characters).
 */
export function failed(reason: string): Assessment & { error: string } {
  const error = reason.slice(0, LONGEST_ERROR).replace(/\p{Cc}/gu, ' ');
  return { verdict: 'UNKNOWN', score: null, lifetimeSeconds: FAILURE_LIFETIME, error };
}

export const UNEXPECTED = 'unexpected answer';

/** Returns the assessment of a response without the documented form. */
export function unexpected(): Assessment {
  return failed(UNEXPECTED);
}
