import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import type { IndicatorRow } from '../indicators/read/indicators.queries.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { CursorGone, currentPoint } from './current-point.ts';
import { dayOf, type FeedCursor, type Pass, type Point, type Position } from './cursor.ts';
import {
  type CurrentRow,
  endOf,
  findChangedAfter,
  findChangedAgain,
  findCurrent,
  findCurrentAfter,
  findExpired,
  findExpiries,
  findHeld,
  findPlaces,
  findReached,
  findRelinked,
  findSuperseded,
  type HeldRow,
  isCurrent,
  MAX_ROWS,
  type Place,
  readPoints,
  START,
} from './history.queries.ts';

/** A change of a client's copy of a list. */
export type Change =
  | {
      op: 'upsert';
      indicator: IndicatorRow;
      /** In a saved feed with a limit, whether the client has it; undefined in others. */
      isHeld?: boolean;
    }
  | { op: 'remove'; id: string; type: IndicatorType; value: string };

export interface Step {
  changes: Change[];
  /** The cursor of the copy after these changes. */
  cursor: FeedCursor;
  /** Whether more changes follow at once. */
  hasMore: boolean;
  /** Whether it is known that the caller can see the next one of these. */
  isNextVisible?: boolean;
  /** The copy is complete at this point too; nothing changes before the next revision and `nextExpiry`. */
  here: Point;
  nextExpiry: Date | null;
}

/**
 * Returns the next changes of a copy, in the order of the revision, from one snapshot.
 *
 * A client holds a row if the row was visible and matched at the point up to which its copy is complete. Only rows that it holds
 * are reported as removed. While a pass gives many rows in pages, rows change meanwhile: those that the pass has reached are kept
 * up to date with each page, and those that it has not are compared with the point before the pass. For that, a pass also
 * reaches rows by states that have been superseded since its beginning.
 * @param limit how many rows a pass goes on; changes of rows that the client has come in addition
 * @throws {CursorGone}
 */
export async function nextChanges(
  db: Db,
  cursor: FeedCursor,
  limit: number,
  principal: Principal,
): Promise<Step> {
  const { filters, synced } = cursor;
  const { revision, token } = await currentPoint(db, cursor);
  // The clock of another node may have been ahead.
  const now = new Date(Math.max(Number(principal.now), synced.at));
  const reading: Reading = { db, cursor, principal: { ...principal, now } };
  const pass = cursor.pass ?? beginPass(synced, revision);
  const isFirst = pass.base.revision === 0;

  // A client that has nothing needs no row that it may not see.
  const findAfter = isFirst ? findCurrentAfter : findChangedAfter;
  const first = await findAfter(db, pass.reached, filters, reading.principal, limit + 1);
  const positions = await positionsAfter(reading, pass, revision, first, limit + 1);
  const hasMoreChanged = positions.length > limit;
  const reached = hasMoreChanged ? (positions[limit - 1] as Position) : endOf(revision);
  const newIds = new Set(positions.slice(0, limit).map(({ id }) => id));
  // Of rows that the pass has reached before, the client has the state, unless they have changed again.
  const knownIds = new Set(cursor.pass ? await changedAmongReached(reading, cursor.pass) : []);
  if (cursor.pass && revision > pass.horizon)
    for (const id of await findReached(db, [...newIds], cursor.pass)) newIds.delete(id);
  for (const id of knownIds) newIds.delete(id);
  // Rows that have not changed since the base follow those that have: the expired ones in order of expiry, then those with other links.
  const unchanged = { point: pass.base, reachedBy: null };
  const room = Math.max(0, limit - positions.length);
  const expired = hasMoreChanged || isFirst ? [] : await findExpired(db, cursor, unchanged, now, room + 1);
  const hasMoreExpired = expired.length > room;
  const base = hasMoreExpired ? afterExpiries(pass.base, expired[room - 1]) : pass.base;
  const hasMore = hasMoreChanged || hasMoreExpired;
  const relinked = hasMore || isFirst ? [] : await findRelinked(db, filters, unchanged);
  for (const id of [...expired.slice(0, room).map((row) => row.id), ...relinked])
    if (!knownIds.has(id)) newIds.add(id);

  const ids = [...newIds, ...knownIds];
  if (ids.length > MAX_ROWS)
    throw new CursorGone(`More than ${MAX_ROWS} rows have changed since the last page.`);
  const places = new Map<string, CurrentRow | Place>(first.map((row) => [row.id, row]));
  const others = ids.filter((id) => !places.has(id));
  for (const row of await findCurrent(db, others, filters, reading.principal)) places.set(row.id, row);
  for (const row of await findPlaces(
    db,
    others.filter((id) => !places.has(id)),
  ))
    places.set(row.id, row);
  const rows = ids.flatMap((id) => places.get(id) ?? []);
  const current = new Map(rows.filter(isCurrent).map((row) => [row.id, row]));
  const { reported, held } = await reportedRows(reading, rows, current, (id) =>
    knownIds.has(id) ? synced : pass.base,
  );
  const expiries = await findExpiries(db, now);
  const here: Point = { revision, token, at: Math.max(synced.at, Number(expiries.last ?? 0)) };
  const isPass = hasMore || cursor.pass !== null || isFirst;
  return {
    changes: reported.flatMap(({ id }) => toChange(current.get(id), held.get(id))),
    cursor: {
      ...cursor,
      synced: isPass ? here : await earliestPoint(reading, here, rows, reported),
      pass: hasMore ? { ...pass, base, reached } : null,
      day: dayOf(now),
    },
    hasMore,
    // Of a client that has nothing, all of these rows are visible, and it has none of them while nothing changes. The client holds
    // rows that have expired.
    isNextVisible: hasMoreExpired || (hasMore && isFirst && revision === pass.horizon),
    here,
    nextExpiry: expiries.next,
  };
}

