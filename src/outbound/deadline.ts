import { OutboundError } from './outbound-error.ts';

/** Above this value, setTimeout fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `work` with a signal that fires when the time is over or the caller's own signal fires; its reason is
 * an OutboundError, `timeout` or `aborted`. Waits for `work` to end, so that nothing is left behind.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort(new OutboundError('aborted', 'the request was called off'));
  const expire = () => controller.abort(new OutboundError('timeout', 'no complete answer in time'));
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await work(signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  }
}

/**
 * Returns the result of `promise` unless the signal fires first; a result that comes after that is passed to
 * `late`.
 */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  late: (value: T) => void,
): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, aborted]);
  } catch (error) {
    promise.then(late, () => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
