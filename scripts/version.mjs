// Run by `npm version`, between its change of package.json and its commit: checks the version of the API, and writes the
// changelog and all else that states the version.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiSinceRelease } from './release/api-since-release.mjs';
import { withRelease } from './release/changelog.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const today = new Date().toISOString().slice(0, 10);

/** The files that state the version, and how their texts change. */
const FILES = {
  'CHANGELOG.md': (text) => withRelease(text, version, today),
  'compose.yaml': (text) => text.replace(/(localhost\/tipline:)\S+/, `$1${version}`),
  'packaging/helm/tipline/Chart.yaml': (text) =>
    text
      .replace(/^version: .*/m, `version: ${version}`)
      .replace(/^appVersion: .*/m, `appVersion: "${version}"`),
};

try {
  apiSinceRelease(root, version);
  for (const [path, change] of Object.entries(FILES))
    writeFileSync(join(root, path), change(readFileSync(join(root, path), 'utf8')));
  execFileSync('git', ['add', ...Object.keys(FILES)], { cwd: root, stdio: 'inherit' });
} catch (error) {
  console.error(`No version ${version} (git checkout . undoes what npm has written): ${error.message}`);
  process.exit(1);
}
