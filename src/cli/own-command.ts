import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODE, ROOT } from '../root.ts';

/**
 * Returns the shell command with which this Tipline is started again from a directory: `tipline` if it is installed
 * for all users, `npx tipline` in a checkout or where it is installed in `node_modules`, else `node` with a path.
 * @param script the path that Node.js was started with; a symbolic link is not resolved
 */
export function ownCommand(script: string, directory: string): string {
  const isLinked = basename(script) === 'tipline';
  if (isLinked && basename(dirname(script)) !== '.bin') return 'tipline';
  const isLocal = isLinked && dirname(script) === join(directory, 'node_modules', '.bin');
  if (isLocal || directory === dirname(fileURLToPath(new URL('package.json', ROOT)))) return 'npx tipline';
  return `node '${fileURLToPath(new URL('main.js', CODE))}'`;
}
