import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the time of the last commit, or of package.json where there is no repository, in seconds. */
export function lastChange(root) {
  try {
    return Number(git(root, 'log', '-1', '--format=%ct'));
  } catch {
    return Math.floor(statSync(join(root, 'package.json')).mtimeMs / 1000);
  }
}

/** Returns the commit; undefined: there is no repository. */
export function lastCommit(root) {
  try {
    return git(root, 'rev-parse', 'HEAD').trim();
  } catch {
    return undefined;
  }
}

function git(root, ...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
