/**
 * A point in time with only those methods that writers need: a Date for each of millions of times is too
 * expensive.
 */
export type Instant = Pick<Date, 'toISOString' | 'valueOf'>;
