/**
 * Safe readers for the fields of parsed JSON: each returns a value of its kind or null, or rejects the
 * record.
 */

import { parseDate } from './dates.ts';

/** Thrown when one record is rejected; caught where the record began, never visible outside the importers. */
export class RecordRejected extends Error {
  override name = 'RecordRejected';
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

export type Fields = Record<string, unknown>;

/** The maximum length of an external id, in characters. */
export const MAX_ID = 512;
const MAX_NAME = 1024;
const MAX_TAGS = 1_000;
const MAX_TAG = 256;

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a list's elements; none for absent or null, null for anything else. */
export function listOf(value: unknown): unknown[] | null {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : null;
}

/**
 * Returns trimmed text without NUL and halves of surrogate pairs (PostgreSQL stores neither); null for an
 * empty text or another type.
 */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replaceAll('\u0000', '').replace(LONE_SURROGATE, '\ufffd').trim();
  return text === '' ? null : text;
}

/** Reads own members only: `constructor` and the like are no fields. */
export function field(record: Fields, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

export function requiredName(record: Fields, name: string): string {
  const text = textOf(field(record, name));
  if (text === null) throw new RecordRejected(`no ${name}`);
  if (text.length > MAX_NAME) throw new RecordRejected(`${name} longer than ${MAX_NAME} characters`);
  return text;
}

/** Returns an external id unchanged; null if there is none. */
export function idOf(record: Fields, name: string): string | null {
  const id = textOf(field(record, name));
  if (id !== null && id.length > MAX_ID) throw new RecordRejected(`${name} longer than ${MAX_ID} characters`);
  return id;
}

/** Returns a date; null if it is absent or null. Anything else rejects the record. */
export function dateOf(record: Fields, name: string): Date | null {
  const value = field(record, name);
  if (value === undefined || value === null || value === '') return null;
  const date = typeof value === 'string' ? parseDate(value) : null;
  if (date === null) throw new RecordRejected(`date not readable: ${name}`);
  return date;
}

export function confidenceOf(record: Fields): number | null {
  const value = field(record, 'confidence');
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100) return value;
  throw new RecordRejected('confidence not an integer from 0 to 100');
}

export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || value === '1' || value === 'true';
}

/**
 * Returns the texts trimmed and without duplicates; items longer than 256 characters or of another type are
 * left out.
 * @throws {RecordRejected} for more than 1,000: names and tags of one object are merged as a whole
 */
export function tagsOf(...lists: unknown[]): string[] {
  const tags = new Set<string>();
  for (const list of lists) {
    for (const item of listOf(list) ?? []) {
      const tag = textOf(item);
      if (tag !== null && tag.length <= MAX_TAG) tags.add(tag);
      if (tags.size > MAX_TAGS) throw new RecordRejected(`more than ${MAX_TAGS} tags or names`);
    }
  }
  return [...tags];
}

/** Returns the names other than the main one, each once. */
export function otherNames(name: string, ...lists: unknown[]): string[] {
  return tagsOf(...lists).filter((alias) => alias !== name);
}

/** Returns an ISO 3166-1 alpha-2 code in upper case; null for anything else. */
export function countryOf(value: unknown): string | null {
  const code = textOf(Array.isArray(value) && value.length === 1 ? value[0] : value);
  return code !== null && /^[A-Za-z]{2}$/.test(code) ? code.toUpperCase() : null;
}

/**
 * Returns `last`, but not before `first`: a sighting cannot end before it began (dates without a time of day
 * do that).
 */
export function notBefore(first: Date | null, last: Date | null): Date | null {
  return first !== null && last !== null && last < first ? first : last;
}
