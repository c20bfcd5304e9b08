import { setImmediate } from 'node:timers/promises';
import { bulkhead } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Database, Db } from '../db/database.ts';
import { epochScopedCache } from '../db/revision/watch.ts';
import type { Principal } from '../db/visibility.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import { tokenSealer } from '../secrets/sealed-token.ts';
import { readChanges } from './current-point.ts';
import {
  type Collection,
  cursorAfter,
  dayOf,
  type FeedCursor,
  firstCursor,
  type Point,
  readCursor,
  sealCursor,
} from './cursor.ts';
import { readPoints } from './history.queries.ts';
import { type Change, nextChanges, type Step } from './indicator-changes.ts';
import { nextLimitedChanges } from './limited-changes.ts';
import { watchWait } from './watch-wait.ts';

/** The header of lists and exports with the cursor from which the feed goes on. */
export const CHANGE_CURSOR = 'x-change-cursor';

/** The changes after a cursor. */
export interface Changes<Item> {
  changes: Item[];
  cursor: string;
  /** Whether more changes follow at once. */
  hasMore: boolean;
}

export interface ChangeFeed {
  /**
   * Returns the next changes after a cursor, or from the beginning. It waits for changes if there are none.
   * @param wait for so many seconds at most
   * @param isEnded whether the wait must end earlier
   * @param toItem makes an item of each change, while the next changes are read
   * @throws {ApiError} 400 for a cursor that is none or belongs to other filters, 409 for one of another TLP ceiling, 410 for one
   *   whose history is not known or whose saved feed has been changed
   */
  next<Item>(
    asked: AskedChanges,
    principal: Principal,
    wait: number,
    isEnded: () => boolean,
    toItem: (change: Change) => Item,
  ): Promise<Changes<Item>>;
  /**
   * Returns the cursor of a client that got a list or export of these filters from a snapshot; null: its revision is not
   * known any more.
   */
  cursorAfter(principal: Principal, of: CopiedRows, revision: number): Promise<string | null>;
  /** Returns the same as a cursor that is not sealed, for a client whose position this store keeps. */
  positionAfter(principal: Principal, of: CopiedRows, revision: number): Promise<FeedCursor | null>;
  /**
   * Reads all changes that follow a position, and what else belongs to the same state, from one snapshot. The position's own filters
   * and ceiling apply.
   * @param position of a complete copy
   * @param read gets the pages of changes, and the point at which the client's copy is; may run twice
   * @param isForced whether `read` runs also if it is known that nothing has changed
   * @returns null: it is known that nothing has changed
   * @throws {ApiError} 410 when the history since the position is not known
   */
  follow<T>(
    position: FeedCursor,
    now: Date,
    read: (snapshot: Db, pages: AsyncIterable<Change[]>, from: Point) => Promise<T>,
    isForced: boolean,
  ): Promise<{ found: T; position: FeedCursor } | null>;
}

/** A list or a saved feed, of which a client has a copy. */
export interface CopiedRows {
  filters: IndicatorFilters;
  /** Absent: a list. */
  collection?: Collection;
}

interface AskedChanges extends CopiedRows {
  cursor: string | undefined;
  /** Of a list, those of the request; with a cursor, they may be left out. */
  filters: IndicatorFilters;
  limit: number;
  /** Whether what was asked for is still what it was; absent: it does not change. Called after a wait. */
  isValid?: () => Promise<boolean>;
}

/** A page is filled for no longer than this, if few of the rows that it reads match. */
const FILL_MS = 1_000;
/** Rows that are read at once: few enough that making items of them overlaps with reading. */
const STEP = 2_000;
/** Changes of which items are made before other work of the process gets its turn. */
const SLICE = 200;
/** Rows among which the next visible change is looked for at the end of a page. */
const PEEK = 200;
/** Waiting requests that ask the database at once. */
const MAX_WOKEN = 4;
/** Requests for feeds with a limit that ask the database at once. */
const MAX_LIMITED = 2;
/** Changes that `follow` reads at once: each page of a feed with a limit finds its first rows anew. */
const PAGE = { unlimited: 10_000, limited: 100_000 };
/** Cursors for which it is known that nothing has changed. */
const MAX_IDLE = 10_000;
/** Revisions whose tokens are cached. */
const MAX_TOKENS = 1_000;
const PURPOSE = 'cursors of the change feed';

