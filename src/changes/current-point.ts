import type { Database, Db } from '../db/database.ts';
import { inSnapshot } from '../db/database.ts';
import { ApiError } from '../http/errors.ts';
import type { FeedCursor, Point } from './cursor.ts';
import { readPoints } from './history.queries.ts';

/** Thrown when the history since a cursor is not known; the message says why. */
export class CursorGone extends Error {
  override name = 'CursorGone';
}

/** @throws {CursorGone} when the store's history is not that of the cursor, or no longer goes back so far */
export async function currentPoint(
  db: Db,
  { synced, pass }: Pick<FeedCursor, 'synced' | 'pass'>,
): Promise<Pick<Point, 'revision' | 'token'>> {
  const points = [synced, ...(pass ? [pass.base] : [])].filter(({ revision }) => revision > 0);
  const { tokens, ...latest } = await readPoints(
    db,
    points.map(({ revision }) => revision),
  );
  for (const { revision, token } of points) {
    const known = tokens.get(revision);
    if (known === token) continue;
    throw new CursorGone(
      known === undefined && revision < latest.revision
        ? 'The cursor is older than the changes that are kept.'
        : 'The cursor belongs to another store, or to a state that has been lost.',
    );
  }
  return latest;
}

/**
 * Reads changes from one snapshot: of a replica, or of the primary if the replica lacks the revision of the cursor.
 * @throws {ApiError} 410 when the history since the cursor is not known
 */
export async function readChanges<T>(
  { db, read }: Pick<Database, 'db' | 'read'>,
  work: (snapshot: Db) => Promise<T>,
): Promise<T> {
  const found = await read((from, mayLag) =>
    inSnapshot(from, work).catch((error: unknown) => {
      if (error instanceof CursorGone) return mayLag ? null : asGone(error);
      throw error;
    }),
  );
  return found ?? inSnapshot(db, work).catch((error: unknown) => asGone(error));
}

function asGone(error: unknown): never {
  if (!(error instanceof CursorGone)) throw error;
  throw new ApiError('gone', `${error.message} Begin without a cursor, and replace the copy.`);
}
