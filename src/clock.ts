/** Returns the current time; tests provide their own. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** The clocks of workers differ by less: a time further ahead is from before the clock was set back. */
export const CLOCK_DIFFERENCE_MS = 5 * 60_000;
