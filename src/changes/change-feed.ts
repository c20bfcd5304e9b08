import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import { tokenSealer } from '../secrets/sealed-token.ts';
import { readChanges } from './current-point.ts';
import { cursorAfter, dayOf, type FeedCursor, firstCursor, readCursor, sealCursor } from './cursor.ts';
import { readPoints } from './history.queries.ts';
import { type Change, nextChanges, type Step } from './indicator-changes.ts';

/** The header of lists and exports with the cursor from which the feed goes on. */
export const CHANGE_CURSOR = 'x-change-cursor';

/** The changes after a cursor. */
export interface Changes {
  changes: Change[];
  cursor: string;
  /** Whether more changes follow at once. */
  hasMore: boolean;
}

export interface ChangeFeed {
  /**
   * Returns the next changes after a cursor, or from the beginning. It waits for changes if there are none.
   * @param wait for so many seconds at most
   * @param signal ends the wait
   * @throws {ApiError} 400 for a cursor that is none or belongs to other filters, 409 for one of another TLP ceiling, 410 for one
   *   whose history is not known
   */
  next(asked: AskedChanges, principal: Principal, wait: number, signal: AbortSignal): Promise<Changes>;
  /**
   * Returns the cursor of a client that got a list or export of these filters from a snapshot; null: its revision is not
   * known any more.
   */
  cursorAfter(principal: Principal, filters: IndicatorFilters, revision: number): Promise<string | null>;
}

interface AskedChanges {
  cursor: string | undefined;
  /** Those of the request; with a cursor, they may be left out. */
  filters: IndicatorFilters;
  limit: number;
}

/** A page is filled for no longer than this, if few of the rows that it reads match. */
const FILL_MS = 1_000;
/** How often a waiting request asks whether something has been committed; that is known without a query. */
const WAIT_STEP_MS = 50;
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

export function openChangeFeed(
  database: Pick<Database, 'db' | 'read' | 'revisions'>,
  secret: string,
  clock: Clock,
): ChangeFeed {
  const sealer = tokenSealer(secret, PURPOSE);
  const idle = new LRUCache<string, Idle>({ max: MAX_IDLE });
  const tokens = new LRUCache<number, string>({ max: MAX_TOKENS });

  const isCurrent = ({ cursor, nextExpiry }: Idle, now: Date) =>
    database.revisions.isFresh('answers', cursor.synced.revision) &&
    (nextExpiry === null || now < nextExpiry);

  async function poll(
    given: FeedCursor,
    text: string | undefined,
    limit: number,
    principal: Principal,
  ): Promise<Changes> {
    const { now } = principal;
    const known = text === undefined ? undefined : idle.get(text);
    if (text !== undefined && known && isCurrent(known, now) && given.day === dayOf(now))
      return { changes: [], cursor: text, hasMore: false };
    const started = performance.now();
    const changes: Change[] = [];
    let cursor = known?.cursor ?? given;
    for (;;) {
      const rest = limit - changes.length;
      const from = cursor;
      const step = await readChanges(database, (snapshot) => nextChanges(snapshot, from, rest, principal));
      changes.push(...step.changes);
      if (text !== undefined && isUnchanged(given, step, changes, now)) {
        idle.set(text, { cursor: { ...step.cursor, synced: step.here }, nextExpiry: step.nextExpiry });
        return { changes, cursor: text, hasMore: false };
      }
      const isFull = changes.length >= limit || performance.now() - started > FILL_MS;
      if (!step.hasMore || isFull) {
        const isRenewed = changes.length === 0 && !step.hasMore;
        const next = isRenewed ? { ...step.cursor, synced: step.here } : step.cursor;
        return { changes, cursor: sealCursor(sealer, next), hasMore: step.hasMore };
      }
      cursor = step.cursor;
    }
  }

  return {
    async next({ cursor: text, filters, limit }, principal, wait, signal) {
      const given =
        text === undefined ? firstCursor(filters, principal) : readCursor(sealer, text, filters, principal);
      const deadline = performance.now() + wait * 1000;
      for (let at = principal; ; at = { ...principal, now: clock() }) {
        const found = await poll(given, text, limit, at);
        const isIdle = found.cursor === text && !found.hasMore;
        if (!isIdle || performance.now() >= deadline || signal.aborted) return found;
        const latest = idle.get(found.cursor);
        do await delay(WAIT_STEP_MS, undefined, { signal }).catch(() => {});
        while (latest && isCurrent(latest, clock()) && performance.now() < deadline && !signal.aborted);
      }
    },
    async cursorAfter(principal, filters, revision) {
      const token = tokens.get(revision) ?? (await readPoints(database.db, [revision])).tokens.get(revision);
      if (token === undefined) return null;
      tokens.set(revision, token);
      const at = principal.now.getTime();
      const cursor = cursorAfter(filters, principal.tlpCeiling, { revision, token, at }, at);
      return sealCursor(sealer, cursor);
    },
  };
}

/** Whether the copy is what it was, and its cursor needs no renewal: those that are kept forget the oldest changes. */
function isUnchanged(given: FeedCursor, step: Step, changes: readonly Change[], now: Date): boolean {
  return changes.length === 0 && !step.hasMore && given.pass === null && given.day === dayOf(now);
}
