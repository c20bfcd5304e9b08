// Compiles src/ into dist/. A module of its own, so that `npm start` can build and run in one process.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const RULES = 'src/features/sigma/techniques';

export function build() {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(manifest), 'bin', 'tsc');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [tsc, '-p', root], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  // What is read as it stands.
  cpSync(join(root, RULES), join(root, RULES.replace('src', 'dist')), { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
