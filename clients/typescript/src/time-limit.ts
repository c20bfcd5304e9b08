import { timedOut } from './error.js';

/** The longest time of a timer; one with a longer time would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Aborts a request after so many seconds. Returns the function that ends the limit. */
export function limitTime(controller: AbortController, seconds: number): () => void {
  if (1000 * seconds > MAX_TIMER_MS) return () => {};
  const timer = setTimeout(() => controller.abort(timedOut(seconds)), 1000 * seconds);
  return () => clearTimeout(timer);
}
