import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PGDATA } from './lock.ts';

/** The secret of the embedded database, a file in the data directory. */
export const SECRET_FILE = 'secret';

/** Parts of names: of what is being restored, and of a store that is being replaced. */
const [NEXT, REPLACED] = ['restore', 'replaced'];
const LEFTOVER = new RegExp(`^(${SECRET_FILE}|${PGDATA})\\.(${NEXT}|${REPLACED})-(.+)$`);

/** Returns the paths of a restore in a data directory. @param name of this restore alone */
export function restorePaths(directory: string, name: string) {
  const path = (file: string, state: string) => join(directory, `${file}.${state}-${name}`);
  return {
    next: path(PGDATA, NEXT),
    nextSecret: path(SECRET_FILE, NEXT),
    replaced: path(PGDATA, REPLACED),
  };
}

/**
 * Deletes what a restore that failed or was killed has left. One that ended between its two renames of stores is undone; one that
 * ended before its secret was in place is completed. The caller has the lock of the directory.
 */
export async function clearLeftovers(directory: string): Promise<void> {
  const leftovers = (await readdir(directory))
    .map((file) => LEFTOVER.exec(file))
    .filter((match) => match !== null);
  const isThere = (name: string) => leftovers.some(([file]) => file === name);
  for (const [file, kind, state, name] of leftovers) {
    if (kind === SECRET_FILE && !isThere(`${PGDATA}.${NEXT}-${name}`))
      await rename(join(directory, file), join(directory, SECRET_FILE));
    else if (state === REPLACED && !(await exists(join(directory, PGDATA))))
      await rename(join(directory, file), join(directory, PGDATA));
  }
  // Secrets first: one without its store beside it belongs to the store that is in place.
  for (const [file] of leftovers.sort(([, a = ''], [, b = '']) => b.localeCompare(a)))
    await rm(join(directory, file), { recursive: true, force: true });
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
