import { setTimeout as wait } from 'node:timers/promises';
import { ExponentialBackoff, type IBackoff } from 'cockatiel';
import { OutboundError } from './outbound-error.ts';

export interface RetryOptions {
  /** Total number of attempts; 1 means no retry. */
  attempts: number;
  /** Whether to retry 502, 503 and 504 too, and 429 if it states a delay. */
  busyStatuses?: boolean;
  /** Approximate first delay; 1 second by default. Each delay is about twice the one before, with jitter. */
  firstDelayMs?: number;
  /** Longest delay; 30 seconds by default. */
  maxDelayMs?: number;
  /** Returns the time that is left for delays and attempts, in milliseconds; unlimited by default. */
  timeLeft?: () => number;
  signal?: AbortSignal;
  /** Waits for a delay; tests pass one that does not wait. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
  now?: () => Date;
}

interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
}

const PASSING = new Set(['unreachable', 'timeout', 'broken_transfer']);
/** Statuses of a server that is overloaded, restarting or waiting for another one (RFC 9110 §15.6). */
const BUSY = new Set([502, 503, 504]);

/**
 * Calls `attempt` until it succeeds, `attempts` times at most; the last response or failure is the result.
 * Only transient failures are retried: unreachable, timeout, broken_transfer and, if requested, a busy
 * server. If a server asks for more than the longest delay, its response is the result. Without time for the
 * next delay there is no further attempt, and a response counts more than the timeout of an attempt after it,
 * which had only the time that was left.
 * @throws the error of the last attempt; OutboundError `aborted` when the signal ends a delay
 */
export async function withRetry<T extends Answer>(
  attempt: () => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { attempts, busyStatuses = false, signal, pause = sleep, now = () => new Date() } = options;
  const { maxDelayMs = 30_000, timeLeft = () => Number.POSITIVE_INFINITY } = options;
  const delays = new ExponentialBackoff({
    initialDelay: options.firstDelayMs ?? 1_000,
    maxDelay: maxDelayMs,
  });
  let delay: IBackoff<unknown> | undefined;
  let busy: T | undefined;
  for (let left = attempts - 1; ; left--) {
    let failure: OutboundError | undefined;
    let wanted = 0;
    try {
      const answer = await attempt();
      const asked = busyStatuses ? delayOf(answer, now()) : null;
      if (asked === null || asked > maxDelayMs) return answer;
      busy = answer;
      wanted = asked;
    } catch (error) {
      if (!(error instanceof OutboundError) || !PASSING.has(error.code)) throw error;
      failure = error;
    }
    delay = delay === undefined ? delays.next() : delay.next(undefined);
    const pauseMs = Math.max(delay.duration, wanted);
    const isLate = pauseMs >= timeLeft();
    if (left <= 0 || isLate) {
      const isCutShort = isLate && failure?.code === 'timeout';
      if (busy !== undefined && (failure === undefined || isCutShort)) return busy;
      throw failure;
    }
    await pause(pauseMs, signal);
  }
}

/** Returns the delay that a busy server asks for, in milliseconds; null: the response is not to be retried. */
function delayOf({ status, headers }: Answer, now: Date): number | null {
  if (!BUSY.has(status) && status !== 429) return null;
  const at = retryAfter(headers, undefined, now);
  if (at !== null) return at.getTime() - now.getTime();
  return status === 429 ? null : 0;
}

async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await wait(milliseconds, undefined, { signal });
  } catch {
    throw new OutboundError('aborted', 'the request was called off');
  }
}

const SOONEST_MS = 1_000;
/**
 * No documented quota takes longer to reset; a mistaken or malicious header must not stop requests
 * permanently.
 */
const LATEST_MS = 24 * 3_600_000;

/**
 * Returns the time from which a server that answered 429 or 503 accepts requests again: from `Retry-After` in
 * seconds or as a date (RFC 9110 §10.2.3), else from the server's own header in Unix seconds. Between a
 * second and a day from now.
 * @param headers by their names in lower case
 * @param resetHeader in lower case
 * @returns null when no header states a time
 */
export function retryAfter(
  headers: Readonly<Record<string, string>>,
  resetHeader: string | undefined,
  now: Date,
): Date | null {
  const at = now.getTime();
  const wanted =
    momentOf(headers['retry-after'], at) ??
    unixMoment(resetHeader === undefined ? undefined : headers[resetHeader]);
  if (wanted === null) return null;
  return new Date(Math.min(at + LATEST_MS, Math.max(at + SOONEST_MS, wanted)));
}

function momentOf(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,15}$/.test(text)) return now + Number(text) * 1_000;
  // Date.parse accepts nearly any text as a date.
  if (!/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return null;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? null : moment;
}

function unixMoment(header: string | undefined): number | null {
  const text = header?.trim() ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) * 1_000 : null;
}
