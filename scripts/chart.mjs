// Packs the Helm chart as `helm package` does, by GNU tar: node scripts/chart.mjs [DIRECTORY], by default dist.chart.
// The same files give the same bytes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const file = join(resolve(process.argv[2] ?? join(root, 'dist.chart')), `tipline-${version}-chart.tgz`);

mkdirSync(resolve(file, '..'), { recursive: true });
execFileSync('tar', [
  ...['--create', '--file', file, '--use-compress-program', 'gzip --no-name --best'],
  ...['--format', 'ustar', '--sort', 'name', '--mtime', '1985-10-26 08:15:00Z', '--mode', 'u=rwX,go=rX'],
  // The alert rules are a link to those of the documentation.
  ...['--owner', '0', '--group', '0', '--numeric-owner', '--dereference'],
  ...['--directory', join(root, 'packaging/helm'), 'tipline'],
]);
console.log(file);
