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

try {
  apiSinceRelease(root, version);
  const changelog = join(root, 'CHANGELOG.md');
  writeFileSync(changelog, withRelease(readFileSync(changelog, 'utf8'), version, today));
  const chart = join(root, 'packaging/helm/tipline/Chart.yaml');
  const withVersion = (text) =>
    text.replace(/^(version|appVersion): .*$/gm, (_line, name) =>
      name === 'version' ? `version: ${version}` : `appVersion: "${version}"`,
    );
  writeFileSync(chart, withVersion(readFileSync(chart, 'utf8')));
  execFileSync('git', ['add', changelog, chart], { cwd: root, stdio: 'inherit' });
} catch (error) {
  console.error(`No version ${version} (git checkout . undoes what npm has written): ${error.message}`);
  process.exit(1);
}
