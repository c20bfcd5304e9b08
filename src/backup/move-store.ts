import type { AuditActor } from '../audit/audit.queries.ts';
import { markMoved, requireNotMoved, unmarkMoved } from '../db/embedded/moved.ts';
import { lastMigration } from '../db/migrate.ts';
import { openPostgresSession } from '../db/postgres/postgres-session.ts';
import { recordMove } from './backup.queries.ts';
import { hasStore, openStoreIn, withLock } from './data-directory.ts';
import { loadStore, TargetError } from './load-store.ts';
import type { Manifest } from './manifest.ts';
import { withStoreSnapshot } from './write-backup.ts';

interface MoveOptions {
  /** The data directory with the embedded database. */
  from: string;
  /** The URL of an empty database in PostgreSQL. */
  to: string;
  /** Its name for messages, without user name and password. */
  toName: string;
  by: AuditActor;
}

const NAME = 'tipline move';

/**
 * Copies the store in a data directory to PostgreSQL, with its history, so that cursors and ETags stay valid, and marks the directory: two
 * stores must not go on with one history. The mark is written before the copy becomes visible.
 * @throws {TargetError} for a database that has a store already; another error when a process uses the directory, or a server the database
 */
export async function moveStore({ from, to, toName, by }: MoveOptions): Promise<Manifest> {
  return withLock(from, async () => {
    if (!(await hasStore(from))) throw new TargetError(`There is no database in ${from}.`);
    await requireNotMoved(from);
    const [source, target] = [await openStoreIn(from), await openPostgresSession(to, NAME)];
    try {
      return await withStoreSnapshot(source, { secret: null, now: by.now }, async (snapshot) => {
        const { manifest } = snapshot;
        await loadStore(target, snapshot, {
          now: by.now,
          replace: false,
          beginsHistory: false,
          async beforeCommit(db) {
            await recordMove(db, by, manifest);
            await markMoved(from, toName, by.now);
          },
        });
        return manifest;
      });
    } catch (error) {
      // The connection may have failed while the commit was under way.
      if (!(await hasArrived(to))) await unmarkMoved(from);
      throw error;
    } finally {
      await target.close().catch(() => {});
      await source.close();
    }
  });
}

/** Returns whether the database has a store, which it had not before; also if it does not answer. */
async function hasArrived(url: string): Promise<boolean> {
  try {
    const session = await openPostgresSession(url, NAME);
    return (await lastMigration(session.db).finally(session.close)) !== null;
  } catch {
    return true;
  }
}
