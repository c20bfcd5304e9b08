import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates a directory level by level: Node's `mkdir` with `recursive` never returns on a file system that
 * cannot hold files, such as /proc.
 */
export async function makeDirectory(directory: string): Promise<void> {
  if (await isDirectory(directory)) return;
  const parent = dirname(resolve(directory));
  if (parent !== resolve(directory)) await makeDirectory(parent);
  await mkdir(directory, { mode: 0o700 }).catch(async (error) => {
    if (!(await isDirectory(directory))) throw error;
  });
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/**
 * Requires that this user owns the database: files that another user adds, root included, would lock the
 * owner out.
 * @throws when the database belongs to another user than the one of this process
 */
export async function requireOwnFiles(pgdata: string): Promise<void> {
  const owner = await stat(pgdata).then(
    ({ uid }) => uid,
    () => undefined,
  );
  const user = process.geteuid?.();
  if (owner === undefined || user === undefined || owner === user) return;
  throw new Error(
    `The database in ${pgdata} belongs to the user with id ${owner}, and this is the user with id ${user}: run the command as its owner, or change the owner of the whole directory.`,
  );
}