/** A cursor for which nothing changed up to a later point. */
interface Idle {
  cursor: FeedCursor;
  nextExpiry: Date | null;
}

/** @param most the maximum number of rows that are read at once */
export function openChangeFeed(
  database: Pick<Database, 'db' | 'read' | 'revisions'>,
  secret: string,
  clock: Clock,
  most: number = STEP,
): ChangeFeed {
  const sealer = tokenSealer(secret, PURPOSE);
  const { revisions } = database;
  // After a failover that lost commits, a revision may be another one.
  const idle = epochScopedCache(revisions, new LRUCache<string, Idle>({ max: MAX_IDLE }));
  const tokens = epochScopedCache(revisions, new LRUCache<string, string>({ max: MAX_TOKENS }));
  /** Every commit wakes all waiting requests: they take turns, so that others get connections to the database. */
  const turns = bulkhead(MAX_WOKEN, Number.POSITIVE_INFINITY);

  const isCurrent = ({ cursor, nextExpiry }: Idle, now: Date) =>
    revisions.isFresh('revision', cursor.synced.revision) && (nextExpiry === null || now < nextExpiry);

  /** Finding the first rows of a feed takes long: such requests take turns too. */
  const limitedTurns = bulkhead(MAX_LIMITED, Number.POSITIVE_INFINITY);
  const stepFrom = (cursor: FeedCursor, limit: number, principal: Principal) => {
    const step = cursor.collection?.limit ? nextLimitedChanges : nextChanges;
    const read = () => readChanges(database, (snapshot) => step(snapshot, cursor, limit, principal));
    return cursor.collection?.limit ? limitedTurns.execute(read) : read();
  };

  /**
   * Returns the end of a pass, if no change follows that the caller can see: more that follows would reveal hidden ones; null:
   * one does, or it takes too long to find out.
   */
  async function endWithoutChanges(from: FeedCursor, principal: Principal): Promise<Step | null> {
    const started = performance.now();
    for (let cursor = from; performance.now() - started < FILL_MS; ) {
      const step = await stepFrom(cursor, PEEK, principal);
      if (step.changes.length > 0) return null;
      if (!step.hasMore) return step;
      cursor = step.cursor;
    }
    return null;
  }

  async function poll<Item>(
    given: FeedCursor,
    text: string | undefined,
    limit: number,
    principal: Principal,
    toItem: (change: Change) => Item,
  ): Promise<Changes<Item>> {
    const { now } = principal;
    const known = text === undefined ? undefined : idle.get(text);
    const epoch = revisions.epoch();
    if (text !== undefined && known && isCurrent(known, now) && given.day >= dayOf(now))
      return { changes: [], cursor: text, hasMore: false };
    const started = performance.now();
    const changes: Item[] = [];
    let count = 0;
    const read = (cursor: FeedCursor) =>
      stepFrom(cursor, readsAll(cursor) ? limit - count : Math.min(most, limit - count), principal);
    let reading = read(known?.cursor ?? given);
    for (;;) {
      let step = await reading;
      count += step.changes.length;
      const goesOn = step.hasMore && count < limit && performance.now() - started < FILL_MS;
      if (goesOn) reading = read(step.cursor);
      // Its error is that of the next turn.
      reading.catch(() => {});
      for (let at = 0; at < step.changes.length; at += SLICE) {
        for (const change of step.changes.slice(at, at + SLICE)) changes.push(toItem(change));
        if (goesOn) await setImmediate();
      }
      if (goesOn) continue;
      if (text !== undefined && isUnchanged(given, step, count, now)) {
        const current = { ...step.cursor, synced: step.here };
        idle.set(text, { cursor: current, nextExpiry: step.nextExpiry }, epoch);
        return { changes, cursor: text, hasMore: false };
      }
      if (step.hasMore && !step.isNextVisible && !step.cursor.collection?.limit)
        step = (await endWithoutChanges(step.cursor, principal)) ?? step;
      // A cursor that is used must not grow older than the changes that are kept.
      const isRenewed = !step.hasMore && (count === 0 || given.day < dayOf(now));
      const next = isRenewed ? { ...step.cursor, synced: step.here } : step.cursor;
      return { changes, cursor: sealCursor(sealer, next), hasMore: step.hasMore };
    }
  }

  async function pointAfter(revision: number, now: Date): Promise<Point | null> {
    const epoch = revisions.epoch();
    const name = String(revision);
    const token = tokens.get(name) ?? (await readPoints(database.db, [revision])).tokens.get(revision);
    if (token === undefined) return null;
    tokens.set(name, token, epoch);
    return { revision, token, at: now.getTime() };
  }

  const positionAfter: ChangeFeed['positionAfter'] = async (principal, { filters, collection }, revision) => {
    const point = await pointAfter(revision, principal.now);
    return point && cursorAfter(filters, principal.tlpCeiling, point, point.at, collection);
  };

  const follow: ChangeFeed['follow'] = async (position, now, read, isForced) => {
    const text = JSON.stringify(position);
    const known = idle.get(text);
    if (!isForced && known && isCurrent(known, now) && position.day >= dayOf(now)) return null;
    const epoch = revisions.epoch();
    const from = known?.cursor ?? position;
    const { collection, ceiling: tlpCeiling } = position;
    const [step, limit] = collection?.limit
      ? [nextLimitedChanges, PAGE.limited]
      : [nextChanges, PAGE.unlimited];
    const readSnapshot = () =>
      readChanges(database, async (snapshot) => {
        let [last, hasChanges]: [Step | null, boolean] = [null, false];
        async function* pages() {
          do {
            last = await step(snapshot, last?.cursor ?? from, limit, { tlpCeiling, now });
            hasChanges ||= last.changes.length > 0;
            yield last.changes;
          } while (last.hasMore);
        }
        const found = await read(snapshot, pages(), from.synced);
        if (last === null || (last as Step).hasMore)
          throw new Error('the changes have not been read to their end');
        return { found, last: last as Step, hasChanges };
      });
    const { found, last, hasChanges } = collection?.limit
      ? await limitedTurns.execute(readSnapshot)
      : await readSnapshot();
    const current = { ...last.cursor, synced: last.here };
    if (hasChanges || isForced || position.day < dayOf(now)) return { found, position: current };
    idle.set(text, { cursor: current, nextExpiry: last.nextExpiry }, epoch);
    return { found, position };
  };

  return {
    positionAfter,
    follow,
    async next({ cursor: text, filters, collection, limit, isValid }, principal, wait, isEnded, toItem) {
      const given =
        text === undefined
          ? firstCursor(filters, principal, collection)
          : readCursor(sealer, text, filters, principal, collection);
      let found = await poll(given, text, limit, principal, toItem);
      const watch = watchWait(revisions, wait, isEnded);
      const isStill = () => {
        const latest = idle.get(found.cursor);
        return latest !== undefined && isCurrent(latest, clock());
      };
      while (found.cursor === text && !found.hasMore && (await watch.changes(isStill))) {
        const next = await turns.execute(() =>
          poll(given, text, limit, { ...principal, now: clock() }, toItem),
        );
        if (isValid && !(await isValid())) break;
        found = next;
      }
      return found;
    },
    async cursorAfter(principal, of, revision) {
      const cursor = await positionAfter(principal, of, revision);
      return cursor && sealCursor(sealer, cursor);
    },
  };
}

/** Whether each step reads all rows of the feed, or all links of the actor or campaign: then a page is one step. */
function readsAll({ collection, filters }: FeedCursor): boolean {
  return Boolean(collection?.limit || filters.actorId || filters.campaignId);
}

/** Whether the copy is what it was, and its cursor needs no renewal: those that are kept forget the oldest changes. */
function isUnchanged(given: FeedCursor, step: Step, count: number, now: Date): boolean {
  return count === 0 && !step.hasMore && given.pass === null && given.day >= dayOf(now);
}
