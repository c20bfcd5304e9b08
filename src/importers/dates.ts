import { isWithinCalendar } from '../model/dates.ts';

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/i;
const US = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;

/**
 * Parses RFC 3339 and looser forms: a date alone, a blank instead of `T`, no zone (then UTC).
 * Returns null for a day that the calendar does not have, and for a year that the database cannot store.
 */
export function parseDate(text: string): Date | null {
  const match = ISO.exec(text.trim());
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const date = calendarDate(year, month, day);
  const instant = date && atTime(date, hour, minute, second, { fraction, zone });
  return instant && isWithinCalendar(instant) ? instant : null;
}

const NO_DATE = /^(?:0000-00-00|0001-01-01)(?:[T ]00:00(?::00(?:\.0{1,9})?)?(?:Z|\+00:00)?)?$/i;

/** Returns whether a date states that there is none: the zero of MySQL, or the least date of .NET. */
export function isNoDate(text: string): boolean {
  return NO_DATE.test(text.trim());
}

/** Parses `5/28/2021`, month first, as spreadsheets in the United States write it; UTC. */
export function parseUsDate(text: string): Date | null {
  const match = US.exec(text.trim());
  if (match === null) return null;
  const [, month, day, year, hour, minute, second] = match;
  const date = calendarDate(year, month, day);
  return date && atTime(date, hour, minute, second);
}

/** Parses seconds since 1970, as MISP states its timestamps: a number or digits; 0 means not stated. */
export function parseUnixSeconds(value: unknown): Date | null {
  const seconds = typeof value === 'string' && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds <= 0) return null;
  return seconds < 253_402_300_800 ? new Date(seconds * 1000) : null;
}

/** Returns the beginning of a day; null: it does not exist. `Date` takes 30 February for 1 or 2 March. */
function calendarDate(year = '', month = '', day = ''): Date | null {
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const exists = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  return exists && Number(year) > 0 ? date : null;
}

/** Sets the time of a day, from the texts of its parts; returns null if no day has such a time. */
function atTime(
  date: Date,
  hour = '0',
  minute = '0',
  second = '0',
  { fraction, zone }: { fraction?: string | undefined; zone?: string | undefined } = {},
): Date | null {
  const ahead = zoneMinutes(zone);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || ahead === null) return null;
  const milliseconds = fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * 1000);
  date.setUTCHours(Number(hour), Number(minute) - ahead, Number(second), milliseconds);
  return date;
}

/** Returns the minutes that a zone is ahead of UTC; null: RFC 3339 has no such offset. */
function zoneMinutes(zone: string | undefined): number | null {
  if (zone === undefined || /^(Z|UTC)$/i.test(zone)) return 0;
  const [hours, rest] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 23 || rest > 59) return null;
  const minutes = hours * 60 + rest;
  return zone.startsWith('-') ? -minutes : minutes;
}
