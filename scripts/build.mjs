// Compiles src/ and web/ into dist/. A module of its own, so that `npm start` can build and run in one process.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const RULES = 'src/features/sigma/techniques';
const WEB = join(root, 'dist', 'web');
/** All that the pages are made of. */
const WEB_INPUTS = ['web', 'src/model', 'package-lock.json'];

export async function build() {
  compileServer();
  // What is read as it stands.
  cpSync(join(root, RULES), join(root, RULES.replace('src', 'dist')), { recursive: true });
  if (!isWebCurrent()) await buildWeb();
}

function compileServer() {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(manifest), 'bin', 'tsc');
  for (const name of existsSync(join(root, 'dist')) ? readdirSync(join(root, 'dist')) : [])
    if (name !== 'web') rmSync(join(root, 'dist', name), { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [tsc, '-p', root], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Bundling takes seconds: what is as new as all that it is made of stays. */
function isWebCurrent() {
  const built = statSync(join(WEB, 'index.html'), { throwIfNoEntry: false });
  return built !== undefined && WEB_INPUTS.every((path) => newest(join(root, path)) < built.mtimeMs);
}

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

async function buildWeb() {
  const vite = await import('vite');
  await vite.build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' });
  const assets = join(WEB, 'assets');
  for (const name of readdirSync(assets).filter((file) => /\.(js|css)$/.test(file))) {
    const content = readFileSync(join(assets, name));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, quality));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
