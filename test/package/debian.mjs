// Root directories of Debian 13, for the tests of the Debian package and of the image.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Where an archive of the root directory is kept from one test to the next; unset: nowhere. */
const CACHE = process.env.DEBIAN_ROOT_CACHE;

/** Directories whose contents a release needs no longer once it is installed. */
const CACHES = ['var/cache/apt', 'var/lib/apt/lists', 'var/log'];

/** Returns the reason why this machine cannot make a root directory of Debian; undefined: it can. */
export function whyNoDebian() {
  if (process.getuid() !== 0) return 'not root here';
  if (!succeeds('debootstrap', ['--version'])) return 'no debootstrap here';
  if (!succeeds('unshare', ['-m', 'true'])) return 'no mount namespaces here';
  return mirror() === undefined ? "no mirror of Debian in this machine's sources" : undefined;
}

/** Makes a root directory of the first release whose `nodejs` is new enough, without it; returns whether that succeeded. */
export function makeDebian(directory) {
  const archive = CACHE && join(CACHE, 'debian.tar');
  if (archive && existsSync(archive)) {
    mkdirSync(directory);
    return succeeds('tar', ['-xf', archive, '-C', directory, '--numeric-owner']);
  }
  const args = ['--variant=minbase', 'trixie', directory, mirror()];
  const { status, stdout } = spawnSync('debootstrap', args, { encoding: 'utf8' });
  if (status !== 0) {
    console.log(stdout);
    return false;
  }
  // As in Debian's own images.
  for (const path of CACHES) empty(join(directory, path));
  if (archive) keep(directory, archive);
  return true;
}

function empty(directory) {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
}

function keep(directory, archive) {
  mkdirSync(CACHE, { recursive: true });
  if (succeeds('tar', ['-cf', `${archive}.new`, '-C', directory, '--numeric-owner', '.']))
    renameSync(`${archive}.new`, archive);
}

/** Returns the first mirror of Debian among the sources of this machine. */
function mirror() {
  const directory = '/etc/apt/sources.list.d';
  const files = ['/etc/apt/sources.list', ...readdirSync(directory).map((name) => join(directory, name))];
  const texts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'));
  return texts.join('\n').match(/https?:\/\/[^\s]+\/debian\/?(?=\s|$)/)?.[0];
}

export function succeeds(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
