import type { ChangeFeed } from '../changes/change-feed.ts';
import type { FeedCursor } from '../changes/cursor.ts';
import type { Database } from '../db/database.ts';
import type { DecisionContext, DecisionFilter } from './decisions.ts';
import type { FeedRows } from './feed-rows.queries.ts';
import type { StoredPosition } from './positions.queries.ts';

export interface StreamDeps {
  database: Pick<Database, 'db' | 'kind' | 'requireSpace'>;
  changes: Pick<ChangeFeed, 'follow' | 'positionAfter'>;
}

/** A request for the stream. */
export interface StreamRequest extends DecisionContext {
  /** The feeds of the key. */
  feeds: readonly FeedRows[];
  filter: DecisionFilter;
  /**
   * Whether a decision that is sent again is deleted in the same response: the firewall bouncer, which applies deletions first, does
   * not change the timeout of an element that is in its nftables set. Others apply them last.
   */
  deletesBeforeRenewal: boolean;
}

/** Returns whether a point of a feed is one of what the feed is now, for this reader. */
export const isSameFeed = (
  { collection, ceiling }: FeedCursor,
  { collection: now, principal }: FeedRows,
): boolean => collection?.id === now.id && ceiling === principal.tlpCeiling;

export const isSameFilter = (a: DecisionFilter, b: DecisionFilter): boolean =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

/** Returns whether a client has been sent the decisions of the same feeds, in the same extent, as it requests now. */
export function isSameExtent({ cursors, filter }: StoredPosition, request: StreamRequest): boolean {
  const { feeds } = request;
  return (
    isSameFilter(filter, request.filter) &&
    Object.keys(cursors).length === feeds.length &&
    feeds.every((feed) => {
      const cursor = cursors[feed.collection.feed];
      return cursor !== undefined && isSameFeed(cursor, feed);
    })
  );
}
