import type { Principal } from '../db/visibility.ts';
import type { LimitOrder } from '../formats/format.ts';
import { ApiError } from '../http/errors.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { TokenSealer } from '../secrets/sealed-token.ts';

/** A state of the store: its revision and the token of that, and the instant up to which expiries are returned. */
export interface Point {
  revision: number;
  /** null: the beginning, at which a client has nothing. */
  token: string | null;
  /** Unix milliseconds. */
  at: number;
  /** Of the rows that expire at this instant, expiries are returned up to this id; absent: of all. */
  id?: string;
}

/** A place in the order of changes: a revision, and an id among the rows that it changed. */
export interface Position {
  revision: number;
  id: string;
}

/** Rows that are given in several pages. */
export interface Pass {
  /** The point at which the client was before the first page: it still is for rows that the pass has not reached. */
  base: Point;
  /** Reached so far. */
  reached: Position;
  /** The revision at the first page: states that ended before do not matter. */
  horizon: number;
}

/** A saved feed as it was defined: with other filters, another limit or another TLP ceiling it is another collection. */
export interface Collection {
  /** The id of the feed. */
  feed: string;
  id: string;
  /** Only so many, those that come first; null: all. */
  limit: { count: number; order: LimitOrder } | null;
}

/** The state of a client's copy. */
export interface FeedCursor<Filters = IndicatorFilters> {
  filters: Filters;
  ceiling: Tlp;
  /** The saved feed that is copied; absent: a list. */
  collection?: Collection;
  /** The copy equals the list at this point, apart from the rows that a pass has not reached. */
  synced: Point;
  /** null: the copy is complete. */
  pass: Pass | null;
  /** Days since 1970 at which the cursor was issued. */
  day: number;
  /** Of the first rows at `synced`; null or absent: not known. */
  edge?: Edge | null;
}

/** Where the first rows of a feed with a limit end: the last one of them, or their number if that is below the limit. */
export type Edge = LastRow | number;

/** The place of a row in the order of a limit. */
export interface LastRow {
  confidence: number;
  /** As PostgreSQL writes it. */
  lastSeen: string;
  id: string;
}

const BEGINNING: Point = { revision: 0, token: null, at: 0 };
const DAY_MS = 86_400_000;

/** Returns the days since 1970. */
export const dayOf = (now: Date): number => Math.floor(now.getTime() / DAY_MS);

export function sealCursor<Filters extends object>(sealer: TokenSealer, cursor: FeedCursor<Filters>): string {
  const { filters, ceiling, synced, pass, day, collection, edge } = cursor;
  const members = [1, canonical(filters), ceiling, synced, pass, day];
  return sealer.seal(JSON.stringify(collection ? [...members, collection, edge] : members));
}

/** Returns a cursor; null: the text is none. */
function openCursor<Filters>(sealer: TokenSealer, text: string): FeedCursor<Filters> | null {
  const opened = sealer.open(text);
  if (opened === null) return null;
  const [version, filters, ceiling, synced, pass, day, collection, edge] = JSON.parse(opened);
  if (version !== 1) return null;
  return { filters, ceiling, synced, pass, day, ...(collection && { collection, edge }) };
}

/** Returns the filters that are set, in a fixed order, so that equal filters have the same text. */
function canonical<Filters extends object>(filters: Filters): Filters {
  const entries = Object.entries(filters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) as Filters;
}

/** Returns the cursor of a client that has nothing. */
export function firstCursor<Filters extends object>(
  filters: Filters,
  { tlpCeiling, now }: Principal,
  collection?: Collection,
): FeedCursor<Filters> {
  return cursorAfter(filters, tlpCeiling, BEGINNING, now.getTime(), collection);
}

/** Returns the cursor of a client whose copy equals a list at a point. */
export function cursorAfter<Filters extends object>(
  filters: Filters,
  ceiling: Tlp,
  synced: Point,
  now: number,
  collection?: Collection,
): FeedCursor<Filters> {
  const day = dayOf(new Date(now));
  return { filters: canonical(filters), ceiling, synced, pass: null, day, ...(collection && { collection }) };
}

/**
 * Returns the cursor of a request.
 * @param filters of the request; with a cursor, they may be left out
 * @throws {ApiError} 400 for a text that is no cursor, or one of other filters; 409 for one of another TLP ceiling; 410 for one of a
 *   feed that has been changed
 */
export function readCursor<Filters extends object>(
  sealer: TokenSealer,
  text: string,
  filters: Filters,
  { tlpCeiling }: Principal,
  collection?: Collection,
): FeedCursor<Filters> {
  const cursor = openCursor<Filters>(sealer, text);
  if (!cursor)
    throw new ApiError('invalid_parameter', 'cursor must be one that a response of this server had.');
  if (cursor.collection?.feed !== collection?.feed) {
    const other = cursor.collection ? `${collection ? 'another' : 'a'} saved feed` : 'a list';
    throw new ApiError('invalid_parameter', `The cursor belongs to ${other}: begin without a cursor.`);
  }
  if (cursor.collection?.id !== collection?.id)
    throw new ApiError('gone', 'The feed has been changed. Begin without a cursor, and replace the copy.');
  const of = cursor.filters as Record<string, unknown>;
  const differing = Object.entries(canonical(filters)).find(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(of[name]),
  );
  if (differing)
    throw new ApiError(
      'invalid_parameter',
      `The cursor belongs to another ${differing[0]}: begin without a cursor.`,
    );
  if (cursor.ceiling === tlpCeiling) return cursor;
  throw new ApiError(
    'conflict',
    `The cursor belongs to a key with the TLP ceiling ${cursor.ceiling}, this key has ${tlpCeiling}: begin without a cursor.`,
  );
}
