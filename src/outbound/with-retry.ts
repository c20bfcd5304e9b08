import { setTimeout as wait } from 'node:timers/promises';
import { ConstantBackoff, ExponentialBackoff, handleWhen, type IBackoff, retry } from 'cockatiel';
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
 * server. If a server asks for more than the longest delay, its response is the result.
 * @throws the error of the last attempt; OutboundError `aborted` when the signal ends a delay
 */
export async function withRetry<T extends Answer>(
  attempt: () => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { attempts, busyStatuses = false, signal, pause = sleep, now = () => new Date() } = options;
  const maxDelay = options.maxDelayMs ?? 30_000;
  /** Delay that the last response asks for, in milliseconds. */
  let wanted = 0;
  const passing = handleWhen(
    (error) => error instanceof OutboundError && PASSING.has(error.code),
  ).orWhenResult((answer) => {
    const { status, headers } = answer as T;
    if (!busyStatuses || !(BUSY.has(status) || status === 429)) return false;
    const at = retryAfter(headers, undefined, now());
    wanted = at === null ? 0 : at.getTime() - now().getTime();
    return wanted <= maxDelay && (at !== null || status !== 429);
  });
  const delays = new ExponentialBackoff({ initialDelay: options.firstDelayMs ?? 1_000, maxDelay });
  let delay: IBackoff<unknown> | undefined;
  // A signal cannot end cockatiel's own delay, so that is zero and ours precedes the attempt.
  const policy = retry(passing, { maxAttempts: attempts - 1, backoff: new ConstantBackoff(0) });
  return policy.execute(async (context) => {
    if (context.attempt > 0) {
      delay = delay === undefined ? delays.next() : delay.next(undefined);
      await pause(Math.max(delay.duration, wanted), signal);
      wanted = 0;
    }
    return attempt();
  }, signal);
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
