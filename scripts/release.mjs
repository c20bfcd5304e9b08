// Makes everything that is published with a release, from the commit that is checked out (docs/releasing.md):
//   npm run release -- [--key FILE] [--rehearsal] [--without PART,…] [DIRECTORY]
// DIRECTORY, by default dist.release, must not exist. Nothing is left there if a step fails.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { lastChange } from './last-change.mjs';
import { apiSinceRelease } from './release/api-since-release.mjs';
import { sectionOf, unreleasedOf } from './release/changelog.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const MB = 1e6;
/** Has the packages pip, setuptools and wheel. */
const { PYTHON = 'python3' } = process.env;

/** The parts of a release: functions that write files to a directory. */
const PARTS = {
  npm: (to) => npmPack(root, to),
  deb: (to) => script('deb.mjs', to),
  image: (to) => script('image.mjs', to),
  chart: (to) => script('chart.mjs', to),
  docs: documentationSite,
  'typescript-client': (to) => npmPack(join(root, 'clients/typescript'), to),
  'python-client': pythonWheel,
  openapi(to) {
    for (const type of ['json', 'yaml'])
      copyFileSync(join(root, `openapi/openapi.${type}`), join(to, `tipline-${version}-openapi.${type}`));
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: 'string' },
    rehearsal: { type: 'boolean', default: false },
    without: { type: 'string', default: '' },
  },
});
try {
  release(resolve(positionals[0] ?? join(root, 'dist.release')));
} catch (error) {
  console.error(`Nothing is released: ${error.message}`);
  process.exit(1);
}

function release(target) {
  const without = values.without.split(',').filter(Boolean);
  const unknown = without.filter((name) => !(name in PARTS));
  if (unknown.length > 0)
    throw new Error(`--without takes ${Object.keys(PARTS).join(', ')}, not ${unknown.join(', ')}.`);
  if (existsSync(target)) throw new Error(`${target} exists already.`);
  if (!values.rehearsal) requireReleasable();
  if (values.key) requireProgram('minisign', 'it signs the checksums');
  const changes = changesOfVersion();
  const api = apiSinceRelease(root, version);

  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(`${target}.`);
  try {
    for (const [name, make] of Object.entries(PARTS)) {
      if (without.includes(name)) continue;
      console.log(`${name} …`);
      make(work);
    }
    writeFileSync(
      join(work, 'RELEASE-NOTES.md'),
      releaseNotes({ changes, api, without, files: sizesOf(work) }),
    );
    writeChecksums(work);
    if (values.key) sign(work, values.key);
    renameSync(work, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  for (const [name, bytes] of sizesOf(target))
    console.log(`${String(bytes).padStart(10)} ${join(target, name)}`);
}

/** @throws {Error} the files of the checkout are not those of the version, or there is no key */
function requireReleasable() {
  if (!values.key)
    throw new Error('--key names the secret key that signs the checksums (--rehearsal needs none).');
  if (git('status', '--porcelain')) throw new Error('files differ from the commit: git status lists them.');
  const tags = git('tag', '--points-at', 'HEAD').split('\n');
  if (!tags.includes(`v${version}`))
    throw new Error(`the commit has no tag v${version}: npm version makes it.`);
}

/** Returns the entries of the changelog for this version; in a rehearsal those that are not released. */
function changesOfVersion() {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  return (values.rehearsal && unreleasedOf(changelog)) || sectionOf(changelog, version);
}

function releaseNotes({ changes, api, without, files }) {
  const listed = files.map(([name, bytes]) => `| \`${name}\` | ${(bytes / MB).toFixed(2)} MB |`);
  return [
    `# Tipline ${version}`,
    '',
    changes,
    '',
    ...(api ? [api] : []),
    '## Files',
    '',
    '| file | size |',
    '|---|--:|',
    ...listed,
    '',
    ...(without.length > 0 ? [`Not made: ${without.join(', ')}.`, ''] : []),
    'Check them with the public key of the releases:',
    '',
    '```sh',
    'minisign -V -p minisign.pub -m SHA256SUMS && sha256sum -c SHA256SUMS',
    '```',
    '',
  ].join('\n');
}

function writeChecksums(directory) {
  const lines = readdirSync(directory)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(directory, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(directory, 'SHA256SUMS'), lines.join(''));
}

/** minisign asks for the password of the key on the terminal, if it has one. */
function sign(directory, key) {
  const comment = `Tipline ${version}`;
  const args = ['-S', '-s', resolve(key), '-t', comment, '-m', 'SHA256SUMS', '-x', 'SHA256SUMS.minisig'];
  execFileSync('minisign', args, { cwd: directory, stdio: ['inherit', 'ignore', 'inherit'] });
}

/** Returns the names and sizes, in bytes, of the files of a directory. */
function sizesOf(directory) {
  return readdirSync(directory)
    .sort()
    .map((name) => [name, statSync(join(directory, name)).size]);
}

function npmPack(directory, to) {
  run('npm', ['pack', '--silent', '--pack-destination', to], directory);
}

/** Copies the sources first: a build leaves directories beside them. */
function pythonWheel(to) {
  requireProgram(PYTHON, 'it builds the wheel of the client');
  const sources = mkdtempSync(join(to, '.python-'));
  try {
    for (const path of git('ls-files', 'clients/python').split('\n')) {
      mkdirSync(join(sources, dirname(path)), { recursive: true });
      copyFileSync(join(root, path), join(sources, path));
    }
    const wheel = [
      '-m',
      'pip',
      'wheel',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--wheel-dir',
      to,
    ];
    run(PYTHON, [...wheel, '--no-build-isolation', join(sources, 'clients/python')], root);
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
}

/** Makes the site beside its archive, and keeps the archive. */
function documentationSite(to) {
  const site = join(to, '.docs');
  script('docs.mjs', site);
  for (const name of readdirSync(site).filter((one) => one.endsWith('.tar.gz')))
    renameSync(join(site, name), join(to, name));
  rmSync(site, { recursive: true });
}

function script(name, to) {
  run(process.execPath, [join(root, 'scripts', name), to], root);
}

function requireProgram(name, reason) {
  if (spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
    throw new Error(`${name} is missing: ${reason}.`);
}

/** Times in archives are that of the commit, so that the same commit gives the same files. */
function run(command, args, cwd) {
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(lastChange(root)) };
  const { status } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${basename(command)} ${args[0]} failed.`);
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * MB }).trim();
}
