// Bundles src/ and web/ into dist/. The build writes to a directory beside it first, so that a failed build leaves
// dist/ unchanged.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import * as vite from 'vite';
import { newest } from './newest.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(root, 'dist');
const NEXT = join(root, `dist.next-${process.pid}`);
const WEB = join(NEXT, 'web');
/** The inputs of the web application. */
const WEB_INPUTS = ['web', 'src/model', 'package-lock.json'];
/** Packages of hundreds of files. Reading the files takes longer than running them, so they are bundled. */
const BUNDLED = [
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/core',
  '@redis/client',
  'kysely',
  'typebox',
  'zod',
];

async function build() {
  try {
    await buildServer();
    writeCommit();
    // npm makes the file executable only when it links the command, and not after later builds.
    chmodSync(join(NEXT, 'main.js'), 0o755);
    if (isWebCurrent()) cpSync(join(DIST, 'web'), WEB, { recursive: true, preserveTimestamps: true });
    else await buildWeb();
    swapIn();
  } finally {
    rmSync(NEXT, { recursive: true, force: true });
  }
}

/** Replaces dist/. Retries, because another build may do the same at the same time. */
function swapIn() {
  const old = join(root, `dist.old-${process.pid}`);
  for (let left = 5; ; left--) {
    try {
      if (existsSync(DIST)) renameSync(DIST, old);
      renameSync(NEXT, DIST);
      return;
    } catch (error) {
      if (left === 0) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Records the commit, but only of this project's own repository: an archive may be unpacked inside another one. */
function writeCommit() {
  if (!existsSync(join(root, '.git'))) return;
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  if (status === 0) writeFileSync(join(NEXT, 'commit'), stdout);
}

/** Bundles the server; modules that are imported dynamically become separate bundles. */
async function buildServer() {
  await vite.build({
    configFile: false,
    root,
    logLevel: 'warn',
    build: {
      ssr: true,
      target: 'node20',
      outDir: NEXT,
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: {
          main: 'src/main.ts',
          'store-thread': 'src/db/embedded/store-thread.ts',
          'parser-thread': 'src/importers/parser-thread.ts',
          'reading-thread': 'src/lookup/reading-thread.ts',
          bench: 'bench/product.ts',
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
    ssr: { noExternal: BUNDLED },
  });
}

/** Returns whether the web application is newer than all its inputs; bundling it takes seconds. */
function isWebCurrent() {
  const built = statSync(join(DIST, 'web', 'index.html'), { throwIfNoEntry: false });
  return built !== undefined && newest(root, WEB_INPUTS).mtimeMs < built.mtimeMs;
}

async function buildWeb() {
  await vite.build({
    configFile: join(root, 'web', 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: WEB, emptyOutDir: true },
  });
  const assets = join(WEB, 'assets');
  for (const name of readdirSync(assets).filter((file) => /\.(js|css)$/.test(file))) {
    const content = readFileSync(join(assets, name));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, quality));
  }
}

await build();
