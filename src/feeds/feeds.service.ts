import { randomUUID } from 'node:crypto';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { recordExtentChange } from '../db/revision/change-dates.ts';
import { withRevision } from '../db/revision/revision.ts';
import {
  collectionOf,
  exportProblem,
  type Feed,
  type FeedDefinition,
  type FeedGuard,
  guardProblem,
  slugProblem,
} from './feed.ts';
import { forgetDayCounts, forgetHolds } from './feed-guards.queries.ts';
import {
  countBoundKeys,
  deleteFeed,
  findFeed,
  insertFeed,
  lockFeed,
  setExtentChange,
  updateFeed,
} from './feeds.queries.ts';

/** A feed that there is not, that there is already, or that is in use. */
export class FeedError extends Error {
  override name = 'FeedError';
}

/** A definition that is not valid. */
export class InvalidFeedError extends FeedError {
  override name = 'InvalidFeedError';
}

/** Returns whether a feed still is this collection: neither removed nor changed in what it has. */
export async function isCollection(db: Db, slug: string, id: string): Promise<boolean> {
  const feed = await findFeed(db, slug);
  return feed !== undefined && collectionOf(feed).collection.id === id;
}

/** @throws {FeedError} for a slug that another feed has; {InvalidFeedError} for a definition that is not valid */
export async function createFeed(
  db: Db,
  definition: FeedDefinition & Partial<FeedGuard>,
  by: AuditActor,
): Promise<Feed> {
  const guard = { minEntries: definition.minEntries ?? null, minShare: definition.minShare ?? null };
  const problem =
    slugProblem(definition.slug) ?? exportProblem(definition) ?? guardProblem({ ...definition, ...guard });
  if (problem !== null) throw new InvalidFeedError(problem);
  const own = { id: randomUUID(), createdAt: by.now, createdBy: by.who, changedAt: by.now };
  const feed = { ...definition, ...guard, ...own };
  await db.transaction().execute(async (trx) => {
    if (!(await insertFeed(trx, feed))) throw new FeedError(`There is a feed ${feed.slug} already.`);
    const object = { kind: 'feed' as const, id: feed.id };
    await writeAudit(trx, by, { action: 'feed.create', object, before: null, after: feed, reason: null });
  });
  return feed;
}

const CHANGED_SINCE =
  'Somebody has changed this feed since you opened it. Reload the page to see the feed as it is now.';

/** The properties that decide which entries a feed has. */
const EXTENT = ['format', 'query', 'tlpCeiling'] as const;

/**
 * @param unchangedSince the `changedAt` of the feed on which the change is based; absent: any
 * @throws {FeedError} for a feed that does not exist, or was changed since; {InvalidFeedError} for a definition that is not valid
 */
export async function changeFeed(
  db: Db,
  slug: string,
  change: Partial<Omit<FeedDefinition, 'slug'> & FeedGuard>,
  by: AuditActor,
  unchangedSince?: Date,
): Promise<Feed> {
  return withRevision(db, async (trx, revision) => {
    const before = (await lockFeed(trx, slug)) ?? missing(slug);
    if (unchangedSince && unchangedSince.getTime() !== before.changedAt.getTime())
      throw new FeedError(CHANGED_SINCE);
    // Each change has another time, also two in a millisecond or by nodes whose clocks differ.
    const changedAt = new Date(Math.max(by.now.getTime(), before.changedAt.getTime() + 1));
    const after = { ...before, ...change, changedAt };
    const problem = exportProblem(after) ?? guardProblem(after);
    if (problem !== null) throw new InvalidFeedError(problem);
    await updateFeed(trx, after);
    if (after.minEntries === null && after.minShare === null) await forgetHolds(trx, after.id);
    if (EXTENT.some((name) => before[name] !== after[name])) {
      // Cached responses of the feed as it was must not return when it is changed back: their serials are lower.
      revision.advance();
      // The number of entries on an earlier day was that of other entries.
      await forgetDayCounts(trx, after.id);
    }
    if (
      exportProblem(before) !== null ||
      collectionOf(before).collection.id !== collectionOf(after).collection.id
    )
      await setExtentChange(trx, before, await recordExtentChange(trx));
    const object = { kind: 'feed' as const, id: after.id };
    await writeAudit(trx, by, { action: 'feed.change', object, before, after, reason: null });
    return after;
  });
}

/** @throws {FeedError} for a feed that does not exist, or to which usable keys are bound */
export async function removeFeed(db: Db, slug: string, by: AuditActor): Promise<Feed> {
  return db.transaction().execute(async (trx) => {
    const feed = (await lockFeed(trx, slug)) ?? missing(slug);
    const keys = await countBoundKeys(trx, feed.id, by.now);
    if (keys > 0) throw new FeedError(`API keys bound to the feed ${slug}: ${keys}. Revoke them first.`);
    await deleteFeed(trx, feed.id);
    const object = { kind: 'feed' as const, id: feed.id };
    await writeAudit(trx, by, { action: 'feed.remove', object, before: feed, after: null, reason: null });
    return feed;
  });
}

/** @throws {FeedError} always */
export function missing(slug: string): never {
  throw new FeedError(`There is no feed ${slug}.`);
}
