import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { TokenSealer } from '../secrets/sealed-token.ts';

/** A state of the store: its revision and the token of that, and the instant up to which expiries are told. */
export interface Point {
  revision: number;
  /** null: the beginning, at which a client has nothing. */
  token: string | null;
  /** Unix milliseconds. */
  at: number;
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

/** The state of a client's copy. */
export interface FeedCursor {
  filters: IndicatorFilters;
  ceiling: Tlp;
  /** The copy equals the list at this point, apart from the rows that a pass has not reached. */
  synced: Point;
  /** null: the copy is complete. */
  pass: Pass | null;
  /** Days since 1970 at which the cursor was issued. */
  day: number;
}

export const BEGINNING: Point = { revision: 0, token: null, at: 0 };
const DAY_MS = 86_400_000;

/** Returns the days since 1970. */
export const dayOf = (now: Date): number => Math.floor(now.getTime() / DAY_MS);

export function sealCursor(sealer: TokenSealer, cursor: FeedCursor): string {
  const { filters, ceiling, synced, pass, day } = cursor;
  return sealer.seal(JSON.stringify([1, canonical(filters), ceiling, synced, pass, day]));
}

/** Returns a cursor; null: the text is none. */
export function openCursor(sealer: TokenSealer, text: string): FeedCursor | null {
  const opened = sealer.open(text);
  if (opened === null) return null;
  const [version, filters, ceiling, synced, pass, day] = JSON.parse(opened);
  return version === 1 ? { filters, ceiling, synced, pass, day } : null;
}

/** Returns the filters that are set, in a fixed order, so that equal filters have the same text. */
export function canonical(filters: IndicatorFilters): IndicatorFilters {
  const entries = Object.entries(filters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the cursor of a client whose copy is what a list or export of these filters returned. */
export function cursorAfter(
  filters: IndicatorFilters,
  ceiling: Tlp,
  { revision, token }: Pick<Point, 'revision' | 'token'>,
  now: Date,
): FeedCursor {
  const at = now.getTime();
  return { filters, ceiling, synced: { revision, token, at }, pass: null, day: dayOf(now) };
}
