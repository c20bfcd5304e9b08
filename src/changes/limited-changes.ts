import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import { CursorGone, currentPoint } from './current-point.ts';
import { dayOf, type Edge, type FeedCursor, type Pass, type Point } from './cursor.ts';
import { findCurrent, findExpiries, MAX_ROWS, START } from './history.queries.ts';
import { type Step, toChange } from './indicator-changes.ts';
import {
  type Difference,
  type Differences,
  findDifferences,
  findEdge,
  findFirstAfter,
  findMoves,
  type LimitedRows,
} from './members.queries.ts';

/**
 * Returns the next changes of a copy of a saved feed with a limit, by id, from one snapshot.
 *
 * Whether a row is among the first depends on other rows, so rows come and go that have not changed. Therefore the first rows
 * now are compared with the first rows at the client's point, which follow from the history; after few changes, their differences
 * follow from the rows that have changed. A pass gives many differences in pages, in the order of ids: up to the id that it has
 * reached, the client has the rows as of the last page, beyond it those as of the point before the pass.
 * @param limit how many differences a pass goes on; those of rows that the pass has reached come in addition
 * @throws {CursorGone}
 */
export async function nextLimitedChanges(
  db: Db,
  cursor: FeedCursor,
  limit: number,
  principal: Principal,
): Promise<Step> {
  const { filters, synced, collection, ceiling } = cursor;
  if (!collection?.limit) throw new Error('the cursor is not of a saved feed with a limit');
  const latest = await currentPoint(db, cursor);
  // The clock of another node may have been ahead.
  const now = new Date(Math.max(Number(principal.now), synced.at));
  const here: Point = { ...latest, at: now.getTime() };
  const rows = { filters, limit: collection.limit, ceiling };
  const found =
    (await differencesFromNothing(db, rows, cursor, now, limit)) ??
    (await differencesFromMoves(db, rows, cursor, now, limit)) ??
    (await findDifferences(db, rows, cursor, here, limit + 1));
  if (found.reached.length > MAX_ROWS)
    throw new CursorGone(`More than ${MAX_ROWS} rows have changed since the last page.`);
  const hasMore = found.next.length > limit;
  const last = hasMore ? found.next[limit - 1] : undefined;
  const pass = last ? passTo(cursor, last, latest.revision) : null;
  return {
    changes: await changesOf(db, [...found.reached, ...found.next.slice(0, limit)], filters, {
      ...principal,
      now,
    }),
    cursor: { ...cursor, synced: here, pass, day: dayOf(now), edge: found.edge },
    hasMore,
    here,
    nextExpiry: (await findExpiries(db, now)).next,
  };
}

/** Returns the first differences from a client that has nothing yet; null: it has something. */
async function differencesFromNothing(
  db: Db,
  rows: LimitedRows,
  { synced, pass }: FeedCursor,
  now: Date,
  limit: number,
): Promise<Differences | null> {
  if (pass || synced.revision > 0) return null;
  const edge = await findEdge(db, rows, now);
  return { reached: [], next: await findFirstAfter(db, rows, edge, START.id, now, limit + 1), edge };
}

/**
 * Returns the differences like `findDifferences`, without comparing all first rows.
 * @returns null: they do not follow from the rows that have changed
 */
async function differencesFromMoves(
  db: Db,
  rows: LimitedRows,
  { synced, pass, filters, edge }: FeedCursor,
  now: Date,
  limit: number,
): Promise<Differences | null> {
  // Links have revisions of their own.
  if (filters.actorId || filters.campaignId) return null;
  // Beyond the id that a pass has reached, the client has the rows of its base: none, if that is the beginning.
  if (pass && pass.base.revision > 0) return null;
  const moves = await findMoves(db, rows, synced, edge ?? null, now);
  if (moves === null || (pass && moves.edge === null)) return null;
  if (pass === null) return moves.next.length <= limit ? { reached: [], ...moves } : null;
  const { id: reached } = pass.reached;
  return {
    reached: moves.next.filter(({ id }) => id <= reached),
    next: await findFirstAfter(db, rows, moves.edge as Edge, reached, now, limit + 1),
    edge: moves.edge,
  };
}

function passTo({ pass, synced }: FeedCursor, { id }: Difference, revision: number): Pass {
  return {
    base: pass?.base ?? synced,
    reached: { ...START, id },
    horizon: pass?.horizon ?? revision,
  };
}

async function changesOf(
  db: Db,
  given: readonly Difference[],
  filters: IndicatorFilters,
  principal: Principal,
): Promise<Step['changes']> {
  const members = given.filter(({ isMember }) => isMember).map(({ id }) => id);
  const rows = await findCurrent(db, members, filters, principal);
  const current = new Map(rows.map((row) => [row.id, row]));
  return given.flatMap(({ id, held }) =>
    toChange(current.get(id), held ?? undefined).map((change) =>
      change.op === 'upsert' ? { isHeld: held !== null, ...change } : change,
    ),
  );
}
