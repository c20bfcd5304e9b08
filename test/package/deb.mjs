// Does with the Debian package what an administrator does, in a root directory made by debootstrap: installs it, starts the
// server as its unit does, uses the command as root, upgrades, removes and purges it. Needs root, debootstrap and `npm ci`;
// where one is missing, it reports that and ends. RELEASE is the directory of a release with the package; otherwise it is made.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeDebian, succeeds, whyNoDebian } from './debian.mjs';
import { freePort } from './free-port.mjs';

const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');
const UNITS = ['tipline.service', 'tipline-worker.service'];
/** The highest exposure that `systemd-analyze security` may find, in tenths. */
const MAX_EXPOSURE = 25;
const SETTINGS = '/etc/tipline/tipline.env';
const DATA = '/var/lib/tipline';

const missing = missingOf();
if (missing) {
  console.log(`(${missing}: the Debian package is not tested)`);
  process.exit(0);
}
const work = mkdtempSync(join(tmpdir(), 'tipline-deb-test-'));
const root = join(work, 'root');
try {
  const packageFile = releasedPackage() ?? run('node', ['scripts/deb.mjs', work]).trim();
  lint(packageFile);
  if (makeRoot()) {
    recordUnits();
    await administer(packageFile);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Returns the package of a release in the directory of RELEASE; undefined: there is none. */
function releasedPackage() {
  const { RELEASE: directory } = process.env;
  return (
    directory &&
    join(
      directory,
      readdirSync(directory).find((name) => name.endsWith('.deb')),
    )
  );
}

async function administer(packageFile) {
  const start = performance.now();
  install(packageFile);
  console.log(`dpkg --install: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  assert.equal(recordedUnits(), 'tipline.service start\n');
  checkInstalled();
  const port = await freePort();
  // The administrator changes a setting: an upgrade keeps it.
  appendFileSync(join(root, SETTINGS), `PORT=${port}\n`);
  const address = `http://127.0.0.1:${port}`;
  const key = await whileServing(address, async () => {
    inRoot('tipline import - --source Ours --tlp GREEN', { input: 'host.evil-domain.net\n' });
    return inRoot('tipline keys create --name check --scope indicators:read').match(/tip_\S+/)[0];
  });
  const before = readFileSync(join(root, SETTINGS), 'utf8');
  install(upgradeOf(packageFile));
  // The server does not run while its files are replaced.
  assert.equal(recordedUnits(), 'tipline.service stop\ntipline.service start\n');
  assert.match(inRoot("dpkg-query -W -f '${Version}' tipline"), /\+upgrade$/);
  assert.equal(readFileSync(join(root, SETTINGS), 'utf8'), before);
  await whileServing(address, async () => {
    const response = await fetch(`${address}/api/v1/indicators`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal((await response.json()).total, 1);
  });
  inRoot('dpkg --remove tipline');
  assert.equal(recordedUnits(), 'tipline.service stop\n');
  assert.deepEqual(present('/usr/bin/tipline', '/usr/lib/tipline', SETTINGS, `${DATA}/pgdata`), [
    SETTINGS,
    `${DATA}/pgdata`,
  ]);
  install(packageFile);
  assert.equal(recordedUnits(), 'tipline.service start\n');
  inRoot('dpkg --purge tipline');
  const links = UNITS.flatMap((unit) => [wanted(unit), `/etc/systemd/system/${unit}`]);
  assert.deepEqual(present('/etc/tipline', DATA, ...links), []);
  assert.notEqual(spawnSync('chroot', [root, 'getent', 'passwd', 'tipline']).status, 0);
}

function checkInstalled() {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  assert.equal(inRoot('tipline --version').trim(), version);
  const example = '/usr/share/doc/tipline/examples/update-feed.sh';
  assert.deepEqual(present(example), [example]);
  const [uid, gid] = ['-u', '-g'].map((option) => Number(inRoot(`id ${option} tipline`)));
  const access = (path) => {
    const { uid: owner, gid: group, mode } = statSync(join(root, path));
    return [owner, group, (mode & 0o777).toString(8)];
  };
  assert.deepEqual(access(DATA), [uid, gid, '700']);
  assert.deepEqual(access(SETTINGS), [0, gid, '640']);
  // The jobs run in the server, unless the administrator decides otherwise.
  assert.deepEqual(present(...UNITS.map(wanted)), [wanted('tipline.service')]);
  // Another user's settings are his own: he may not read those of the services.
  assert.equal(inRoot('setpriv --reuid=nobody --clear-groups tipline --version').trim(), version);
  for (const unit of UNITS) checkUnit(join(root, 'usr/lib/systemd/system', unit));
}

function checkUnit(file) {
  if (!succeeds('systemd-analyze', ['--version']))
    return console.log('(no systemd here: the units are not checked)');
  run('systemd-analyze', ['security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, file]);
}

/** Returns the link by which a unit that is enabled starts with the system. */
function wanted(unit) {
  return `/etc/systemd/system/multi-user.target.wants/${unit}`;
}

function present(...paths) {
  return paths.filter((path) => lstatSync(join(root, path), { throwIfNoEntry: false }));
}

/** Starts the server with the command, user and directory of its unit, and stops it after some work. */
async function whileServing(address, work) {
  const unit = readFileSync(join(root, 'usr/lib/systemd/system/tipline.service'), 'utf8');
  const settingOf = (name) => unit.match(new RegExp(`^${name}=(.*)$`, 'm'))[1];
  const script = `cd ${settingOf('WorkingDirectory')} && exec ${settingOf('ExecStart')}`;
  const server = spawn(...chrooted(script, [`--userspec=${settingOf('User')}:${settingOf('Group')}`]), {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(server, 'exit');
  const start = performance.now();
  try {
    while ((await fetch(`${address}/api/health`).catch(() => null))?.status !== 200) {
      assert.equal(server.exitCode, null, 'the server has ended');
      await delay(100);
    }
    console.log(`first response after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    return await work();
  } finally {
    server.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  }
}

function install(file) {
  copyFileSync(file, join(root, 'tmp/package.deb'));
  inRoot('dpkg --force-confold --install /tmp/package.deb');
}

/** Makes a newer version of a package, with other default settings. */
function upgradeOf(file) {
  const tree = join(work, 'upgrade');
  run('dpkg-deb', ['--raw-extract', file, tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*/m, '$&+upgrade'));
  appendFileSync(join(tree, SETTINGS), '# A new comment.\n');
  run('dpkg-deb', ['--build', '--root-owner-group', '-Znone', tree, join(work, 'upgrade.deb')]);
  return join(work, 'upgrade.deb');
}

/** Makes the root directory with the packages that the Debian package depends on; returns whether that succeeded. */
function makeRoot() {
  if (!makeDebian(root)) {
    console.log('(no Debian 13 here: the Debian package is linted, but not installed)');
    return false;
  }
  inRoot('apt-get update && apt-get install --yes --no-install-recommends adduser nodejs');
  return true;
}

/**
 * Makes the root directory look as if systemd ran in it, and records what it would do with units
 * (https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt).
 */
function recordUnits() {
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
  const script = '#!/bin/sh\necho "$1 $2" >> /run/recorded\nexit 101\n';
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), script, { mode: 0o755 });
}

/** Returns the recorded actions since the last call. */
function recordedUnits() {
  const file = join(root, 'run/recorded');
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return text;
}

function lint(file) {
  if (!succeeds('lintian', ['--version'])) return console.log('(no lintian here: the package is not linted)');
  run('lintian', [
    '--allow-root',
    '--fail-on',
    'error',
    '--suppress-tags',
    'bogus-mail-host,bogus-mail-host-in-debian-changelog',
    file,
  ]);
}

/** Runs a command in the root directory, as root, where /proc shows no more than the unit's ProcSubset= leaves. */
function inRoot(script, options) {
  return run(...chrooted(script), options);
}

function chrooted(script, options = []) {
  const environment = 'PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LOG_LEVEL=warn';
  const mounting = `mount -t proc -o subset=pid proc "$0/proc"; exec env -i ${environment} chroot "$@"`;
  return ['unshare', ['-m', 'sh', '-ec', mounting, root, ...options, root, 'sh', '-ec', script]];
}

function missingOf() {
  return whyNoDebian() ?? (!succeeds('dpkg-deb', ['--version']) && 'no dpkg-deb here');
}

function run(command, args, options = {}) {
  return execFileSync(command, args, {
    cwd: repository,
    encoding: 'utf8',
    // What is written to standard error is in the error that a failure throws.
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...options,
  });
}
