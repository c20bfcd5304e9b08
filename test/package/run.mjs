// Does with the npm package what a user does: packs it, installs it without install scripts, and starts the demo in an empty
// directory without a network (demo.mjs); with NIGHTLY=1 also by npx and in a project. Needs `npm ci`.
//   node test/package/run.mjs [NODE…]    paths of the Node.js binaries to do this with; default: the running one
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const work = mkdtempSync(join(tmpdir(), 'tipline-package-'));
/** Stated figures may differ by this share from those of this machine, whose build contains other paths and a commit. */
const TOLERANCE = 0.05;
const MB = 1e6;

/** In the package: without one of them Tipline does not run, or may not be passed on. */
const REQUIRED = [
  'dist/main.js',
  'dist/store-thread.js',
  'dist/THIRD-PARTY-NOTICES.txt',
  'dist/web/index.html',
  'dist/web/THIRD-PARTY-NOTICES.txt',
  'dist/swagger-ui/swagger-ui-bundle.js',
  'migrations/0001_initial.sql',
  'openapi/openapi.json',
  'examples/update-feed.sh',
  'sample/ORIGINS.md',
  'sigma/T1003.001.yml',
  'whitelist/README.md',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
];
/** Not in the package: sources, their maps, tests, benchmarks, build tools, data of a run. */
const FORBIDDEN =
  /^(?!examples\/).*\.(tsx?|map|mjs)$|^(src|web|test|bench|scripts|clients|data)\/|node_modules|^dist\/bench/;

const problems = [];
try {
  const tarball = pack();
  const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath];
  for (const [i, node] of nodes.entries()) {
    const env = environmentOf(node);
    installForAll(env, tarball);
    if (!process.env.NIGHTLY) continue;
    runByNpx(env, tarball);
    // How a command of node_modules is found is a matter of npm alone.
    if (i === 0) installInProject(env, tarball);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

/** Packs the package, checks its contents, and returns its path. */
function pack() {
  const json = run('npm', ['pack', '--json', '--silent', '--pack-destination', work], { cwd: root });
  const [{ filename, size, unpackedSize, files }] = Object.values(
    JSON.parse(json.slice(json.search(/^[[{]/m))),
  );
  const paths = files.map(({ path }) => path);
  for (const path of REQUIRED) if (!paths.includes(path)) problems.push(`The package has no ${path}.`);
  for (const path of paths) if (FORBIDDEN.test(path)) problems.push(`The package contains ${path}.`);
  console.log(`${filename}: ${(size / MB).toFixed(1)} MB, ${(unpackedSize / MB).toFixed(1)} MB unpacked`);
  checkStated(/package of ([\d.]+) MB/, size / MB);
  return join(work, filename);
}

/** Returns the environment of a new user whose `node` is this one, and who has no files of npm. */
function environmentOf(node) {
  const home = newDirectory();
  console.log(`Node.js ${run(node, ['--version']).trim()}`);
  return {
    HOME: home,
    PATH: [dirname(node), join(home, 'bin'), process.env.PATH].join(delimiter),
    npm_config_prefix: home,
    npm_config_ignore_scripts: 'true',
    npm_config_update_notifier: 'false',
  };
}

function installForAll(env, tarball) {
  const start = performance.now();
  npm(env, work, 'install', '--global', '--silent', tarball);
  console.log(`npm install --global: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  const installed = join(env.HOME, 'lib/node_modules/tipline');
  checkInstalled(installed);
  const before = listing(installed);
  startDemo(env, newDirectory(), 'tipline demo', 'tipline');
  if (listing(installed) !== before) problems.push('The demo has changed its installation.');
}

function runByNpx(env, tarball) {
  const directory = newDirectory();
  const file = `./${basename(tarball)}`;
  copyFileSync(tarball, join(directory, file));
  npm(env, directory, 'exec', '--yes', file, '--', '--version');
  startDemo(env, directory, `npx ${file} demo`, "node '.*/dist/main.js'");
}

function installInProject(env, tarball) {
  const directory = newDirectory();
  npm(env, directory, 'install', '--silent', tarball);
  startDemo(env, directory, 'npx tipline demo', 'npx tipline');
}

function newDirectory() {
  return mkdtempSync(join(work, 'user-'));
}

function npm(env, cwd, ...args) {
  return run('npm', args, { cwd, env: { ...process.env, ...env } });
}

/**
 * Starts the demo in a directory, without a network, and uses it.
 * @param again a pattern of the command that it must print for starting Tipline again
 */
function startDemo(env, directory, command, again) {
  const args = [join(here, 'demo.mjs'), directory, command, again];
  const { status } = spawnSync(...offline([process.execPath, ...args]), { env, stdio: 'inherit' });
  if (status !== 0) problems.push(`${command} failed.`);
}

/** Returns a command that runs another one where only the loopback interface exists, if this machine allows that. */
function offline(command) {
  const namespace = [['-n'], ['-rn']].find(
    (options) => spawnSync('unshare', [...options, 'true']).status === 0,
  );
  if (namespace)
    return [
      'unshare',
      [
        ...namespace,
        'sh',
        '-ec',
        'PATH=$PATH:/usr/sbin:/sbin ip link set lo up; exec "$@"',
        'sh',
        ...command,
      ],
    ];
  console.log('(no network namespaces here: the demo starts with a network)');
  return [command[0], command.slice(1)];
}

/** Checks what README.md states of an installation. */
function checkInstalled(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  const packages = files.filter(({ parentPath, name }) => name === 'package.json' && isPackage(parentPath));
  console.log(`${(bytes / MB).toFixed(1)} MB in ${files.length} files of ${packages.length} packages`);
  checkStated(/\(PGlite\): ([\d.]+) MB/, bytes / MB);
  checkStated(/\(PGlite\): [\d.]+ MB in ([\d,]+) files/, files.length);
  checkStated(/and (\d+) dependency/, packages.length - 1);
}

function isPackage(directory) {
  return /\/node_modules\/(@[^/]+\/)?[^/]+$/.test(directory);
}

function checkStated(pattern, value) {
  const [, stated] = pattern.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  const number = Number(stated?.replaceAll(',', ''));
  if (!(Math.abs(number - value) <= TOLERANCE * value))
    problems.push(`README.md states ${stated} for ${pattern}; it is ${value}.`);
}

/** The paths, sizes and times of all files. */
function listing(directory) {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const { size, mtimeMs } = statSync(join(directory, name));
      return `${name} ${size} ${mtimeMs}`;
    })
    .join('\n');
}

function run(command, args, options = {}) {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options });
}
