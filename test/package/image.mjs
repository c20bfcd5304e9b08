// Does with the image what an operator does: builds it, on a base made of Debian's packages, with NIGHTLY=1 twice with the same result;
// starts it on a read-only file system; and starts compose.yaml (compose.mjs). Needs root, debootstrap, buildah and `npm ci`;
// containers need podman, and compose.yaml podman-compose. Where one is missing, it reports that and leaves that part out.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { openImage } from '../../scripts/oci-image.mjs';
import { NOTICES, packagesOf } from '../../scripts/third-party.mjs';
import { tryCompose } from './compose.mjs';
import { environmentIn, removeContainers } from './containers.mjs';
import { makeDebian, succeeds, whyNoDebian } from './debian.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const repository = join(here, '../..');
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
const IMAGE = `localhost/tipline:${version}`;
const [BASE, BUILD_BASE, STAND_INS] = ['base', 'build-base', 'stand-ins'].map(
  (name) => `localhost/${name}:13`,
);
const CONFINED = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges'];

const missing = whyNoDebian() ?? (!succeeds('buildah', ['--version']) && 'no buildah here');
if (missing) {
  console.log(`(${missing}: the image is not tested)`);
  process.exit(0);
}
const work = mkdtempSync(join(tmpdir(), 'tipline-image-test-'));
const containers = join(work, 'containers');
const env = environmentIn(containers);
try {
  const root = join(work, 'root');
  if (makeDebian(root)) await testOn(root);
  else console.log('(no Debian 13 here: the image is not tested)');
} finally {
  removeContainers(containers, env);
  rmSync(work, { recursive: true, force: true });
}

async function testOn(root) {
  makeBases(root);
  const reason = whyNoContainers();
  if (reason) console.log(`(${reason}: the image is built, but not started)`);
  const composes = !reason && succeeds('podman-compose', ['--version']);
  const standIns = composes ? buildStandIns() : Promise.resolve();
  // A failure is thrown where it is awaited.
  standIns.catch(() => {});
  try {
    const image = timed('node scripts/image.mjs', () => build('first'));
    if (process.env.NIGHTLY) {
      const again = build('second', '--no-cache');
      assert.deepEqual(again.layers, image.layers);
      assert.equal(again.digest, image.digest);
      assert.deepEqual(again.bill, image.bill);
    }
    checkConfiguration(image.config);
    checkContents(image);
    if (!reason) await start();
  } finally {
    // It uses the directory that is removed next.
    await standIns.catch(() => {});
  }
  await standIns;
  // Networks of other runs on this machine have other names.
  const directory = join(work, `compose-${process.pid}`);
  if (composes) await tryCompose({ repository, directory, env });
  else if (!reason) console.log('(no podman-compose here: compose.yaml is not started)');
}

/** Makes the base of the image from a root directory, and that of its build, which has Node.js and this machine's npm, too. */
function makeBases(root) {
  const npm = join(run('npm', ['root', '--global']).trim(), 'npm');
  const script = `
    base=$(buildah from scratch)
    buildah add --quiet $base "${root}" /
    buildah commit --quiet $base ${BASE}
    buildah run --network host $base -- sh -ec 'apt-get update -qq
      apt-get install -y -qq --no-install-recommends ca-certificates nodejs > /dev/null
      ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/bin/npm'
    buildah add --quiet $base "${npm}" /usr/lib/node_modules/npm
    buildah commit --quiet $base ${BUILD_BASE}
    buildah rm $base`;
  run('sh', ['-ec', script]);
}

/** Builds the images that compose.yaml names besides Tipline's own, while others are built. */
async function buildStandIns() {
  const names = readFileSync(join(repository, 'compose.yaml'), 'utf8').match(/(?<=image: )docker\.io\S+/g);
  const tags = [STAND_INS, ...names].flatMap((name) => ['--tag', name]);
  const args = [
    'build',
    '--network',
    'host',
    '--build-arg',
    `BASE=${BASE}`,
    ...tags,
    join(here, 'stand-ins'),
  ];
  const child = spawn('buildah', args, { env, stdio: 'ignore' });
  assert.deepEqual(await once(child, 'exit'), [0, null]);
}

