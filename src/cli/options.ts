import { InvalidArgumentError } from 'commander';
import { networkProblem } from '../config/kinds.ts';
import { MAX_LINES } from '../formats/format.ts';
import { SCOPES, type Scope } from '../model/account.ts';
import { parseInstant } from '../model/dates.ts';
import type { Lifetimes } from '../model/statement.ts';
import { systemReason } from '../model/system-error.ts';
import { isUuid } from '../model/uuid.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** About a hundred years. */
const MAX_SECONDS = 36_500 * SECONDS.d;

/** Returns the seconds of a duration such as `90d`, `12h`, `30m` or `45s`. */
export function duration(text: string): number {
  const [, amount, unit] = text.match(/^(\d{1,6})([smhd])$/) ?? [];
  const seconds = Number(amount) * SECONDS[unit as keyof typeof SECONDS];
  if (!(seconds > 0) || seconds > MAX_SECONDS)
    throw new InvalidArgumentError(
      'Allowed: a whole number from 1 and s, m, h or d, such as 90d; 36500d at most.',
    );
  return seconds;
}

const MAX_LABEL = 200;

export function oneOf<const T extends readonly string[]>(words: T) {
  return (text: string): T[number] => {
    const word = text.toUpperCase().replace(/[+-]/g, '_');
    if (words.includes(word)) return word;
    throw new InvalidArgumentError(`Allowed: ${words.join(', ')}.`);
  };
}

/** Returns a parser for words separated by commas, of an option that may be repeated, which removes duplicates. */
export function listOf<const T extends readonly string[]>(words: T) {
  const one = oneOf(words);
  return (text: string, before: readonly T[number][] = []): T[number][] => [
    ...new Set([...before, ...text.split(',').map((word) => one(word.trim()))]),
  ];
}

export function uuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('Allowed: an id (a UUID).');
  return text.toLowerCase();
}

/** Parses a time in the formats that the API accepts. */
export function instant(text: string): string {
  const parsed = parseInstant(text);
  if (parsed === null)
    throw new InvalidArgumentError('Allowed: a time such as 2026-01-31T12:00:00Z, or a date.');
  return parsed;
}

export function percent(text: string): number {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : 101;
  if (value > 100) throw new InvalidArgumentError('Allowed: a whole number from 0 to 100.');
  return value;
}

/** Parses a share of 1 to 100 percent. */
export function share(text: string): number {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > 100) throw new InvalidArgumentError('Allowed: a whole number from 1 to 100.');
  return value;
}

/** Parses the minimum number of entries of a feed. */
export function entryCount(text: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1) throw new InvalidArgumentError('Allowed: a whole number from 1.');
  return value;
}

/** Returns a parser of numbers from 1 that also accepts `none`, as 0. */
export function orNone(parse: (text: string) => number): (text: string) => number {
  return (text) => {
    if (text === 'none') return 0;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new InvalidArgumentError(error.message.replace(/\.$/, ', or none.'));
    }
  };
}

/** Parses the maximum number of lines of a list. */
export function lines(text: string): number {
  const value = /^\d{1,8}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > MAX_LINES)
    throw new InvalidArgumentError(`Allowed: a whole number from 1 to ${MAX_LINES}.`);
  return value;
}

export function scopes(text: string, previous: Scope[] = []): Scope[] {
  if (!SCOPES.includes(text as Scope)) throw new InvalidArgumentError(`Allowed: ${SCOPES.join(', ')}.`);
  return [...previous, text as Scope];
}

/** Collects the values of a repeatable option. */
export function repeated(text: string, previous: string[] = []): string[] {
  return [...previous, text];
}

export function networks(text: string, previous: string[] = []): string[] {
  const problem = networkProblem(text);
  if (problem !== null)
    throw new InvalidArgumentError(`${problem}. Allowed: a network such as 10.0.0.0/8, or an address.`);
  return [...previous, text];
}

export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text.trim();
}

/** Parses a name. Terminals show it on one line, so control characters are rejected. */
export function label(text: string): string {
  const name = nonEmpty(text);
  if (name.length > MAX_LABEL || /\p{Cc}/u.test(name))
    throw new InvalidArgumentError(
      `Allowed: up to ${MAX_LABEL} characters, none of them a control character.`,
    );
  return name;
}

/** Returns a path without trimming it, because blanks may be part of a path. */
export function outputPath(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** Parses a duration or `never`, which is 0: commander replaces null with an empty string. */
export function interval(text: string): number {
  return text === 'never' ? 0 : duration(text);
}

/** Parses `IPV4=30d`, `ALL=90d` or `URL=never`; for a type that occurs twice the last value applies. */
export function lifetimes(text: string, previous: Lifetimes = {}): Lifetimes {
  const [, word, time] = text.match(/^([A-Za-z0-9_]+)=(\w+)$/) ?? [];
  if (word === undefined || time === undefined)
    throw new InvalidArgumentError('Allowed: a type or ALL, = and a duration or never, such as IPV4=30d.');
  const types =
    word.toUpperCase() === 'ALL'
      ? INDICATOR_TYPES
      : [oneOf(['ALL', ...INDICATOR_TYPES] as const)(word) as IndicatorType];
  const seconds = interval(time) || undefined;
  return { ...previous, ...Object.fromEntries(types.map((type) => [type, seconds])) };
}

/** Parses a number of requests; `default` is 0. */
export function quota(text: string): number {
  if (text === 'default') return 0;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('Allowed: a whole number from 1 to 999999999, or default.');
  return Number(text);
}

export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('Allowed: a whole number from 1 to 999999999.');
  return Number(text);
}

/** Thrown for an invalid command that the option parser does not detect. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Returns a message for the error of a file operation, with the path; undefined for any other error. */
export function fileProblem(error: unknown, path?: string): string | undefined {
  const { code, syscall, path: named = '' } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || syscall === undefined || (path ?? named) === '') return undefined;
  return `${path ?? named} cannot be used: ${systemReason(error) ?? code}.`;
}
