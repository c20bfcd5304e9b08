import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { CODE, ROOT } from './root.ts';

const manifest = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  version: string;
  engines: { node: string };
};

export const VERSION = manifest.version;

/** The oldest version of Node.js that is supported. */
export const OLDEST_NODE = manifest.engines.node.replace('>=', '');

const commitFile = new URL('commit', CODE);
/** The commit of the build; only a build in a Git repository records it. */
export const COMMIT = existsSync(commitFile) ? readFileSync(commitFile, 'utf8').trim() : 'unknown';

let digest: string | undefined;

/**
 * Returns a digest of the code, which the first call computes. Other code may write other bytes for the same state.
 */
export function codeDigest(): string {
  digest ??= digestOf(readdirSync(CODE).filter((name) => /\.[jt]s$/.test(name)));
  return digest;
}

function digestOf(names: string[]): string {
  const hash = createHash('sha256');
  for (const name of names.sort()) hash.update(readFileSync(new URL(name, CODE)));
  return hash.digest('base64url');
}
