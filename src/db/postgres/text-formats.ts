import pg from 'pg';
import type { Instant } from '../../model/dates.ts';

/** PostgreSQL's text formats (its manual, chapter 8), as Tipline's sessions write them: in UTC. */

const { TIMESTAMPTZ } = pg.types.builtins;
const TEXT_ARRAY = 1009 as typeof TIMESTAMPTZ;
const parseAnyArray = pg.types.getTypeParser(TEXT_ARRAY, 'text') as (text: string) => string[];
const parseAnyTimestamp = pg.types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date;

/** Parses an array of texts, none of them null. */
export function parseTextArray(text: string): string[] {
  if (text === '{}') return [];
  return /["\\]/.test(text) ? parseAnyArray(text) : text.slice(1, -1).split(',');
}

export function writeTextArray(elements: readonly unknown[]): string {
  return `{${elements.map((element) => `"${String(element).replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

const YEAR_100 = '0100';

/** Parses `2026-01-31 12:00:00.5+00`, to the millisecond; other forms are parsed by the driver. */
export function parseTimestamp(text: string): Date {
  if (text.charAt(4) !== '-' || !text.endsWith('+00') || text < YEAR_100) return parseAnyTimestamp(text);
  const number = (from: number, to: number) => Number(text.slice(from, to));
  const milliseconds = text.charAt(19) === '.' ? Number(text.slice(20, -3).slice(0, 3).padEnd(3, '0')) : 0;
  const [hour, minute, second] = [number(11, 13), number(14, 16), number(17, 19)];
  return new Date(
    Date.UTC(number(0, 4), number(5, 7) - 1, number(8, 10), hour, minute, second, milliseconds),
  );
}

/** Parses PostgreSQL's text of a time in UTC: `2026-01-31 12:00:00.5+00`. */
export function parseInstant(text: string): Instant {
  const isWhole = text.length === '2026-01-31 12:00:00+00'.length && text.endsWith('+00');
  return isWhole ? new WholeSecond(text) : parseTimestamp(text);
}

/** A time in whole seconds, as most are; its text needs no Date. */
class WholeSecond implements Instant {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toISOString(): string {
    return `${this.#text.slice(0, 10)}T${this.#text.slice(11, 19)}.000Z`;
  }
  valueOf(): number {
    return parseTimestamp(this.#text).valueOf();
  }
}
