import type { Db } from '../db/database.ts';
import { type FeedGuard, feedExport, formatNamed } from './feed.ts';
import {
  countSustained,
  type FeedEntries,
  findGuardedFeeds,
  findLeaving,
  findReferenceCount,
  type GuardedFeed,
  hasDayCount,
  writeDayCount,
} from './feed-guards.queries.ts';

/** A feed that delisting would take under its bound, and the entries that it would lose. */
interface Shrinking {
  feed: Pick<GuardedFeed, 'id' | 'slug'>;
  ids: readonly string[];
}

export interface GuardEvaluation {
  shrinking: Shrinking[];
  /** The slugs of feeds that cannot be read, so that their bounds cannot be evaluated. */
  unguarded: string[];
  /** Whether there is a bound: else, delistings of other runs do not matter. */
  hasBounds: boolean;
}

/** Indicators per statement. */
const PAGE = 10_000;

/**
 * Returns the feeds that would fall under their bounds if a source delisted these indicators. Feeds are evaluated
 * separately, so that the order of feeds does not matter.
 */
export async function evaluateGuards(
  db: Db,
  sourceId: string,
  missing: readonly string[],
  now: Date,
): Promise<GuardEvaluation> {
  const { guarded, unguarded } = await readGuards(db, now);
  const shrinking: Shrinking[] = [];
  for (const { feed, entries } of guarded) {
    const ids: string[] = [];
    for (let at = 0; at < missing.length; at += PAGE)
      ids.push(...(await findLeaving(db, entries, sourceId, missing.slice(at, at + PAGE))));
    if (ids.length === 0) continue;
    // Without the limit: those beyond it take the place of those that leave.
    const remaining = (await countSustained(db, { ...entries, limit: null })) - ids.length;
    const reference = feed.minShare === null ? undefined : await findReferenceCount(db, feed.id, now);
    if (isUnder(Math.min(remaining, entries.limit ?? remaining), feed, reference))
      shrinking.push({ feed, ids });
  }
  return { shrinking, unguarded, hasBounds: guarded.length > 0 };
}

function isUnder(count: number, { minEntries, minShare }: FeedGuard, reference: number | undefined): boolean {
  if (minEntries !== null && count < minEntries) return true;
  return minShare !== null && reference !== undefined && count * 100 < reference * minShare;
}

/**
 * Records the number of entries of each feed with a bound, on the first run of a day. It must be called before the run
 * imports anything: until the old members of a list are delisted, a feed has both them and the new ones.
 */
export async function recordDayCounts(db: Db, now: Date): Promise<void> {
  for (const { feed, entries } of (await readGuards(db, now)).guarded) {
    if (await hasDayCount(db, feed.id, now)) continue;
    const count = await countSustained(db, entries);
    // Before the first run of its sources, a feed has no entries to compare with.
    if (count > 0) await writeDayCount(db, feed.id, now, count);
  }
}

async function readGuards(db: Db, now: Date) {
  const guarded: { feed: GuardedFeed; entries: FeedEntries }[] = [];
  const unguarded: string[] = [];
  for (const feed of await findGuardedFeeds(db)) {
    const entries = entriesOf(feed, now);
    if (entries) guarded.push({ feed, entries });
    else unguarded.push(feed.slug);
  }
  return { guarded, unguarded };
}

/** Returns the entries of a feed; null: this version rejects its format or query, as readers of the feed see. */
function entriesOf({ id, slug, format, query, tlpCeiling }: GuardedFeed, now: Date): FeedEntries | null {
  try {
    const feed = { id, slug, format: formatNamed(format), query, tlpCeiling };
    const { selection, format: of } = feedExport(feed, { tlpCeiling, now }, null);
    const { principal, filters, limit } = selection;
    return { principal, filters, of, limit: limit?.count ?? null };
  } catch {
    return null;
  }
}