/** Builds the image; returns its contents, which are the same for the same commit. */
function build(name, ...options) {
  const directory = join(work, name);
  const authority = process.env.NODE_EXTRA_CA_CERTS;
  const printed = run('node', [
    ...['scripts/image.mjs', directory, '--network', 'host'],
    ...['--build-arg', `BASE=${BASE}`, '--build-arg', `BUILD_BASE=${BUILD_BASE}`],
    ...(authority ? ['--secret', `id=ca,src=${authority}`] : []),
    ...options,
  ]);
  const [archive, bill] = ['tar', 'cdx.json'].map((end) =>
    join(directory, `tipline-${version}-image.${end}`),
  );
  assert.equal(printed, `${archive}\n${bill}\n`);
  const { digest, layers, config, extract } = openImage(archive, join(work, `${name}-layout`));
  if (name === 'first') {
    extract(join(work, 'files'), () => true);
    console.log(`${(statSync(archive).size / 1e6).toFixed(0)} MB`);
  }
  return { digest, layers, config, bill: JSON.parse(readFileSync(bill, 'utf8')) };
}

function checkConfiguration({ config }) {
  const { Labels: labels, ...rest } = config;
  assert.deepEqual(
    { ...rest, Env: rest.Env.filter((one) => !one.startsWith('PATH=')) },
    {
      User: '10001:10001',
      ExposedPorts: { '8080/tcp': {} },
      Env: ['HOST=0.0.0.0', 'TIPLINE_DATA_DIR=/var/lib/tipline'],
      Entrypoint: ['tipline'],
      Cmd: ['serve'],
      Volumes: { '/var/lib/tipline': {} },
      WorkingDir: '/var/lib/tipline',
      StopSignal: 'SIGTERM',
    },
  );
  const label = (name) => labels[`org.opencontainers.image.${name}`];
  assert.deepEqual(['title', 'version', 'licenses', 'revision'].map(label), [
    'Tipline',
    version,
    'Apache-2.0',
    run('git', ['rev-parse', 'HEAD']).trim(),
  ]);
}

