import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, pingDatabase } from '../db/database.ts';
import { holderPid, PGDATA, type StoreLock, takeStoreLock } from '../db/embedded/lock.ts';
import { checkpoint } from './backup.queries.ts';
import { requireRoom } from './data-directory.ts';

/** The process that holds the store gives up a connection that is silent for longer (IDLE_MS in open.ts). */
const PING_MS = 5_000;
const COPY_NAME = /^backup-[0-9a-f-]{36}$/;

/**
 * Runs `use` with a copy of the embedded database as of one moment. All other work waits while its files are
 * copied, and goes on while the rows are read from the copy.
 * @param db the database, perhaps that of another process
 * @throws when the disk has no room for the copy
 */
export async function withEmbeddedCopy<T>(
  db: Db,
  dataDirectory: string,
  use: (pgdata: string) => Promise<T>,
): Promise<T> {
  await removeLeftovers(db, dataDirectory);
  const [from, copy] = [join(dataDirectory, PGDATA), join(dataDirectory, `backup-${randomUUID()}`)];
  const to = join(copy, PGDATA);
  let lock: StoreLock | null = null;
  try {
    await db.connection().execute(async (connection) => {
      // Fewer changes are read again from the log when the copy is opened.
      await checkpoint(connection);
      requireRoom(dataDirectory, await sizeOf(from), 'a backup, which copies the database there,');
      await mkdir(copy, { mode: 0o700 });
      lock = await takeStoreLock(copy, (socket) => void socket.destroy());
      const copying = copyDirectory(from, to).then(() => true);
      // An error of the copy is that of the race, or comes after one of the connection.
      copying.catch(() => {});
      do await pingDatabase(connection);
      while (!(await Promise.race([copying, delay(PING_MS, false, { ref: false })])));
      // The connection was kept, so nothing else was written meanwhile.
      await pingDatabase(connection);
    });
    return await use(to);
  } finally {
    await releaseLock(lock);
    await rm(copy, { recursive: true, force: true });
  }
}

const releaseLock = async (lock: StoreLock | null) => lock?.release();

/**
 * Deletes the copies that killed commands have left: their locks are gone. A command makes and locks its copy while it has the
 * connection, so that a copy without a lock is none that has just been made.
 */
async function removeLeftovers(db: Db, dataDirectory: string): Promise<void> {
  const leftovers = await db.connection().execute(async () => {
    const copies = (await readdir(dataDirectory)).filter((name) => COPY_NAME.test(name));
    const paths = copies.map((name) => join(dataDirectory, name));
    const holders = await Promise.all(paths.map((path) => holderPid(path).catch(gone)));
    return paths.filter((_, i) => holders[i] === null);
  });
  for (const path of leftovers) await rm(path, { recursive: true, force: true });
}

/** A backup that ends meanwhile deletes its copy. */
function gone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function filesOf(directory: string): Promise<{ path: string; isDirectory: boolean }[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => ({ path: entry.name, isDirectory: entry.isDirectory() }));
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const { path, isDirectory } of await filesOf(directory)) {
    const full = join(directory, path);
    bytes += isDirectory ? await sizeOf(full) : (await stat(full)).size;
  }
  return bytes;
}

async function copyDirectory(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const { path, isDirectory } of await filesOf(from)) {
    if (isDirectory) await copyDirectory(join(from, path), join(to, path));
    // File systems that can share the blocks of both files do.
    else await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
  }
}
