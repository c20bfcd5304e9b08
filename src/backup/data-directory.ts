import { randomUUID } from 'node:crypto';
import { rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskOf, requireSpace } from '../db/embedded/disk-guard.ts';
import { openEmbeddedSession } from '../db/embedded/embedded-session.ts';
import { flush, flushDirectory } from '../db/embedded/flush.ts';
import { clearLeftovers, restorePaths, SECRET_FILE } from '../db/embedded/leftovers.ts';
import { makeDirectory, PGDATA, requireOwnFiles, takeStoreLock } from '../db/embedded/lock.ts';
import { unmarkMoved } from '../db/embedded/moved.ts';
import { unmarkUnfinished } from '../db/embedded/pglite.ts';
import { throwInUse } from '../db/open.ts';
import type { Session } from '../db/session.ts';
import { TargetError } from './load-store.ts';

/** Disk space that the embedded database takes for an indicator, with what belongs to it, while indexes are made; and besides. */
const BYTES_AN_INDICATOR = 2_500;
const BYTES_BESIDES = 128 * 1024 * 1024;

/** Runs `use` while no other process has the data directory. @throws when another one has it, or it cannot be used */
export async function withLock<T>(directory: string, use: () => Promise<T>): Promise<T> {
  await makeDirectory(directory);
  const lock = await takeStoreLock(directory, (socket) => void socket.destroy());
  if (!lock) return throwInUse(directory);
  try {
    await clearLeftovers(directory);
    await requireOwnFiles(join(directory, PGDATA));
    return await use();
  } finally {
    await lock.release();
  }
}

export async function hasStore(directory: string): Promise<boolean> {
  return stat(join(directory, PGDATA)).then(
    () => true,
    () => false,
  );
}

/** Opens the embedded database in a data directory of which the caller has the lock. */
export const openStoreIn = (directory: string): Promise<Session> =>
  openEmbeddedSession(join(directory, PGDATA));

/**
 * Fills a new embedded database beside the present one, and then puts it in its place. The caller has the lock of the directory.
 * @param indicators how many it will have, for the disk space that is required
 * @param secret replaces the one in the directory; null: that one stays
 * @param replace whether to delete the present one
 * @throws {TargetError} for a directory that has a store, and when the disk has too little space
 */
export async function replaceStore(
  directory: string,
  { indicators, secret, replace }: { indicators: number; secret: string | null; replace: boolean },
  fill: (session: Session) => Promise<void>,
): Promise<void> {
  if (!replace && (await hasStore(directory)))
    throw new TargetError('The data directory has a store already.');
  requireRoom(directory, indicators * BYTES_AN_INDICATOR + BYTES_BESIDES, 'the restored store');
  const { next, nextSecret, replaced } = restorePaths(directory, randomUUID());
  const present = join(directory, PGDATA);
  try {
    const session = await openEmbeddedSession(next, true);
    try {
      await fill(withSpaceChecks(session, directory));
    } finally {
      await session.close().catch(() => {});
    }
    await flushDirectory(next);
    if (secret !== null) await writeFile(nextSecret, `${secret}\n`, { mode: 0o600, flush: true });
    if (await hasStore(directory)) await rename(present, replaced);
    unmarkUnfinished(present);
    await rename(next, present);
    if (secret !== null) await rename(nextSecret, join(directory, SECRET_FILE));
    await unmarkMoved(directory);
    flush(directory);
  } finally {
    await clearLeftovers(directory);
  }
}

/** @param purpose what needs so many bytes, for the message @throws {TargetError} when fewer are free */
export function requireRoom(directory: string, bytes: number, purpose: string): void {
  const free = diskOf(directory).free();
  if (free >= bytes) return;
  const megabytes = (of: number) => Math.ceil(of / 1024 / 1024);
  throw new TargetError(
    `The disk of ${directory} has ${megabytes(free)} MB free, and ${purpose} needs some ${megabytes(bytes)} MB.`,
  );
}

/** The embedded database exits on a full disk: between pieces the space is checked. */
function withSpaceChecks(session: Session, directory: string): Session {
  const disk = diskOf(directory);
  return {
    ...session,
    copyIn: (table, columns, lines) =>
      session.copyIn(
        table,
        columns,
        (async function* () {
          for await (const piece of lines) {
            requireSpace(disk);
            yield piece;
          }
        })(),
      ),
  };
}
