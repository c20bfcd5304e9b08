import { verdictOf } from '../../model/confidence.ts';
import type { IndicatorType, Verdict } from '../../model/vocabulary.ts';
import type { OutboundAnswer } from '../../outbound/outbound.ts';

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

const UNEXPECTED = 'unexpected answer';

/** Returns the assessment of a response without the documented form. */
export function unexpected(): Assessment {
  return failed(UNEXPECTED);
}

/** The provider answered as documented, even if only that it does not know the value. */
export interface Answered {
  kind: 'answered';
  /** The JSON of the response. */
  raw: unknown;
  /** The same as received: JavaScript rounds large integers. */
  text: string;
  assessment: Assessment;
  fetchedAt: Date;
}

/** There is no usable response. That says nothing about the indicator: it is never "clean". */
export interface Failed {
  kind: 'failed';
  /** A fixed text, or the provider's own (truncated, without control characters). Never holds the key. */
  error: string;
  /**
   * null without an HTTP response; else `{status}`, with `body` if that was JSON. Never the bare response, so
   * that no mapper that reads it again finds a judgement in it.
   */
  raw: { status: number; body?: unknown } | null;
  /** UNKNOWN, without a score, with this error and a short lifetime. */
  assessment: Assessment;
  fetchedAt: Date;
}

export function failure(reason: string, raw: Failed['raw'], fetchedAt: Date): Failed {
  const assessment = failed(reason);
  return { kind: 'failed', error: assessment.error, raw, assessment, fetchedAt };
}

/**
 * Assesses a response. 2xx is expected, and 404, which some providers send for values that they do not know;
 * both must have the documented form.
 */
export function outcomeOf(
  provider: QueryableProvider,
  { status, body }: OutboundAnswer,
  key: string,
  fetchedAt: Date,
): Answered | Failed {
  const read = readAnswer(body, key);
  const expected = (status >= 200 && status < 300) || status === 404;
  if ('error' in read) return failure(expected ? read.error : `HTTP ${status}`, { status }, fetchedAt);
  const assessment = provider.assess(read.json);
  if (expected && assessment.error === null) {
    return { kind: 'answered', raw: read.json, text: read.text, assessment, fetchedAt };
  }
  return failure(wordsFor(status, assessment.error, key), { status, body: read.json }, fetchedAt);
}

/**
 * Returns the provider's own message where it has one, else the status, where that says more than the
 * response.
 */
function wordsFor(status: number, error: string | null, key: string): string {
  const isGeneric = error === null || error === UNEXPECTED;
  if (isGeneric && (status < 200 || status > 299)) return `HTTP ${status}`;
  return redact(error ?? UNEXPECTED, key);
}

/** Readers for untrusted JSON: each returns a value of its type or null, and none throws. */

export function objectOf(value: unknown): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return value as Record<string, unknown>;
}

/** Returns the object's own member `key`; inherited members, `__proto__` included, are ignored. */
export function memberOf(value: unknown, key: string): unknown {
  const object = objectOf(value);
  return object !== null && Object.hasOwn(object, key) ? object[key] : undefined;
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns a finite number that is not negative, such as a count or a score; otherwise null. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

export function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}

/**
 * The deepest documented response has about ten levels. Much deeper ones would overflow the stack of their
 * readers.
 */
const DEEPEST = 100;

const TOO_DEEP = Symbol('too deep');

/**
 * Parses the JSON of a response and redacts a secret wherever it occurs: providers echo what they were sent.
 * @returns the JSON and its text, which is that of the response if there is nothing to redact; or the reason in fixed words when the
 *   response is not usable. Never throws.
 */
function readAnswer(body: Uint8Array, secret: string): { json: unknown; text: string } | { error: string } {
  const text = new TextDecoder().decode(body);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { error: 'the answer is not JSON' };
  }
  const copy = withoutSecret(json, secret, 0);
  if (copy === TOO_DEEP) return { error: 'the answer is nested too deeply' };
  const written = JSON.stringify(copy);
  // The text may also hold the secret in a member that is repeated, of which parsing keeps the last one.
  const isRedacted = redact(text, secret) !== text || written !== JSON.stringify(json);
  return { json: copy, text: isRedacted ? written : text };
}

function redact(text: string, secret: string): string {
  return text.replaceAll(secret, '[key]').replaceAll(encodeURIComponent(secret), '[key]');
}

function withoutSecret(value: unknown, secret: string, depth: number): unknown {
  if (typeof value === 'string') return redact(value, secret);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return TOO_DEEP;
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const copy = withoutSecret(member, secret, depth + 1);
    if (copy === TOO_DEEP) return TOO_DEEP;
    entries.push([redact(name, secret), copy]);
  }
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}
