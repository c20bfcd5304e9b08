import type { FeedCursor, Point } from '../changes/cursor.ts';
import { findHeldStates, type HeldState } from '../changes/history.queries.ts';
import type { Change } from '../changes/indicator-changes.ts';
import type { Db } from '../db/database.ts';
import {
  type Decision,
  type Deletion,
  deletionOf,
  matchingBlocks,
  mustResend,
  toDecision,
} from './decisions.ts';
import { type FeedRow, type FeedRows, findDueRows, findRows } from './feed-rows.queries.ts';
import { findInForce } from './in-force.ts';
import type { StoredPosition } from './positions.queries.ts';
import { type DueRenewals, dueRenewals } from './renewal.ts';
import type { StreamDeps, StreamRequest } from './request-context.ts';

/** Decisions of one response, which is built in memory; more are written as everything that is in force. */
const MAX_DECISIONS = 50_000;

/** Thrown when there are more decisions than `MAX_DECISIONS`. */
export class TooManyChanges extends Error {
  override name = 'TooManyChanges';
}

/** What a client must be sent, by the blocks. */
export interface ChangedDecisions {
  decisions: Map<string, SentDecision>;
  deletions: Map<string, Deletion>;
}

interface SentDecision {
  decision: Decision;
  /** Whether the client has it already. */
  isRenewal: boolean;
}

/**
 * Returns what has changed for a client since its position, and the new one.
 * @param position of the same extent
 * @throws {TooManyChanges}
 * @throws {ApiError} 410 when the history since the position is not known
 */
export async function changesSince(
  { changes }: StreamDeps,
  request: StreamRequest,
  { cursors, renewedAt }: StoredPosition,
): Promise<ChangedDecisions & { cursors: Record<string, FeedCursor>; renewedAt: number }> {
  const { feeds, now } = request;
  const due = dueRenewals(renewedAt, now.getTime());
  const all: ChangedDecisions = { decisions: new Map(), deletions: new Map() };
  const next: Record<string, FeedCursor> = {};
  for (const feed of feeds) {
    const id = feed.collection.feed;
    const cursor = cursors[id] as FeedCursor;
    const read = (snapshot: Db, pages: AsyncIterable<Change[]>, from: Point) =>
      changesOfFeed(snapshot, request, feed, { pages, from, due });
    const followed = await changes.follow(cursor, now, read, due !== null);
    next[id] = followed?.position ?? cursor;
    // A later feed is read from a later snapshot.
    for (const [block, { decision, isRenewal }] of followed?.found.decisions ?? []) {
      // By another feed, the client may have it with a shorter duration.
      const hadIt = all.deletions.delete(block) || all.decisions.get(block)?.isRenewal === true;
      all.decisions.set(block, { decision, isRenewal: isRenewal || hadIt });
    }
    for (const [block, deletion] of followed?.found.deletions ?? []) {
      all.decisions.delete(block);
      all.deletions.set(block, deletion);
    }
  }
  return { ...all, cursors: next, renewedAt: due ? now.getTime() : renewedAt };
}

interface FeedChanges {
  pages: AsyncIterable<Change[]>;
  from: Point;
  due: DueRenewals | null;
}

async function changesOfFeed(
  snapshot: Db,
  request: StreamRequest,
  feed: FeedRows,
  { pages, from, due }: FeedChanges,
): Promise<ChangedDecisions> {
  const { filter, now } = request;
  const decisions = new Map<string, SentDecision>();
  const candidates = new Map<string, Deletion>();
  const add = (block: string, row: FeedRow, isRenewal: boolean) => {
    decisions.set(block, { decision: toDecision(block, row, request), isRenewal });
    if (decisions.size > MAX_DECISIONS) throw new TooManyChanges();
  };
  for await (const page of pages)
    for (const { before, after } of await statesOf(snapshot, feed, page, from)) {
      const had = new Set(before && matchingBlocks(before, filter));
      const has = new Set(after && matchingBlocks(after, filter));
      const isAgain = before !== undefined && after !== undefined && mustResend(before, after, now);
      if (after) for (const block of has) if (isAgain || !had.has(block)) add(block, after, had.has(block));
      if (before)
        for (const block of had) if (!has.has(block)) candidates.set(block, deletionOf(block, before));
    }
  if (due)
    for (const row of await findDueRows(snapshot, feed, due))
      for (const block of matchingBlocks(row, filter)) if (!decisions.has(block)) add(block, row, true);
  const inForce = await findInForce(snapshot, request.feeds, filter, [...candidates.keys()]);
  for (const [block, row] of inForce) {
    candidates.delete(block);
    // The client may have it with the shorter duration of what has been removed.
    add(block, row, true);
  }
  return { decisions, deletions: candidates };
}

/** The state of an indicator that a client has, and the present one; undefined: none. */
interface States {
  before: HeldState | undefined;
  after: FeedRow | undefined;
}

async function statesOf(
  snapshot: Db,
  feed: FeedRows,
  page: readonly Change[],
  from: Point,
): Promise<States[]> {
  const { filters, collection, principal } = feed;
  const ids = page.flatMap((change) => (change.op === 'upsert' ? [change.indicator.id] : []));
  // The change feed has found that they are among the first.
  const rows = await findRows(snapshot, { ...feed, collection: { ...collection, limit: null } }, ids);
  const after = new Map(rows.map((row) => [row.id, row]));
  const before = await findHeldStates(snapshot, heldIn(page), filters, principal.tlpCeiling, from);
  return page.map((change) => {
    const id = idOf(change);
    return { before: before.get(id), after: after.get(id) };
  });
}

export const idOf = (change: Change): string => (change.op === 'upsert' ? change.indicator.id : change.id);

/** Returns the ids of the indicators of a page of changes that the client may have. */
export const heldIn = (page: readonly Change[]): string[] =>
  page.flatMap((change) => (change.op === 'upsert' && change.isHeld === false ? [] : [idOf(change)]));
