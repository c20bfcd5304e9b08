// Makes a Debian package of the npm package and its dependencies: node scripts/deb.mjs [DIRECTORY], by default dist.deb.
// DEBFULLNAME and DEBEMAIL name its maintainer, as for Debian's own tools.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { lastChange } from './last-change.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packaging = join(root, 'packaging');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** A version before a release sorts before it: 1.0.0-rc.1 is 1.0.0~rc.1 (Debian Policy 5.6.12). */
const VERSION = manifest.version.replace('-', '~');
const NODE_VERSION = manifest.engines.node.replace('>=', '');
const DATA = '/var/lib/tipline';
const SETTINGS = 'etc/tipline/tipline.env';
/** Parts of the npm package that are documentation. */
const DOCUMENTATION = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs', 'examples'];

const target = resolve(process.argv[2] ?? join(root, 'dist.deb'));
const work = mkdtempSync(join(tmpdir(), 'tipline-deb-'));
try {
  const tree = join(work, 'tree');
  installProgram(tree);
  installSystemFiles(tree);
  writeControl(tree);
  mkdirSync(target, { recursive: true });
  const file = join(target, `tipline_${VERSION}_all.deb`);
  run('dpkg-deb', ['--build', '--root-owner-group', '-Zxz', tree, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(lastChange(root)) },
  });
  console.log(file);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Installs the npm package with its dependencies, and moves its documentation to where Debian has it. */
function installProgram(tree) {
  const packed = run('npm', ['pack', '--silent', '--pack-destination', work], { cwd: root });
  const tarball = join(work, packed.trim().split('\n').at(-1));
  const prefix = join(work, 'prefix');
  run('npm', ['install', '--global', '--silent', '--ignore-scripts', '--prefix', prefix, tarball]);
  const program = join(tree, 'usr/lib/tipline');
  const doc = join(tree, 'usr/share/doc/tipline');
  for (const directory of [dirname(program), doc]) mkdirSync(directory, { recursive: true });
  renameSync(join(prefix, 'lib/node_modules/tipline'), program);
  for (const name of DOCUMENTATION) renameSync(join(program, name), join(doc, name));
  rmSync(join(program, 'packaging'), { recursive: true });
  // By this name the program finds that it is a command of the system.
  symlinkSync('dist/main.js', join(program, 'tipline'));
}

/** Installs the command, the units, the settings, and the licence. */
function installSystemFiles(tree) {
  copy('debian/tipline', 'usr/bin/tipline', 0o755);
  for (const name of readdirSync(join(packaging, 'systemd')))
    copy(`systemd/${name}`, `usr/lib/systemd/system/${name}`);
  writeIn(tree, SETTINGS, settings(), 0o640);
  const doc = 'usr/share/doc/tipline';
  writeIn(tree, `${doc}/copyright`, copyright());
  // The settings may contain passwords.
  const override = `tipline: non-standard-file-perm 0640 != 0644 [${SETTINGS}]\n`;
  writeIn(tree, 'usr/share/lintian/overrides/tipline', override);
  const date = execFileSync('date', ['-Ru', '-d', `@${lastChange(root)}`], { encoding: 'utf8' }).trim();
  const entry = `tipline (${VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer()}  ${date}\n`;
  writeIn(tree, `${doc}/changelog.gz`, gzipSync(entry, { level: 9 }));

  function copy(source, path, mode = 0o644) {
    writeIn(tree, path, readFileSync(join(packaging, source)), mode);
  }
}

/** Returns the settings that are installed: all are there as comments, and the data directory is set. */
function settings() {
  const [, ...lines] = readFileSync(join(root, '.env.example'), 'utf8').split('\n');
  const head =
    '# Settings of tipline.service, tipline-worker.service and, for root, of the command tipline. Remove the # before those to\n' +
    '# change, put values with blanks or # in single quotes, and restart the services.\n';
  const unset = '#TIPLINE_DATA_DIR=./data';
  const text = lines.join('\n');
  if (!text.includes(unset)) throw new Error(`.env.example has no line ${unset}.`);
  return head + text.replace(unset, `TIPLINE_DATA_DIR=${DATA}`);
}

function copyright() {
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tipline

Files: *
Copyright: ${new Date(lastChange(root) * 1000).getUTCFullYear()} the contributors to Tipline
License: Apache-2.0
 The text is in /usr/share/common-licenses/Apache-2.0. The licences of the packages that the program contains are in
 /usr/lib/tipline/dist/THIRD-PARTY-NOTICES.txt, /usr/lib/tipline/dist/web/THIRD-PARTY-NOTICES.txt and
 /usr/lib/tipline/node_modules/, those of the sample in /usr/lib/tipline/sample/ORIGINS.md.
`;
}

function writeControl(tree) {
  const files = readdirSync(tree, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  writeIn(
    tree,
    'DEBIAN/control',
    `Package: tipline
Version: ${VERSION}
Architecture: all
Maintainer: ${maintainer()}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: nodejs (>= ${NODE_VERSION}), adduser
Suggests: postgresql, postgresql-contrib, redis-server
Section: net
Priority: optional
Description: self-hosted, read-only threat-intelligence API
 Tipline publishes indicators, threat actors and campaigns over HTTP for
 scripts, SOAR playbooks, firewalls, IDS sensors and SIEMs. It imports STIX,
 MISP, CSV and plain lists, fetches feeds, and exports STIX, MISP, Snort,
 Suricata, Zeek, RPZ, Sigma and lists for firewalls.
`,
  );
  writeIn(tree, 'DEBIAN/conffiles', `/${SETTINGS}\n`);
  for (const name of ['postinst', 'prerm', 'postrm'])
    writeIn(tree, `DEBIAN/${name}`, readFileSync(join(packaging, 'debian', name)), 0o755);
}

function writeIn(tree, path, content, mode = 0o644) {
  const file = join(tree, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

function maintainer() {
  const { DEBFULLNAME = 'Tipline', DEBEMAIL = 'tipline@localhost' } = process.env;
  return `${DEBFULLNAME} <${DEBEMAIL}>`;
}

function run(command, args, options = {}) {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options });
}