/** Checks the files of the image, and its bill of materials against them and the schema of CycloneDX. */
function checkContents({ bill }) {
  const files = join(work, 'files');
  const program = join(files, 'usr/lib/tipline');
  assert.equal(readFileSync(join(program, 'dist/commit'), 'utf8'), run('git', ['rev-parse', 'HEAD']));
  // Files that are not the same in each build, and what the build alone needs.
  for (const path of ['tmp', 'var/log', 'var/lib/apt/lists', 'var/cache/apt', 'build', 'root'])
    assert.deepEqual(filesIn(join(files, path)), path === 'root' ? ['.bashrc', '.profile'] : [], path);
  assert.ok(!filesIn(files).some((path) => path.endsWith('/npm-cli.js')));
  const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
  formats.default(ajv);
  const read = (name) =>
    JSON.parse(readFileSync(join(repository, 'test/schemas/cyclonedx-1.6', name), 'utf8'));
  // It refers to the others by their names.
  for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'])
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}`);
  const validate = ajv.compile(read('bom-1.6.SNAPSHOT.schema.json'));
  assert.ok(validate(bill), JSON.stringify(validate.errors));
  const listed = (prefix) => bill.components.filter(({ purl }) => purl?.startsWith(prefix)).length;
  const status = readFileSync(join(files, 'var/lib/dpkg/status'), 'utf8');
  assert.equal(listed('pkg:deb/debian/'), status.match(/^Status: install ok installed$/gm).length);
  assert.equal(listed('pkg:deb/debian/nodejs@20.'), 1);
  const notices = ['dist', 'dist/web'].map((name) => readFileSync(join(program, name, NOTICES), 'utf8'));
  const bundled = new Set(notices.flatMap(packagesOf).map(({ name, version }) => `${name}@${version}`));
  // PGlite is installed beside the bundles.
  assert.equal(listed('pkg:npm/'), bundled.size + 1);
  assert.equal(listed('pkg:npm/%40electric-sql/pglite@'), 1);
  assert.equal(listed('pkg:npm/fastify@'), 1);
  console.log(`bill of materials: ${listed('pkg:deb/')} packages of Debian, ${listed('pkg:npm/')} of npm`);
}

/** Returns the files and links in a directory; none where it does not exist. */
function filesIn(directory) {
  if (!statSync(directory, { throwIfNoEntry: false })) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1))
    .sort();
}

/** Starts a container on a volume, uses it, stops it, and starts another one on the same volume. */
async function start() {
  const began = performance.now();
  const key = await inContainer(async (address) => {
    console.log(`first response after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    podman('exec', 'tipline', 'tipline', 'health');
    assert.throws(() => podman('exec', 'tipline', 'touch', '/usr/lib/tipline/x'), /Read-only file system/);
    assert.equal(podman('exec', 'tipline', 'tipline', '--version').trim(), version);
    podman('exec', 'tipline', 'tipline', 'import', 'list.txt', '--source', 'Ours', '--tlp', 'GREEN');
    const created = podman('exec', 'tipline', 'tipline', 'keys', 'create', '--name', 'check');
    const status = await statusOf(`${address}/api/v1/indicators`);
    assert.equal(status, 401);
    return created.match(/tip_\S+/)[0];
  });
  await inContainer(async (address) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${address}/api/v1/indicators`, { headers });
    assert.equal((await response.json()).total, 1);
  });
  const wrong = ['run', '--rm', ...CONFINED, '--env', 'PORT=none', IMAGE, 'health'];
  assert.throws(() => podman(...wrong), /PORT must be/);
}

async function inContainer(use) {
  const volume = join(work, 'volume');
  if (!statSync(volume, { throwIfNoEntry: false })) {
    mkdirSync(volume);
    writeFileSync(join(volume, 'list.txt'), 'host.evil-domain.net\n');
    run('chown', ['-R', '10001:10001', volume]);
  }
  const options = [
    '--name',
    'tipline',
    '--volume',
    `${volume}:/var/lib/tipline`,
    '--publish',
    '127.0.0.1::8080',
  ];
  podman('run', '--detach', ...CONFINED, ...options, IMAGE);
  const address = `http://${podman('port', 'tipline', '8080').trim()}`;
  try {
    while ((await statusOf(`${address}/api/health`)) !== 200) {
      assert.equal(podman('inspect', 'tipline', '--format', '{{.State.Running}}').trim(), 'true');
      await delay(100);
    }
    return await use(address);
  } catch (error) {
    console.log(podman('logs', 'tipline'));
    throw error;
  } finally {
    podman('stop', '--time', '30', 'tipline');
    const exit = podman('inspect', 'tipline', '--format', '{{.State.ExitCode}}').trim();
    podman('rm', 'tipline');
    assert.equal(exit, '0');
  }
}

/** Returns the reason why this machine starts no containers; undefined: it does. */
function whyNoContainers() {
  if (!succeeds('podman', ['--version'])) return 'no podman here';
  try {
    podman('network', 'create', 'probe');
    podman('run', '--rm', ...CONFINED, '--network', 'probe', BASE, 'true');
    return undefined;
  } catch (error) {
    return `podman starts no containers here (${String(error.stderr).trim()})`;
  }
}

async function statusOf(url) {
  const signal = AbortSignal.timeout(5_000);
  return (await fetch(url, { signal }).catch(() => null))?.status;
}

function podman(...args) {
  return run('podman', args);
}

function timed(name, action) {
  const began = performance.now();
  const result = action();
  console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  return result;
}

function run(command, args) {
  return execFileSync(command, args, {
    cwd: repository,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    // What is written to standard error is in the error that a failure throws.
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
  });
}
