import type { Db } from '../db/database.ts';
import { idPages } from '../db/expressions.ts';
import { withRevision } from '../db/revision/revision.ts';
import {
  countDelisting,
  countDelistings,
  forgetDayCounts,
  lastCopyBeforeHolds,
  writeHolds,
} from '../feeds/feed-guards.queries.ts';
import { evaluateGuards } from '../feeds/feed-guards.ts';
import { delistInUndoData } from '../imports/changes.queries.ts';
import type { AssertLease } from '../imports/import-context.ts';
import { writeRecomputed } from '../indicators/state/recompute.ts';
import { findStatedIndicators } from '../indicators/state/stated.queries.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import { markDelisted } from './feeds.queries.ts';
import type { DelistingCounts } from './source-settings.ts';

const PAGE = 10_000;
/** Indicators per transaction: written in well under the 200 ms for which the revision may be locked. */
const BATCH = 500;

export interface Delisting {
  sourceId: string;
  /** Ids of all indicators in the new good copy. */
  present: ReadonlySet<string>;
  /** When the last good copy was fetched, which contained the missing ones unless their delisting is held back. */
  lastCopyAt: Date | null;
  now: Date;
  /** Whether the bounds of feeds do not apply. */
  allowShrink: boolean;
  /** Throws when the run may no longer write. */
  assertLease: AssertLease;
}

/**
 * Delists the indicators of a snapshot list that are missing from a new good copy, so that their lifetime starts now.
 * Those that would take a feed under its bound are held back: they stay members, and the next run decides again.
 */
export async function delistMissing(db: Db, delisting: Delisting): Promise<DelistingCounts> {
  const { sourceId, present, now, allowShrink, assertLease } = delisting;
  const earlier = await lastCopyBeforeHolds(db, sourceId);
  const lastCopyAt = earlier ? earlier.lastCopyAt : delisting.lastCopyAt;
  let left = 0;
  for (;;) {
    const number = await countDelistings(db);
    const missing = await findMissing(db, sourceId, present);
    const evaluation = await evaluateGuards(db, sourceId, missing, now);
    const heldBack = new Set(allowShrink ? [] : evaluation.shrinking.flatMap(({ ids }) => ids));
    const gone = missing.filter((id) => !heldBack.has(id));
    const before = evaluation.hasBounds && !allowShrink ? number : null;
    const { count, isComplete } = await delist(db, { ...delisting, lastCopyAt }, gone, before);
    left += count;
    if (!isComplete) continue;
    const { shrinking, unguarded } = evaluation;
    // The accepted size is the one that later runs compare with.
    if (allowShrink) for (const { feed } of shrinking) await forgetDayCounts(db, feed.id);
    const holds = heldBack.size > 0 ? shrinking : [];
    if (earlier || holds.length > 0)
      await withRevision(db, async (trx) => {
        await assertLease(trx);
        const rows = holds.map(({ feed, ids }) => ({ feedId: feed.id, entries: ids.length }));
        await writeHolds(trx, sourceId, rows, now, delisting.lastCopyAt);
      });
    const heldBackFeeds = holds.map(({ feed }) => feed.slug);
    return { left, heldBack: heldBack.size, heldBackFeeds, unguardedFeeds: unguarded };
  }
}

async function findMissing(db: Db, sourceId: string, present: ReadonlySet<string>): Promise<string[]> {
  const missing: string[] = [];
  for await (const members of idPages((after) => findStatedIndicators(db, sourceId, after, PAGE, true)))
    for (const id of members) if (!present.has(id)) missing.push(id);
  return missing;
}

/**
 * Delists indicators in batches. It stops when another run has delisted since the bounds of feeds were evaluated: both
 * together may take a feed under its bound.
 * @param before the number of batches of delistings before the evaluation; null: no bound was evaluated
 */
async function delist(
  db: Db,
  { sourceId, lastCopyAt, now, assertLease }: Delisting,
  ids: readonly string[],
  before: number | null,
): Promise<{ count: number; isComplete: boolean }> {
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH);
    await currentMatcher(db);
    const isWritten = await withRevision(db, async (trx, revision) => {
      await assertLease(trx);
      if (!(await countDelisting(trx, before === null ? null : before + at / BATCH))) return false;
      await markDelisted(trx, sourceId, batch, lastCopyAt, now);
      await delistInUndoData(trx, sourceId, batch, now);
      await writeRecomputed(trx, batch, await currentMatcher(trx), revision, now);
      return true;
    });
    if (!isWritten) return { count: at, isComplete: false };
  }
  return { count: ids.length, isComplete: true };
}
