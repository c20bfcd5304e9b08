import { setTimeout as wait } from 'node:timers/promises';
import { ConstantBackoff, ExponentialBackoff, handleWhen, type IBackoff, retry } from 'cockatiel';
import { OutboundError } from './outbound-error.ts';

export interface RetryOptions {
  /** In all; 1 is no retry. */
  attempts: number;
  /** Whether 502, 503 and 504 are tried again too. */
  busyStatuses?: boolean;
  /** About how long the first pause is; 1 second when left out. Each is about twice the one before, with jitter. */
  firstDelayMs?: number;
  /** 30 seconds when left out. */
  maxDelayMs?: number;
  signal?: AbortSignal;
  /** How a pause is spent; tests give one that does not wait. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

const PASSING = new Set(['unreachable', 'timeout', 'broken_transfer']);
/** What a server answers that is overloaded, restarting, or waits for another one (RFC 9110 §15.6). */
const BUSY = new Set([502, 503, 504]);

/**
 * Calls `attempt` until it answers, `attempts` times at most; the last answer or failure is the result. Only what may
 * pass by itself is tried again: unreachable, timeout, broken_transfer and, where asked for, a busy server.
 * @throws what the last attempt threw; OutboundError `aborted` when the signal ends a pause
 */
export async function retrying<T extends { status: number }>(
  attempt: () => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { attempts, busyStatuses = false, signal, pause = sleep } = options;
  const passing = handleWhen(
    (error) => error instanceof OutboundError && PASSING.has(error.code),
  ).orWhenResult((answer) => busyStatuses && BUSY.has((answer as T).status));
  const delays = new ExponentialBackoff({
    initialDelay: options.firstDelayMs ?? 1_000,
    maxDelay: options.maxDelayMs ?? 30_000,
  });
  let delay: IBackoff<unknown> | undefined;
  // cockatiel's own pause cannot be ended by a signal, so it is none and ours comes before the attempt.
  const policy = retry(passing, { maxAttempts: attempts - 1, backoff: new ConstantBackoff(0) });
  return policy.execute(async (context) => {
    if (context.attempt > 0) {
      delay = delay === undefined ? delays.next() : delay.next(undefined);
      await pause(delay.duration, signal);
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
