import type { ChangeFeed } from '../../changes/change-feed.ts';
import type { Db } from '../../db/database.ts';
import { readRevision } from '../../db/revision/revision.ts';
import type { Principal } from '../../db/visibility.ts';
import { collectionOf, type Feed } from '../feed.ts';

/** Returns the cursor of a copy of the feed as it is now. */
export async function currentCursor(
  db: Db,
  changes: ChangeFeed,
  feed: Feed,
  reader: Principal,
): Promise<string> {
  const cursor = await changes.cursorAfter(reader, collectionOf(feed), await readRevision(db));
  if (cursor === null) throw new Error('the latest revision has no token');
  return cursor;
}
