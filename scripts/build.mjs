// Bundles src/ and web/ into dist/.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import * as vite from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(root, 'dist');
const WEB = join(DIST, 'web');
/** All that the pages are made of. */
const WEB_INPUTS = ['web', 'src/model', 'package-lock.json'];
/** Made of hundreds of files each: reading one takes longer than running it, so that they go into the bundles. */
const BUNDLED = ['@redis/client', 'kysely', 'typebox'];

async function build() {
  for (const name of existsSync(DIST) ? readdirSync(DIST) : [])
    if (name !== 'web') rmSync(join(DIST, name), { recursive: true, force: true });
  await buildServer();
  writeCommit();
  // npm makes it executable once, when it links the command, and not again.
  chmodSync(join(DIST, 'main.js'), 0o755);
  if (!isWebCurrent()) await buildWeb();
}

/** Only from a repository of its own: an unpacked archive may lie in another one. */
function writeCommit() {
  if (!existsSync(join(root, '.git'))) return;
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  if (status === 0) writeFileSync(join(DIST, 'commit'), stdout);
}

/** What is imported late stays a bundle of its own. */
async function buildServer() {
  await vite.build({
    configFile: false,
    root,
    logLevel: 'warn',
    build: {
      ssr: true,
      target: 'node20',
      outDir: DIST,
      emptyOutDir: false,
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: {
          main: 'src/main.ts',
          'store-thread': 'src/db/store-thread.ts',
          'parser-thread': 'src/importers/parser-thread.ts',
          bench: 'bench/product.ts',
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
    ssr: { noExternal: BUNDLED },
  });
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
  await vite.build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' });
  const assets = join(WEB, 'assets');
  for (const name of readdirSync(assets).filter((file) => /\.(js|css)$/.test(file))) {
    const content = readFileSync(join(assets, name));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, quality));
  }
}

await build();
