import type { Db } from '../db/database.ts';
import { listIndicators } from '../indicators/read/list.queries.ts';
import { collectionOf, exportProblem, type Feed } from './feed.ts';

/** Returns how many indicators a feed has now, for readers up to its TLP ceiling; null: it cannot be read. */
export async function countEntries(db: Db, feed: Feed, now: Date): Promise<number | null> {
  if (exportProblem(feed) !== null) return null;
  const { filters, collection } = collectionOf(feed);
  const principal = { tlpCeiling: feed.tlpCeiling, now };
  const { total } = await listIndicators(db, principal, filters, { page: 1, pageSize: 1 });
  return Math.min(total, collection.limit?.count ?? total);
}
