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
import { thirdPartyNotices } from './third-party.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(root, 'dist');
const NEXT = join(root, `dist.next-${process.pid}`);
const WEB = join(NEXT, 'web');
/** The inputs of the web application. */
const WEB_INPUTS = ['web', 'src/model', 'scripts', 'package-lock.json'];
/** Returns the directory of an installed package. */
const packageDirectory = (name) => join(root, 'node_modules', name);
const readManifest = (directory) => JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
/** The package with the page of the reference of the API, and the files of the page, which it does not import. */
const SWAGGER_UI = packageDirectory('@fastify/swagger-ui');
const SWAGGER_UI_FILES = [
  'index.css',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
];

async function build() {
  try {
    await buildServer();
    for (const file of SWAGGER_UI_FILES)
      cpSync(join(SWAGGER_UI, 'static', file), join(NEXT, 'swagger-ui', file));
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

/**
 * Bundles the server with all packages except the dependencies of package.json; modules that are imported dynamically
 * become separate bundles.
 */
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
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          sourcemapExcludeSources: true,
        },
      },
    },
    plugins: [thirdPartyNotices({ more: [swaggerUiNotice()] })],
    ssr: { noExternal: true, external: Object.keys(readManifest(root).dependencies) },
  });
}

/** Returns the licence of the project whose files `@fastify/swagger-ui` contains. */
function swaggerUiNotice() {
  const version = readManifest(SWAGGER_UI).devDependencies['swagger-ui-dist'];
  return {
    title: `swagger-ui-dist ${version} (Apache-2.0)`,
    text: 'Copyright SmartBear Software Inc.\nApache License 2.0: its text is in the file LICENSE of Tipline.',
  };
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
    plugins: [thirdPartyNotices({ directories: [packageDirectory('@iconify-json/tabler')] })],
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
