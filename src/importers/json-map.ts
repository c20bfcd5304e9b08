import { normalizeDetected } from '../model/detect-type.ts';
import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-address.ts';
import { normalizeEach } from '../model/normalize-range.ts';
import type { Severity } from '../model/vocabulary.ts';
import { normalizeAs, normalizeNamed, SEVERITY_BY_WORD } from './csv-types.ts';
import { isNoDate, parseDate, parseUnixSeconds, parseUsDate } from './dates.ts';
import type { RecordResult } from './json-feed.ts';
import type { JsonMap } from './maps.ts';
import { splitMarkings, tlpOfWord } from './markings.ts';
import {
  field,
  forDetectionOf,
  indicatorRecord,
  isObject,
  RecordRejected,
  type StatedFields,
  tagsOf,
  textOf,
} from './record-fields.ts';

/**
 * Returns the indicators of one record, by an operator's map.
 * @throws {RecordRejected} if the record as a whole cannot be used
 */
export function readMapped(record: MappedRecord, map: JsonMap): RecordResult[] {
  const observables = map.values.flatMap((value) =>
    typedValuesAt(record, value)
      .filter(({ found }) => found !== null && found !== '')
      .flatMap(({ found, typeWord }) => observablesOf(found, value.type, typeWord)),
  );
  if (observables.length === 0) throw new RecordRejected('no value');
  const stated = statedOf(record, map);
  return observables.map((observable) => indicatorRecord(observable, stated));
}

/** Returns each value at a path with its type: in a list that both paths go through, the one in the same element. */
function typedValuesAt(
  record: MappedRecord,
  { path, typePath }: JsonMap['values'][number],
): { found: unknown; typeWord: string | null }[] {
  if (typePath === undefined || path === '$key' || typePath === '$key') {
    const typeWord = typePath === undefined ? null : textAt(record, typePath);
    return valuesAt(record, path).map((found) => ({ found, typeWord }));
  }
  const [names, typeNames] = [namesOf(path), namesOf(typePath)];
  const differing = names.findIndex((name, at) => name !== typeNames[at]);
  const shared = differing < 0 ? names.length : differing;
  return membersOf(elementsOf(record.value), names.slice(0, shared)).flatMap((element) => {
    const typeWord = firstText(membersOf([element], typeNames.slice(shared)));
    return membersOf([element], names.slice(shared)).map((found) => ({ found, typeWord }));
  });
}

function observablesOf(
  value: unknown,
  type: JsonMap['values'][number]['type'],
  typeWord: string | null,
): NormalizeResult[] {
  // JSON often states an AS number as a number.
  const text = typeof value === 'number' && type === 'ASN' ? String(value) : value;
  if (typeof text !== 'string') return [{ rejected: 'value is not text' }];
  return normalizeEach(text, (one) => observableOf(one, type, typeWord));
}

function observableOf(
  text: string,
  type: JsonMap['values'][number]['type'],
  typeWord: string | null,
): NormalizeResult {
  if (type === 'address') return normalizeAs('address', text);
  if (type !== undefined) return normalize(type, text);
  return typeWord === null ? normalizeDetected(text) : normalizeNamed(typeWord, text);
}

function statedOf(record: MappedRecord, map: JsonMap): StatedFields {
  const tlp = map.tlp === undefined ? null : textAt(record, map.tlp);
  const tags = (map.tags ?? [])
    .flatMap((path) => valuesAt(record, path))
    .flatMap((tag) => (typeof tag === 'string' ? tag.split(',') : []));
  return {
    confidence: map.confidence === undefined ? null : confidenceOf(firstAt(record, map.confidence)),
    severity: map.severity === undefined ? null : severityOf(textAt(record, map.severity)),
    firstSeen: dateAt(record, map.firstSeen, 'firstSeen'),
    lastSeen: dateAt(record, map.lastSeen, 'lastSeen'),
    expiresAt: dateAt(record, map.expiresAt, 'expiresAt'),
    forDetection: map.forDetection === undefined ? true : forDetectionOf(firstAt(record, map.forDetection)),
    ...splitMarkings(tlp === null ? null : tlpOfWord(tlp), tagsOf(tags)),
  };
}

function firstAt(record: MappedRecord, path: string): unknown {
  return valuesAt(record, path)[0] ?? null;
}

function dateAt(record: MappedRecord, path: string | undefined, name: string): Date | null {
  const value = path === undefined ? null : firstAt(record, path);
  if (value === null || value === '' || (typeof value === 'string' && isNoDate(value))) return null;
  const date = dateOfValue(value);
  if (date === null) throw new RecordRejected(`date not readable: ${name}`);
  return date;
}

function dateOfValue(value: unknown): Date | null {
  if (typeof value === 'number') return parseUnixSeconds(unixSecondsOf(value));
  if (typeof value !== 'string') return null;
  if (/^\d{1,15}$/.test(value)) return dateOfValue(Number(value));
  return parseDate(value) ?? parseUsDate(value);
}

/**
 * Returns the seconds since 1970 that a number of 9 to 11 digits states, or one of 13 or 15 in milliseconds. Null for any other, which may be a
 * year, a day, or a day and a time (`20261231`, `202612312359`).
 */
function unixSecondsOf(number: number): number | null {
  if (number >= 1e8 && number < 1e11) return Math.floor(number);
  const isMilliseconds = (number >= 1e12 && number < 1e13) || number >= 1e14;
  return isMilliseconds ? Math.floor(number / 1000) : null;
}

function confidenceOf(value: unknown): number | null {
  if (value === null || value === '') return null;
  const number = typeof value === 'string' && /^\d{1,3}$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= 100) return number;
  throw new RecordRejected('confidence not an integer from 0 to 100');
}

function severityOf(word: string | null): Severity | null {
  if (word === null) return null;
  const severity = SEVERITY_BY_WORD.get(word.toLowerCase());
  if (severity === undefined) throw new RecordRejected('severity not known');
  return severity;
}

/** A record of a mapped JSON file. */
export interface MappedRecord {
  value: unknown;
  /** The member's name, if the records are members of an object. */
  key: string | null;
}

/** Returns the member names of a dotted path; none for `$`, the whole. `$.a.b` is `a.b`. */
export function namesOf(path: string): string[] {
  const names = path.split('.');
  if (names[0] === '$') names.shift();
  return names;
}

/**
 * Returns the values at a path; a list on the way, or at its end, gives its elements, so there may be none or
 * many.
 */
function valuesAt({ value, key }: MappedRecord, path: string): unknown[] {
  if (path === '$key') return [key];
  return membersOf(elementsOf(value), namesOf(path));
}

function membersOf(items: unknown[], names: readonly string[]): unknown[] {
  let found = items;
  for (const name of names)
    found = found.flatMap((item) => (isObject(item) ? elementsOf(field(item, name)) : []));
  return found;
}

/** The first text at a path. */
function textAt(record: MappedRecord, path: string): string | null {
  return firstText(valuesAt(record, path));
}

function firstText(values: readonly unknown[]): string | null {
  return values.map(textOf).find((text) => text !== null) ?? null;
}

function elementsOf(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
