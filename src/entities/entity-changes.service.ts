import { readChanges } from '../changes/current-point.ts';
import { dayOf, type FeedCursor, firstCursor, readCursor, sealCursor } from '../changes/cursor.ts';
import { watchWait } from '../changes/watch-wait.ts';
import type { Clock } from '../clock.ts';
import type { Database, Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { tokenSealer } from '../secrets/sealed-token.ts';
import { type EntityFeed, findEntityChanges } from './entity-changes.queries.ts';

export interface EntityFeedDeps {
  database: Pick<Database, 'db' | 'read' | 'revisions'>;
  /** Encrypts cursors. */
  secret: string;
  clock: Clock;
  /** Ends the wait for changes. */
  stopping: AbortSignal;
}

/** A page of changes as it is sent. */
interface Changes<Row> {
  changed: Row[];
  removed: { id: string; name: string }[];
  cursor: string;
}

/**
 * Returns a function that returns all changes of actors or campaigns since a cursor, or waits for them.
 * @param findRows returns the rows with these ids, in any order
 */
export function entityChanges<Filters extends object, Row extends { id: string }>(
  { database, secret, clock, stopping }: EntityFeedDeps,
  feed: EntityFeed<Filters>,
  findRows: (db: Db, principal: Principal, ids: string[]) => Promise<Row[]>,
) {
  const sealer = tokenSealer(secret, `cursors of the change feed of the table ${feed.table}`);

  async function poll(given: FeedCursor<Filters>, text: string | undefined, asked: Principal) {
    // The clock of another node may have been ahead.
    const principal = { ...asked, now: new Date(Math.max(Number(asked.now), given.synced.at)) };
    const { rows, found } = await readChanges(database, async (snapshot) => {
      const found = await findEntityChanges(snapshot, feed, given, principal);
      return { found, rows: await findRows(snapshot, principal, found.changedIds) };
    });
    const { changedIds, removed, synced } = found;
    const day = dayOf(principal.now);
    const isSame = changedIds.length + removed.length === 0 && given.day >= day;
    const byId = new Map(rows.map((row) => [row.id, row]));
    const changes: Changes<Row> = {
      changed: changedIds.flatMap((id) => byId.get(id) ?? []),
      removed,
      cursor: text !== undefined && isSame ? text : sealCursor(sealer, { ...given, synced, day }),
    };
    return { changes, revision: synced.revision };
  }

  return async (
    { cursor: text, wait, ...rest }: { cursor?: string | undefined; wait: number },
    principal: Principal,
    isClosed: () => boolean,
  ): Promise<Changes<Row>> => {
    const filters = rest as Filters;
    const given =
      text === undefined ? firstCursor(filters, principal) : readCursor(sealer, text, filters, principal);
    let { changes, revision } = await poll(given, text, principal);
    const watch = watchWait(database.revisions, wait, () => isClosed() || stopping.aborted);
    const isCurrent = () => database.revisions.isFresh('revision', revision);
    while (changes.cursor === text && (await watch.changes(isCurrent)))
      ({ changes, revision } = await poll(given, text, { ...principal, now: clock() }));
    return changes;
  };
}
