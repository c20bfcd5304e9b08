// Does what the maintainers do for a release, in clones of this repository: node test/release/run.mjs
// Needs `npm ci` and minisign; where that is missing, it reports that and ends.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Parts with tests of their own, which take minutes. */
const WITHOUT = 'deb,image,docs,python-client';

if (spawnSync('minisign', ['-v']).error) {
  console.log('(no minisign here: a release is not tested)');
  process.exit(0);
}
const work = mkdtempSync(join(tmpdir(), 'tipline-release-'));
const clone = join(work, 'clone');
const [secret, publicKey] = [join(work, 'minisign.key'), join(work, 'minisign.pub')];
try {
  prepare();
  refuse('with changes that are not committed', /files differ from the commit/, () =>
    writeFileSync(join(clone, 'README.md'), 'changed'),
  );
  refuse('before the commit has the tag of its version', /no tag v0/);
  const first = releaseVersion('minor', '### Added\n\n- The first change.\n');
  assert.doesNotMatch(first.notes, /## API/);
  check(first);
  changeApi((document) => delete document.paths['/api/v1/actors']);
  refuseVersion('patch', /its version is at least 0\.2\.0/);
  changeApi((document) => Object.assign(document.info, { version: '0.2.0' }));
  const second = releaseVersion('patch', '### Removed\n\n- The list of actors.\n');
  assert.match(
    second.notes,
    /## API, compared with v.*\n\n### Breaks clients\n\n- GET \/api\/v1\/actors: removed\n/,
  );
  check(second);
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log('A release can be made, checked and published.');

function prepare() {
  run('git', ['clone', '-q', repository, clone], work);
  symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'));
  for (const [name, value] of [
    ['user.name', 'Test'],
    ['user.email', 'test@localhost'],
  ])
    run('git', ['config', name, value]);
  // The link is no directory, which is what is ignored.
  writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
  run('minisign', ['-G', '-W', '-p', publicKey, '-s', secret]);
}

function release() {
  const target = join(work, `release-${readVersion()}`);
  const result = spawnSync('node', ['scripts/release.mjs', '--key', secret, '--without', WITHOUT, target], {
    cwd: clone,
    encoding: 'utf8',
  });
  return { ...result, target };
}

/** Checks that nothing is made. */
function refuse(when, reason, change = () => {}) {
  change();
  const { status, stderr } = release();
  assert.equal(status, 1, when);
  assert.match(stderr, reason);
  const left = readdirSync(work).filter((name) => name.startsWith(`release-${readVersion()}`));
  assert.deepEqual(left, []);
  run('git', ['checkout', '-q', '.']);
}

/** Checks that a version gets no commit and no tag. */
function refuseVersion(kind, reason) {
  const head = run('git', ['rev-parse', 'HEAD']);
  const { status, stderr } = spawnSync('npm', ['version', kind], { cwd: clone, encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, reason);
  run('git', ['checkout', '-q', '.']);
  assert.equal(run('git', ['rev-parse', 'HEAD']), head);
}

/** Adds entries to the changelog, and makes the commit and the tag of a version. */
function publish(kind, entries) {
  edit('CHANGELOG.md', (text) => text.replace('## Unreleased\n', `## Unreleased\n\n${entries}`));
  run('git', ['commit', '-qam', 'Change the changelog']);
  run('npm', ['version', kind, '--silent']);
  assert.equal(run('git', ['status', '--porcelain']), '');
}

function releaseVersion(kind, entries) {
  publish(kind, entries);
  const { status, stderr, target } = release();
  assert.equal(status, 0, stderr);
  const notes = readFileSync(join(target, 'RELEASE-NOTES.md'), 'utf8');
  assert.ok(notes.includes(entries.trim()));
  return { target, notes };
}

/** Does what the notes say, and then the same with a file that somebody has changed. */
function check({ target, notes }) {
  const [, command] = notes.match(/```sh\n(.*)\n```/);
  const inDirectory = (script) => spawnSync('sh', ['-c', script], { cwd: target }).status;
  run('cp', [publicKey, join(target, 'minisign.pub')]);
  assert.equal(inDirectory(command), 0);
  const names = readdirSync(target).filter((name) => !/^(SHA256SUMS.*|minisign.pub)$/.test(name));
  assert.deepEqual(readFileSync(join(target, 'SHA256SUMS'), 'utf8').match(/\S+$/gm), names.sort());
  assert.ok(names.includes(`tipline-${readVersion()}.tgz`));
  assert.ok(
    readFileSync(join(clone, 'compose.yaml'), 'utf8').includes(`localhost/tipline:${readVersion()}\n`),
  );
  const chart = `tipline-${readVersion()}-chart.tgz`;
  assert.match(
    run('tar', ['-xzOf', join(target, chart), 'tipline/Chart.yaml']),
    new RegExp(`^version: ${readVersion()}$`, 'm'),
  );
  writeFileSync(join(target, names[0]), 'changed');
  assert.notEqual(inDirectory(command), 0);
  writeFileSync(join(target, 'SHA256SUMS'), 'changed');
  assert.notEqual(inDirectory(command), 0);
}

function changeApi(change) {
  edit('openapi/openapi.json', (text) => {
    const document = JSON.parse(text);
    change(document);
    return JSON.stringify(document);
  });
  run('git', ['commit', '-qam', 'Change the API']);
}

function edit(path, change) {
  writeFileSync(join(clone, path), change(readFileSync(join(clone, path), 'utf8')));
}

function readVersion() {
  return JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')).version;
}

function run(command, args, cwd = clone) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}
