import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiDifference, apiNotes, isAtLeast, nextApiVersion } from './api-difference.mjs';

const OPENAPI = 'openapi/openapi.json';

/**
 * Compares the API in a checkout with that of the release before a version.
 * @returns {string} the section of the release notes about it; empty before the first release
 * @throws {Error} the API has changed more than its version says
 */
export function apiSinceRelease(root, version) {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const tags = git('describe', '--tags', '--abbrev=0', '--match', 'v*', '--exclude', `v${version}`);
  if (tags.status !== 0) return '';
  const tag = tags.stdout.trim();
  const earlier = execFileSync('git', ['show', `${tag}:${OPENAPI}`], { cwd: root, maxBuffer: 100e6 });
  const [before, after] = [earlier, readFileSync(join(root, OPENAPI))].map((text) => JSON.parse(text));
  const difference = apiDifference(before, after);
  const lowest = nextApiVersion(before.info.version, difference);
  if (!isAtLeast(after.info.version, lowest))
    throw new Error(
      `the API has changed since ${tag}, so its version is at least ${lowest} (DESCRIPTION_VERSION in src/http/openapi.ts), ` +
        `not ${after.info.version}:\n\n${apiNotes(difference, tag)}`,
    );
  return apiNotes(difference, tag);
}
