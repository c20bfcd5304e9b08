import type fc from 'fast-check';

/** PROPERTY_RUNS=10 looks ten times as long, 0.1 a tenth. */
const FACTOR = Number(process.env.PROPERTY_RUNS ?? 1);

/** Shrinking a failure ends by then, well before the limit of a test, so that the seed is told. */
const MAX_PROPERTY_MS = 300_000 * Math.max(1, FACTOR);

/** Returns how often a property is tried, and the time after which it is left at what was tried. */
export function runs<T>(times: number): fc.Parameters<T> {
  return { numRuns: Math.ceil(times * FACTOR), interruptAfterTimeLimit: MAX_PROPERTY_MS };
}
