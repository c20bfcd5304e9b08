/**
 * Safe readers for the fields of parsed JSON: each returns a value of its kind or null, or rejects the
 * record.
 */

import type { NormalizeResult } from '../model/normalize-address.ts';
import { MAX_TAGS } from '../model/statement.ts';
import { wellFormed } from '../model/text.ts';
import type { IndicatorType, RelationshipType, Tlp } from '../model/vocabulary.ts';
import { parseDate } from './dates.ts';
import type { IndicatorRecord, RejectedRecord, RelationshipRecord } from './importer.ts';

/** Thrown when one record is rejected; caught where the record began, never visible outside the importers. */
export class RecordRejected extends Error {
  override name = 'RecordRejected';
}

export type Fields = Record<string, unknown>;

/** The maximum length of an external id, in characters. */
export const MAX_ID = 512;
const MAX_NAME = 1024;
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
  const text = wellFormed(value.replaceAll('\u0000', '')).trim();
  return text === '' ? null : text;
}

/** Returns the members that are not null. */
export function omitAbsent<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const present = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Namespace of the ids of attributes that have none. Must never change. */
export const ATTRIBUTE_NAMESPACE = '5d0b6c1e-3f4a-4c57-9a39-6f0a4c6f6f0e';

/** MISP's types of attributes, one of which is `named pipe`, and languages of STIX patterns. */
const ATTRIBUTE_TYPE = /^(?=.{1,64}$)[a-z0-9|_-]+(?: [a-z0-9|_-]+)*$/i;

/** Returns whether a text is a type of attributes, or could be one of a later version of its standard. */
export function isAttributeType(text: string): boolean {
  return ATTRIBUTE_TYPE.test(text);
}

/** Whether a text is a UUID in lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

/** The maximum length of a name, and that of a description, comment or value of an attribute, in characters. */
const MAX_SHORT_TEXT = 1_024;
const MAX_TEXT = 65_536;
const MAX_VALUE = 262_144;
/** The same of a record, of which an indicator has many. */
const MAX_RECORD_TEXT = 8_192;
const MAX_LINKS = 1_000;

/** Returns a name, cut to its maximum length; null: none. */
export function shortTextOf(value: unknown): string | null {
  return textOf(value)?.slice(0, MAX_SHORT_TEXT) ?? null;
}

/** Returns a description or comment, cut to its maximum length; null: none. */
export function longTextOf(value: unknown): string | null {
  return textOf(value)?.slice(0, MAX_TEXT) ?? null;
}

/** Returns the description of a record, cut to its maximum length; null: none. */
export function recordTextOf(value: unknown): string | null {
  return textOf(value)?.slice(0, MAX_RECORD_TEXT) ?? null;
}

/** Returns the value of a record; null: none, or one that is too long. */
export function recordValueOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || text.length > MAX_RECORD_TEXT ? null : text;
}

/** Returns the http(s) addresses among these texts, each once. */
export function httpLinks(texts: readonly unknown[]): string[] {
  const links = texts.map(textOf).filter((text) => text !== null && isHttpLink(text));
  return [...new Set(links as string[])].slice(0, MAX_LINKS);
}

/** @throws {RecordRejected} for a value that is absent or too long */
export function attributeValue(value: unknown): string {
  const text = textOf(value);
  if (text === null) throw new RecordRejected('no value');
  if (text.length > MAX_VALUE) throw new RecordRejected(`value longer than ${MAX_VALUE} characters`);
  return text;
}

/** Whether a text is an http(s) address of a usual length. */
function isHttpLink(text: string): boolean {
  return /^https?:\/\//i.test(text) && text.length <= 8192;
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

/** Returns the first date that a record states under any of these names. */
export function firstDateOf(record: Fields, ...names: string[]): Date | null {
  for (const name of names) {
    const date = dateOf(record, name);
    if (date !== null) return date;
  }
  return null;
}

export function confidenceOf(record: Fields): number | null {
  const value = field(record, 'confidence');
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100) return value;
  throw new RecordRejected('confidence not an integer from 0 to 100');
}

/** Returns whether a value is true, also as the number or the text that sources write instead. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(?:1|true)$/i.test(value));
}

/**
 * Returns whether a value is for detection: a boolean, a number or a word; null or nothing: it is.
 * @throws {RecordRejected} for anything else
 */
export function forDetectionOf(value: unknown): boolean {
  if (value === null || value === '') return true;
  const stated = yesOrNo(value);
  if (stated === undefined) throw new RecordRejected('forDetection not true or false');
  return stated;
}

