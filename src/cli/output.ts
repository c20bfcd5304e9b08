import { randomBytes } from 'node:crypto';
import { constants, createWriteStream, fstatSync, type Stats } from 'node:fs';
import { chmod, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';

/** Where a command writes its result. */
export interface Output {
  stream: Writable;
  /** Puts a finished file in its place. */
  commit(): Promise<void>;
  /** Leaves what was there as it was. Harmless after `commit`. */
  discard(): Promise<void>;
}

const nothing = async () => {};
const STANDARD_OUTPUT: Output = { stream: process.stdout, commit: nothing, discard: nothing };

/**
 * Opens the output of a command: `-` or no path is standard output; a pipe or a device is written to as it is; a file is
 * replaced, under its mode, once the new one is complete. Symbolic links are followed.
 * @throws an error of the file system; for a pipe that nobody reads from, too: opening it would wait for a reader
 */
export async function openOutput(path = '-'): Promise<Output> {
  if (path === '-') return STANDARD_OUTPUT;
  const before = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (before && isStandardOutput(before)) return STANDARD_OUTPUT;
  if (before && !before.isFile()) {
    const handle = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
    // Writing may wait, which Node does on other threads.
    await handle.close();
    return { stream: createWriteStream(path), commit: nothing, discard: nothing };
  }
  return openFile(before ? await realpath(path) : await linkTarget(path), before);
}

function isStandardOutput({ dev, ino }: Stats): boolean {
  const own = fstatSync(1);
  return own.dev === dev && own.ino === ino;
}

async function linkTarget(path: string): Promise<string> {
  const target = await readlink(path).catch(() => null);
  return target === null ? path : resolve(dirname(path), target);
}

async function openFile(path: string, before: Stats | null): Promise<Output> {
  // A name that nobody can guess, and no file that is there: in a shared directory another user may have put a link.
  const unfinished = join(dirname(path), `.tipline-${randomBytes(8).toString('hex')}.part`);
  const handle = await open(unfinished, 'wx');
  return {
    stream: handle.createWriteStream(),
    async commit() {
      if (before) await chmod(unfinished, before.mode & 0o777);
      await rename(unfinished, path);
    },
    async discard() {
      await rm(unfinished, { force: true });
    },
  };
}