const beginPass = (base: Point, horizon: number): Pass => ({
  base,
  reached: base.revision === 0 ? START : endOf(base.revision),
  horizon,
});

/** Returns the point of a client with the removals of the rows up to one that has expired; undefined: it got none. */
const afterExpiries = (base: Point, last: { id: string; expires_at: Date } | undefined): Point =>
  last ? { ...base, at: last.expires_at.getTime(), id: last.id } : base;

/** Returns the rows that the pass has reached whose state, link or expiry has changed since the last page. */
async function changedAmongReached({ db, cursor, principal }: Reading, pass: Pass): Promise<string[]> {
  const known = { point: cursor.synced, reachedBy: pass };
  const expired = await findExpired(db, cursor, known, principal.now, MAX_ROWS + 1);
  return [
    ...(await findChangedAgain(db, pass, cursor.synced.revision)),
    ...expired.map(({ id }) => id),
    ...(await findRelinked(db, cursor.filters, known)),
  ];
}

interface Reading {
  db: Db;
  cursor: FeedCursor;
  principal: Principal;
}

/**
 * Returns the places of rows that the pass reaches next, in order. States that were superseded before the pass do not matter.
 * @param revision the latest
 * @param first those of current states that are known already
 */
async function positionsAfter(
  { db }: Reading,
  { reached, horizon }: Pass,
  revision: number,
  first: readonly Position[],
  most: number,
): Promise<readonly Position[]> {
  if (revision === horizon) return first;
  const last = first.length === most ? first.at(-1) : undefined;
  const superseded = await findSuperseded(db, reached, last ?? endOf(revision), horizon, most);
  return [...first, ...superseded].sort(byPlace).slice(0, most);
}

const byPlace = (a: Position, b: Position) => a.revision - b.revision || (a.id < b.id ? -1 : 1);

/**
 * Returns the rows to report to the client, in order: visible ones that have changed or that it does not hold, and hidden ones
 * that it holds.
 * @param pointOf returns the point at which the client has the state of a row
 */
async function reportedRows(
  { db, cursor: { filters, ceiling } }: Reading,
  rows: readonly Place[],
  current: ReadonlyMap<string, CurrentRow>,
  pointOf: (id: string) => Point,
): Promise<{ reported: Place[]; held: Map<string, HeldRow> }> {
  const isChanged = ({ id, revision }: Place) => current.has(id) && revision > pointOf(id).revision;
  const inQuestion = rows.filter((row) => !isChanged(row)).map(({ id }) => id);
  const held = new Map<string, HeldRow>();
  for (const point of new Set(inQuestion.map(pointOf))) {
    const of = inQuestion.filter((id) => pointOf(id) === point);
    for (const [id, row] of await findHeld(db, of, filters, ceiling, point)) held.set(id, row);
  }
  const reported = rows
    .filter((row) => isChanged(row) || current.has(row.id) !== held.has(row.id))
    .sort(byPlace);
  return { reported, held };
}

export function toChange(indicator: CurrentRow | undefined, held: HeldRow | undefined): Change[] {
  if (indicator) return [{ op: 'upsert', indicator }];
  return held ? [{ op: 'remove', ...held }] : [];
}

/**
 * Returns the earliest point at which the copy is complete after these changes, so that the cursor does not depend on
 * later changes of rows that the caller does not see.
 */
async function earliestPoint(
  { db, cursor: { filters, ceiling, synced } }: Reading,
  here: Point,
  rows: readonly Place[],
  reported: readonly Place[],
): Promise<Point> {
  // Links have revisions of their own.
  if (filters.actorId || filters.campaignId) return here;
  const revision = reported.reduce((most, row) => Math.max(most, row.revision), synced.revision);
  const reportedIds = new Set(reported.map(({ id }) => id));
  const others = rows.map(({ id }) => id).filter((id) => !reportedIds.has(id));
  const isComplete = (await findHeld(db, others, filters, ceiling, { revision, at: here.at })).size === 0;
  if (!isComplete) return here;
  const { tokens } = await readPoints(db, [revision]);
  return { revision, token: tokens.get(revision) ?? null, at: here.at };
}
