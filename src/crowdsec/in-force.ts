import type { Db } from '../db/database.ts';
import { type DecisionFilter, matchingBlocks } from './decisions.ts';
import { type FeedRow, type FeedRows, findRowsFor } from './feed-rows.queries.ts';

/** Blocks that are looked for by one statement. */
const BATCH = 5_000;

/**
 * Returns which of these blocks are blocked now, for any indicator of any of the feeds, with the indicator that lasts longest: the
 * same block may be listed itself and be a part of networks.
 */
export async function findInForce(
  db: Db,
  feeds: readonly FeedRows[],
  filter: DecisionFilter,
  blocks: readonly string[],
): Promise<Map<string, FeedRow>> {
  const found = new Map<string, FeedRow>();
  for (let start = 0; start < blocks.length; start += BATCH) {
    const batch = new Set(blocks.slice(start, start + BATCH));
    for (const row of await findRowsFor(db, feeds, [...batch]))
      for (const block of matchingBlocks(row, filter)) {
        const other = found.get(block);
        if (batch.has(block) && (other === undefined || endOf(row) > endOf(other))) found.set(block, row);
      }
  }
  return found;
}

const endOf = ({ expires_at }: FeedRow) =>
  expires_at === null ? Number.POSITIVE_INFINITY : Number(expires_at);
