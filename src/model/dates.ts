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

/** An RFC 3339 date-time, or a full-date (midnight UTC). */
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})([Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** Returns an instant as ISO 8601 in UTC; null: the text is no instant, or outside the database's calendar. */
export function parseInstant(text: string): string | null {
  const day = text.match(DATE_TIME)?.[1];
  const value = new Date(day === text ? `${day}T00:00:00Z` : text);
  // The Date parser rolls 30 February over into March: the day must equal the one in the text.
  const real =
    day !== undefined &&
    !Number.isNaN(new Date(`${day}T00:00:00Z`).getTime()) &&
    new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return real && isWithinCalendar(value) ? value.toISOString() : null;
}
