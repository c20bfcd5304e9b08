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

/** Returns the earliest of these; null: there is none. */
export function earliest(dates: readonly (Date | null)[]): Date | null {
  return dates.reduce(
    (first, date) => (date === null || (first !== null && first <= date) ? first : date),
    null,
  );
}
