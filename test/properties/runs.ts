import type fc from 'fast-check';

/** PROPERTY_RUNS=10 looks ten times as long. */
const FACTOR = Number(process.env.PROPERTY_RUNS ?? 1);

/** Time for one property; shrinking a failure may take as long again. */
export const TIMEOUT_MS = 60_000 * Math.max(1, FACTOR);

/** A failure is told with its seed, also when there is no time left to shrink it further. */
export function runs<T>(times: number): fc.Parameters<T> {
  return { numRuns: times * FACTOR, interruptAfterTimeLimit: TIMEOUT_MS / 2 };
}
