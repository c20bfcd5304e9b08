import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What the product needs beside its compiled code, and what `npm run` needs to compile it. */
const COPIED = [
  'src',
  'web',
  'scripts',
  'migrations',
  'sample',
  'whitelist',
  'sigma',
  'bench',
  'package.json',
  'package-lock.json',
];

/** A copy of the tree as a user has it before his first build: what is built in it does not touch ours. */
export function copyTree(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const name of COPIED) cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
}

/**
 * Compiles the sources as they are now, so that no test of the command line runs on a stale build.
 * @returns the path of its main.js, or null when the sources do not compile
 */
export function buildProduct(directory: string): string | null {
  copyTree(directory);
  const { status } = spawnSync(process.execPath, [join(directory, 'scripts', 'build.mjs')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0 ? join(directory, 'dist', 'main.js') : null;
}
