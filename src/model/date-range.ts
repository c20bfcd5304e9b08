/** PostgreSQL has no year 0, and past 9999 ISO 8601 writes years as it does not read them. A zone can lead to either. */
export function isWithinCalendar(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}
