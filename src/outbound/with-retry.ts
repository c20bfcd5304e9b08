import { setTimeout as wait } from 'node:timers/promises';
import { ConstantBackoff, ExponentialBackoff, handleWhen, type IBackoff, retry } from 'cockatiel';
import { OutboundError } from './outbound-error.ts';
import { retryAfter } from './retry-after.ts';

export interface RetryOptions {
  /** In all; 1 is no retry. */
  attempts: number;
  /** Whether 502, 503 and 504 are tried again too, and 429 when it says after how long. */
  busyStatuses?: boolean;
  /** About how long the first pause is; 1 second when left out. Each is about twice the one before, with jitter. */
  firstDelayMs?: number;
  /** 30 seconds when left out. */
  maxDelayMs?: number;
  signal?: AbortSignal;
  /** How a pause is spent; tests give one that does not wait. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
  now?: () => Date;
}

interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
}

const PASSING = new Set(['unreachable', 'timeout', 'broken_transfer']);
/** What a server answers that is overloaded, restarting, or waits for another one (RFC 9110 §15.6). */
const BUSY = new Set([502, 503, 504]);

/**
 * Calls `attempt` until it answers, `attempts` times at most; the last answer or failure is the result. Only what may
 * pass by itself is tried again: unreachable, timeout, broken_transfer and, where asked for, a busy server. A server that
 * wants to be left alone for longer than the longest pause is left alone: its answer is the result.
 * @throws what the last attempt threw; OutboundError `aborted` when the signal ends a pause
 */
export async function retrying<T extends Answer>(
  attempt: () => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { attempts, busyStatuses = false, signal, pause = sleep, now = () => new Date() } = options;
  const maxDelay = options.maxDelayMs ?? 30_000;
  /** How long the last answer asks to wait, in milliseconds. */
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
  // cockatiel's own pause cannot be ended by a signal, so it is none and ours comes before the attempt.
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
