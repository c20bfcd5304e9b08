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
  const milliseconds = Math.floor(Number(`0.${fraction ?? '0'}`) * 1000);
  const date = calendarDate([year, month, day, hour, minute, second].map(Number), milliseconds);
  if (date === null) return null;
  const instant = new Date(date.getTime() - zoneMinutes(zone) * 60_000);
  return isWithinCalendar(instant) ? instant : null;
}

/** Parses `5/28/2021`, month first, as spreadsheets in the United States write it; UTC. */
export function parseUsDate(text: string): Date | null {
  const match = US.exec(text.trim());
  if (match === null) return null;
  const [, month, day, year, hour, minute, second] = match;
  return calendarDate([year, month, day, hour, minute, second].map(Number), 0);
}

/** Parses seconds since 1970, as MISP states its timestamps: a number or digits; 0 means not stated. */
export function parseUnixSeconds(value: unknown): Date | null {
  const seconds = typeof value === 'string' && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds <= 0) return null;
  return seconds < 253_402_300_800 ? new Date(seconds * 1000) : null;
}

/**
 * Returns null for a date that does not exist: Date.UTC rolls 30 February over to March. NaN stands for an
 * absent part.
 */
function calendarDate(parts: number[], milliseconds: number): Date | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map((part) => part || 0);
  if (year < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second, milliseconds));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : null;
}

function zoneMinutes(zone: string | undefined): number {
  if (zone === undefined || /^(Z|UTC)$/i.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return zone.startsWith('-') ? -minutes : minutes;
}
