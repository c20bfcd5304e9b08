import { bulkhead } from 'cockatiel';
import type { FeedCursor, Point } from '../changes/cursor.ts';
import { findHeldStates } from '../changes/history.queries.ts';
import type { Change } from '../changes/indicator-changes.ts';
import type { Db } from '../db/database.ts';
import { openSnapshot } from '../exports/snapshot.ts';
import type { ExportIndicator, ExportShape } from '../formats/format.ts';
import { ApiError } from '../http/errors.ts';
import { heldIn, idOf } from './changed-decisions.ts';
import {
  type Decision,
  type DecisionRow,
  type Deletion,
  deletionOf,
  matchingBlocks,
  toDecision,
  toDeletedDecision,
} from './decisions.ts';
import { ADDRESSES, allRows, type FeedRow, type FeedRows, selectionOf } from './feed-rows.queries.ts';
import { findInForce } from './in-force.ts';
import type { Position, Sent, StoredPosition } from './positions.queries.ts';
import { dueRenewals, isDue } from './renewal.ts';
import { isSameFeed, isSameFilter, type StreamDeps, type StreamRequest } from './request-context.ts';

const SHAPE: ExportShape = {
  types: ADDRESSES.types,
  detectionOnly: true,
  order: 'number',
  columns: ['id', 'number', 'type', 'value', 'tags', 'expiresAt', 'whitelistedParts'],
  reads: {},
};
/** Rows of an earlier extent that are read at once. */
const PAGE = 5_000;
/** Feeds that are read at once: each holds a connection of the pool. */
const MAX_READING = 4;
const turns = bulkhead(MAX_READING, Number.POSITIVE_INFINITY);

/** Yields all indicators of a feed, from one snapshot. @param done is called at its end with its revision */
async function* readFeed(
  { database }: StreamDeps,
  feed: FeedRows,
  done?: (feed: FeedRows, revision: number) => Promise<void>,
): AsyncGenerator<FeedRow[]> {
  let revision: number;
  const end = await takeTurn();
  try {
    const snapshot = await openSnapshot(database, selectionOf(feed), SHAPE, '');
    try {
      for await (const batch of snapshot.read()) yield batch.map(toRow);
      revision = snapshot.revisionId.revision;
    } finally {
      await snapshot.close();
    }
  } finally {
    end();
  }
  await done?.(feed, revision);
}

/** Waits until few feeds are being read. @returns a function that ends the turn */
function takeTurn(): Promise<() => void> {
  return new Promise((begin) => {
    void turns.execute(() => new Promise<void>((end) => begin(end)));
  });
}

function toRow({ id, number, type, value, tags, expiresAt, whitelistedParts }: ExportIndicator): FeedRow {
  const state: DecisionRow = {
    type,
    value,
    tags,
    expires_at: expiresAt,
    for_detection: true,
    whitelisted_parts: whitelistedParts,
  };
  return { id, number, ...state };
}

/** Yields the decisions in force, as the inside of a JSON array. @param wants whether a block is wanted */
export async function* writeDecisions(
  deps: StreamDeps,
  { feeds, filter, ...context }: Pick<StreamRequest, 'feeds' | 'filter' | 'now' | 'maxMs'>,
  on: {
    wants?: (block: string) => boolean;
    row?: (row: FeedRow, blocks: readonly string[]) => void;
    feed?: (feed: FeedRows, revision: number) => Promise<void>;
  } = {},
): AsyncGenerator<string> {
  /** The numbers of the indicators that have been written, if they may be in several feeds. */
  const written = feeds.length > 1 ? new Set<number>() : null;
  let before = '';
  for (const feed of feeds) {
    for await (const rows of readFeed(deps, feed, on.feed)) {
      const decisions: Decision[] = [];
      for (const row of rows) {
        if (written?.has(row.number)) continue;
        written?.add(row.number);
        const blocks = matchingBlocks(row, filter).filter(on.wants ?? (() => true));
        on.row?.(row, blocks);
        for (const block of blocks) decisions.push(toDecision(block, row, context));
      }
      if (decisions.length === 0) continue;
      yield before + JSON.stringify(decisions).slice(1, -1);
      before = ',';
    }
  }
}

