// Builds if sources are newer than the last build, then runs a command of Tipline in this process, so that a signal
// from npm reaches the server itself. The build runs in a child process, so that it takes no memory of the server.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newest } from './newest.mjs';

const scripts = dirname(fileURLToPath(import.meta.url));
const root = dirname(scripts);
/** The inputs of the build. */
const INPUTS = ['src', 'web', 'scripts', 'bench/product.ts', 'package-lock.json'];

const built = statSync(join(root, 'dist', 'main.js'), { throwIfNoEntry: false });
const source = newest(root, INPUTS);
const reason = built ? `${source.path} is newer than what is built` : 'nothing is built yet';

if (!built || source.mtimeMs > built.mtimeMs) {
  if (mayBuild()) build();
  else leaveBuilding();
}
await import('../dist/main.js');

function build() {
  process.stderr.write(`Building, for ${reason}.\n`);
  const { status } = spawnSync(process.execPath, [join(scripts, 'build.mjs')], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function mayBuild() {
  try {
    accessSync(root, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function leaveBuilding() {
  const remedy = `this user may not write to ${root}: let one who may run npm run build`;
  process.stderr.write(
    `${built ? 'Starting what is built, though' : 'Not started:'} ${reason}, and ${remedy}.\n`,
  );
  if (!built) process.exit(1);
}
