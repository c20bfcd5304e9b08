import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, pingDatabase } from '../db/database.ts';
import { PGDATA } from '../db/embedded/lock.ts';
import { checkpoint } from './backup.queries.ts';
import { requireRoom } from './data-directory.ts';

/** Copies that a killed command has left are deleted after this time. */
const LEFTOVER_MS = 86_400_000;
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
  await removeLeftovers(dataDirectory);
  const [from, to] = [join(dataDirectory, PGDATA), join(dataDirectory, `backup-${randomUUID()}`)];
  try {
    await db.connection().execute(async (connection) => {
      // Fewer changes are read again from the log when the copy is opened.
      await checkpoint(connection);
      requireRoom(dataDirectory, await sizeOf(from), 'a backup, which copies the database there,');
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
    await rm(to, { recursive: true, force: true });
  }
}

async function removeLeftovers(dataDirectory: string): Promise<void> {
  for (const name of (await readdir(dataDirectory)).filter((name) => COPY_NAME.test(name))) {
    const path = join(dataDirectory, name);
    const age = Date.now() - (await stat(path)).mtimeMs;
    if (age > LEFTOVER_MS) await rm(path, { recursive: true, force: true });
  }
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