/**
 * Yields a response of the stream with everything that is in force, and the deletions of what the client was sent that is not.
 * @param position undefined: the client has been sent nothing
 * @param repeated the deletions that it was sent lately
 * @param done gets what has been sent, at the end
 */
export async function* writeEverything(
  deps: StreamDeps,
  request: StreamRequest,
  { position, repeated }: { position: StoredPosition | undefined; repeated: readonly Deletion[] },
  done: (sent: Omit<Sent, 'repeatedSince'>) => void,
): AsyncGenerator<string> {
  const { filter, now, feeds } = request;
  const cursors: Position['cursors'] = {};
  const missed = position && request.deletesBeforeRenewal && dueRenewals(position.renewedAt, now.getTime());
  const renewed: Deletion[] = [];
  yield '{"new":[';
  yield* writeDecisions(deps, request, {
    row(row, blocks) {
      if (missed && isDue(missed, row.id)) for (const block of blocks) renewed.push(deletionOf(block, row));
    },
    async feed(feed, revision) {
      const cursor = await deps.changes.positionAfter(feed.principal, feed, revision);
      if (cursor === null) throw new Error('the revision of a snapshot is not known any more');
      cursors[feed.collection.feed] = cursor;
    },
  });
  yield '],"deleted":[';
  const candidates = new Map(repeated.map((deletion) => [deletion.value, deletion]));
  if (position)
    for (const [block, deletion] of await sentBefore(deps, request, position))
      candidates.set(block, deletion);
  const inForce = await findInForce(deps.database.db, feeds, filter, [...candidates.keys()]);
  const known = new Set(repeated.map(({ value }) => value));
  const deletions = [...candidates.values()].filter(({ value }) => !inForce.has(value));
  if (request.deletesBeforeRenewal)
    for (const { value, id } of candidates.values())
      if (inForce.has(value) && !known.has(value)) renewed.push({ value, id });
  yield JSON.stringify([...deletions, ...renewed].map(toDeletedDecision)).slice(1, -1);
  done({
    position: { cursors, filter, renewedAt: now.getTime() },
    deleted: deletions.filter(({ value }) => !known.has(value)),
    restored: [...known].filter((value) => inForce.has(value)),
  });
  yield ']}';
}

/**
 * Returns the decisions that a client was sent and may have to delete: those of indicators that have changed since its position, and
 * all if the extent is another one. Nothing is returned for a position that the history does not reach back to: all decisions of then
 * have ended.
 */
async function sentBefore(
  { changes }: StreamDeps,
  { feeds, filter, now }: StreamRequest,
  { cursors, filter: sentFilter }: StoredPosition,
): Promise<Map<string, Deletion>> {
  const found = new Map<string, Deletion>();
  for (const [id, cursor] of Object.entries(cursors)) {
    const feed = feeds.find(({ collection }) => collection.feed === id);
    const isSame = feed !== undefined && isSameFeed(cursor, feed) && isSameFilter(filter, sentFilter);
    const read = async (snapshot: Db, pages: AsyncIterable<Change[]>, from: Point) => {
      const sent = new Map<string, Deletion>();
      const add = (row: DecisionRow & { number: number }) => {
        for (const block of matchingBlocks(row, sentFilter)) sent.set(block, deletionOf(block, row));
      };
      /** Indicators that have changed or come in since: their present state was not sent. */
      const changed = new Set<string>();
      for await (const page of pages) {
        const held = await findHeldStates(snapshot, heldIn(page), cursor.filters, cursor.ceiling, from);
        for (const row of held.values()) add(row);
        for (const change of page) changed.add(idOf(change));
      }
      if (!isSame)
        for await (const page of allRows(snapshot, rowsAt(cursor, now), PAGE))
          for (const row of page) if (!changed.has(row.id)) add(row);
      return sent;
    };
    try {
      const followed = await changes.follow(cursor, now, read, true);
      for (const [block, deletion] of followed?.found ?? []) found.set(block, deletion);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'gone')) throw error;
    }
  }
  return found;
}

function rowsAt({ filters, collection, ceiling }: FeedCursor, now: Date): FeedRows {
  if (!collection) throw new Error('the position is not of a saved feed');
  return { filters, collection, principal: { tlpCeiling: ceiling, now } };
}
