import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flush } from './flush.ts';

/**
 * The mark of a store that was moved to another database, and must not go on with the same history. A file in the data directory, beside
 * the files of the embedded database.
 */
const FILE = 'moved';

/** Returns once the mark is on the disk. @param to the other database, without user name and password */
export async function markMoved(dataDirectory: string, to: string, now: Date): Promise<void> {
  await writeFile(join(dataDirectory, FILE), `${to}\n${now.toISOString()}\n`, { mode: 0o600, flush: true });
  flush(dataDirectory);
}

export async function unmarkMoved(dataDirectory: string): Promise<void> {
  await rm(join(dataDirectory, FILE), { force: true });
}

/** @throws for the data directory of a store that was moved */
export async function requireNotMoved(dataDirectory: string): Promise<void> {
  const path = join(dataDirectory, FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return;
  const [to, at] = text.split('\n');
  throw new Error(
    `The store in ${dataDirectory} was moved to ${to} at ${at}: set DATABASE_URL. If nothing has arrived there, delete ${path} to go on with this one.`,
  );
}
