import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Returns the time of the last commit, or of package.json where there is no repository, in seconds. */
export function lastChange() {
  try {
    return Number(
      execFileSync('git', ['log', '-1', '--format=%ct'], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
  } catch {
    return Math.floor(statSync(join(root, 'package.json')).mtimeMs / 1000);
  }
}