/** Returns whether a value says no: false, no or 0. */
export const isNegative = (value: unknown): boolean => yesOrNo(value) === false;

const yesOrNo = (value: unknown) => YES_OR_NO.get(String(value).trim().toLowerCase());

const YES_OR_NO: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', '1'].map((word) => [word, true] as const),
  ...['false', 'no', '0'].map((word) => [word, false] as const),
]);

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
function notBefore(first: Date | null, last: Date | null): Date | null {
  return first !== null && last !== null && last < first ? first : last;
}

export function rejectedRecord(of: RejectedRecord['of'], reason: string, where: string): RejectedRecord {
  return { kind: 'rejected', of, reason, where };
}

/** Converts the error of a record whose fields could not be read; rethrows any other error. */
export function rejectedBy(error: unknown, of: RejectedRecord['of'], where: string): RejectedRecord {
  if (error instanceof RecordRejected) return rejectedRecord(of, error.message, where);
  throw error;
}

export function relationshipRecord(
  type: RelationshipType,
  from: string,
  to: string,
  tlp: Tlp | null,
): RelationshipRecord {
  return { kind: 'relationship', type, from, to, tlp };
}

/** The fields that a feed's record may state for its observables; all others are unstated. */
export type StatedFields = Partial<
  Pick<
    IndicatorRecord,
    | 'externalIds'
    | 'statedAt'
    | 'tlp'
    | 'confidence'
    | 'severity'
    | 'tags'
    | 'firstSeen'
    | 'lastSeen'
    | 'expiresAt'
    | 'forDetection'
  >
>;

/** Returns the indicator, or the reason why the value is none. */
export function indicatorRecord(
  observable: NormalizeResult,
  stated: StatedFields,
): IndicatorRecord | { rejected: string } {
  if ('rejected' in observable) return observable;
  const firstSeen = stated.firstSeen ?? null;
  return {
    kind: 'indicator',
    externalIds: stated.externalIds ?? [],
    statedAt: stated.statedAt ?? null,
    tlp: stated.tlp ?? null,
    confidence: stated.confidence ?? null,
    severity: stated.severity ?? null,
    tags: stated.tags ?? [],
    firstSeen,
    lastSeen: notBefore(firstSeen, stated.lastSeen ?? null),
    expiresAt: stated.expiresAt ?? null,
    forDetection: stated.forDetection ?? true,
    ...observable,
  };
}

/**
 * Returns a name from a file for use in reasons, which are counted and displayed: short, and without
 * characters that a terminal would interpret.
 */
export function printable(name: string): string {
  return name.replace(/[^\w.:|@ /-]/g, '?').slice(0, 64);
}

/** For formats with one word for both: only an IPv6 address has two colons or more. */
export function addressType(value: string): 'IPV4' | 'IPV6' {
  return value.indexOf(':') !== value.lastIndexOf(':') ? 'IPV6' : 'IPV4';
}

/** Returns the type of an address or a name, as in `dst_ref.value` or a column called `host`. */
export function hostType(value: string): IndicatorType {
  const type = addressType(value);
  return type === 'IPV6' || /^[\d.[\]]+$/.test(value.trim()) ? type : 'DOMAIN';
}

/** Returns the part before the port of `192.0.2.1:443`, `[2001:db8::1]:443` or `example.org:8080`. */
function withoutPort(value: string): string {
  const match = /^(.*[^:]):\d{1,5}$/.exec(value.trim());
  const host = match?.[1] ?? value.trim();
  // Without brackets the last group of an IPv6 address would be taken for a port.
  if (host.startsWith('[') && host.endsWith(']') && host.includes(':')) return host.slice(1, -1);
  return addressType(host) === 'IPV6' ? value.trim() : host;
}

export type Normalizer = (value: string) => NormalizeResult;

export const REJECTED_HALF = { rejected: 'composite value without its second part' };

/** Normalizes both observables of one of MISP's composite values, such as `invoice.exe|d41d…`. */
export function normalizeHalves(value: string, first: Normalizer, second: Normalizer): NormalizeResult[] {
  // A file name may contain a bar, a hash or an address never does.
  const bar = value.lastIndexOf('|');
  if (bar < 0) return [first(value), REJECTED_HALF];
  return [first(value.slice(0, bar)), second(value.slice(bar + 1))];
}

/** Returns the host of `192.0.2.1|443`, as MISP writes it, or of `192.0.2.1:443`, as people do. */
export function hostOfPair(value: string): string {
  return value.includes('|') ? beforeBar(value) : withoutPort(value);
}

export const beforeBar = (value: string): string => value.split('|', 1)[0] ?? '';
