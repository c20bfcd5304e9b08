/**
 * Returns whether the year is 1 to 9999: PostgreSQL has no year 0, and does not read the form in which ISO
 * 8601 writes years after 9999. A zone can lead to either.
 */
export function isWithinCalendar(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/**
 * A point in time with only those methods that writers need: a Date for each of millions of times is too
 * expensive.
 */
export type Instant = Pick<Date, 'toISOString' | 'valueOf'>;
