import type { StixObject } from '../formats/stix/common.ts';
import { isAnyVersion, type Match } from './match.ts';
import type { Held, Places } from './objects.queries.ts';

/** An object with the time at which it was added to the collection, in microseconds since 1970. */
export interface DatedObject {
  date: number;
  object: StixObject;
}

/** The part of a collection that a page may have. */
export interface Wanted {
  places: Places;
  /** The objects of which a client may have the ends; null: ends are not given. */
  held: Held | null;
  /** Returns whether an object is among those that are asked for. */
  isWanted(object: DatedObject): boolean;
  /** The number of objects after which there is no need for more. */
  most: number;
}

/** Objects of some changes in their order. */
export interface Chunk {
  objects: DatedObject[];
  /** The change number from which the next ones go on; null: there are no more. */
  next: number | null;
}

export const NONE: Chunk = { objects: [], next: null };

/** Reads chunks until there are enough objects: a page reads its own objects and the hidden ones between these. */
export async function collect(
  { places, isWanted, most }: Wanted,
  read: (places: Places) => Promise<Chunk>,
): Promise<DatedObject[]> {
  const objects: DatedObject[] = [];
  const isIn = (place: number | null): place is number => place !== null && place <= (places.upTo ?? place);
  for (let from: number | null = places.from; isIn(from) && objects.length < most; ) {
    const chunk: Chunk = await read({ ...places, from });
    objects.push(...chunk.objects.filter(isWanted));
    from = chunk.next;
  }
  return objects;
}

/** Returns the objects of consecutive microseconds. @param first the time of the first one */
export const dated = (first: number, objects: readonly StixObject[]): DatedObject[] =>
  objects.map((object, place) => ({ date: first + place, object }));

/**
 * Returns the version of an object (§3.4.1): when it was modified, else created, else added to the collection.
 */
export function versionOf({ date, object }: DatedObject): string {
  return String(object.modified ?? object.created ?? timestampOf(date));
}

/** Returns a time with microseconds. @param date in microseconds since 1970 */
export function timestampOf(date: number): string {
  const millis = Math.floor(date / 1_000);
  const micros = String(date - millis * 1_000).padStart(3, '0');
  return new Date(millis).toISOString().replace('Z', `${micros}Z`);
}

/** Returns whether versions of any time are wanted. */
export const anyVersion = ({ version }: Match) => version?.some(isAnyVersion) ?? true;

/** Returns whether objects of one of these types are wanted. */
export const anyOfTypes = ({ type }: Match, types: readonly string[]) =>
  type?.some((name) => types.includes(name)) ?? true;

/** Returns a function that returns whether an object is wanted. */
export function wants({ id, type, version, spec_version: specVersion }: Match) {
  const isAny = anyVersion({ version });
  const ids = id && new Set(id);
  return (dated: DatedObject): boolean =>
    (ids?.has(dated.object.id) ?? true) &&
    (type?.includes(String(dated.object.type)) ?? true) &&
    (specVersion?.includes('2.1') ?? true) &&
    (isAny || (version?.includes(new Date(versionOf(dated)).toISOString()) ?? true));
}

export function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
