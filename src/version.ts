import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { CODE, ROOT } from './root.ts';

const manifest = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  version: string;
};

export const VERSION = manifest.version;

const commitFile = new URL('commit', CODE);
/** The commit that was built, written by the build where it is made from a repository. */
export const COMMIT = existsSync(commitFile) ? readFileSync(commitFile, 'utf8').trim() : 'unknown';

let digest: string | undefined;

/** Another one whenever the code is another: it may write other bytes of the same state. Read at the first call. */
export function codeDigest(): string {
  digest ??= digestOf(readdirSync(CODE).filter((name) => /\.[jt]s$/.test(name)));
  return digest;
}

function digestOf(names: string[]): string {
  const hash = createHash('sha256');
  for (const name of names.sort()) hash.update(readFileSync(new URL(name, CODE)));
  return hash.digest('base64url');
}
