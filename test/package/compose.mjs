// Starts compose.yaml with podman-compose, and does what clients and operators do: requests through the load balancer, an
// import, a node that is stopped, and one that is killed, while requests go on.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';

const LIST = '/api/v1/indicators';
const PUBLISHED = '127.0.0.1:8080:8000';
const CHECKED = ['postgres', 'valkey', 'node-1', 'node-2', 'worker'];
const LOAD_BALANCER = 'load-balancer';

/**
 * @param repository the directory with compose.yaml
 * @param directory an absent one, for a copy with a free port and secrets
 * @param env the environment in which podman has the images
 */
export async function tryCompose({ repository, directory, env }) {
  const address = await copyFiles();
  assert.throws(() => compose('up', '--detach'), /must be set in \.env/);
  const secrets = `POSTGRES_PASSWORD=${'ab12'.repeat(6)}\nTIPLINE_SECRET=${'cd34'.repeat(10)}\n`;
  writeFileSync(join(directory, '.env'), secrets);
  const began = performance.now();
  compose('up', '--detach');
  try {
    await until(async () => (await statusOf()) === 401, 'no response');
    console.log(`compose.yaml: first response after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    await use();
  } catch (error) {
    if (!areNamesResolved())
      return console.log('(containers do not resolve the names of others here: compose.yaml is not tested)');
    for (const service of [...CHECKED, LOAD_BALANCER]) console.log(`--- ${service}\n${logOf(service, 20)}`);
    throw error;
  } finally {
    compose('down', '--volumes');
  }

  async function use() {
    for (const service of CHECKED) await until(() => isHealthy(service), `${service} is not healthy`);
    // The name server of Debian 12's containers may not respond for some 40 seconds after they have started.
    await until(() => resolves('node-1', 'postgres'), 'node-1 does not resolve postgres');
    const [key, stopKey, killKey] = ['check', 'stop', 'kill'].map((name) => createKey(name));
    importOn('node-1');
    for (const node of ['node-1', 'node-2']) {
      const response = await request({ key, at: `http://${networkAddress(node)}:8080` });
      assert.equal((await response.json()).total, 1, node);
    }
    await checkClientAddress();
    await whileRequesting(stopKey, 'node-1 stops', ['stop', '--time', '40', nameOf('node-1')]);
    podman('start', nameOf('node-1'));
    await until(async () => (await nodeOfRequest(key)) === 'node-1', 'node-1 gets no requests');
    await whileRequesting(killKey, 'node-2 is killed', ['kill', nameOf('node-2')]);
  }

  async function copyFiles() {
    const port = await freePort();
    mkdirSync(directory);
    cpSync(join(repository, 'packaging/compose'), join(directory, 'packaging/compose'), { recursive: true });
    const text = readFileSync(join(repository, 'compose.yaml'), 'utf8');
    assert.ok(text.includes(PUBLISHED));
    writeFileSync(join(directory, 'compose.yaml'), text.replace(PUBLISHED, `127.0.0.1:${port}:8000`));
    return `http://127.0.0.1:${port}`;
  }

  /** The networks of a key are compared with the address that the load balancer saw, not with one that the client states. */
  async function checkClientAddress() {
    const elsewhere = createKey('elsewhere', '--network', '203.0.113.0/24');
    assert.notEqual(await statusOf({ key: elsewhere, headers: { 'x-forwarded-for': '203.0.113.7' } }), 200);
    const [seen] = logOf(LOAD_BALANCER, 1).split(' ');
    assert.equal(await statusOf({ key: createKey('here', '--network', `${seen}/32`) }), 200, seen);
  }

  /**
   * Sends requests one after the other until a command of podman has ended; each must succeed.
   * @param key one that nothing else uses: it has a rate limit of its own
   */
  async function whileRequesting(key, name, command) {
    let hasEnded = false;
    const ended = promisify(execFile)('podman', command, { env })
      // For as long as the load balancer may need to notice it.
      .then(() => delay(4_000))
      .finally(() => {
        hasEnded = true;
      });
    let requests = 0;
    for (; !hasEnded; requests++) {
      assert.equal(await statusOf({ key }), 200, name);
      await delay(100);
    }
    await ended;
    console.log(`${requests} requests while ${name}`);
  }

  async function nodeOfRequest(key) {
    await statusOf({ key });
    return logOf(LOAD_BALANCER, 1).trim().split(' ').at(-1);
  }

  function createKey(name, ...options) {
    return tipline('node-1', 'keys', 'create', '--name', name, ...options).match(/tip_\S+/)[0];
  }

  function tipline(service, ...args) {
    return podman('exec', nameOf(service), 'tipline', ...args);
  }

  /** Imports one indicator from standard input. */
  function importOn(service) {
    const command = ['tipline', 'import', '-', '--source', 'Ours', '--tlp', 'GREEN'];
    const input = 'host.evil-domain.net\n';
    execFileSync('podman', ['exec', '--interactive', nameOf(service), ...command], {
      env,
      input,
      stdio: 'pipe',
    });
  }

  function isHealthy(service) {
    return succeeds('healthcheck', 'run', nameOf(service));
  }

  function resolves(service, name) {
    return succeeds('exec', nameOf(service), 'node', '-e', lookUp(name));
  }

  /** Returns whether a container of its own, in the network of the services, gets the address of one; a first attempt may take too long. */
  function areNamesResolved() {
    const format = '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}';
    const network = podman('inspect', nameOf('postgres'), '--format', format).trim();
    const image = podman('inspect', nameOf('worker'), '--format', '{{.ImageName}}').trim();
    const command = [
      'run',
      '--rm',
      '--network',
      network,
      '--entrypoint',
      'node',
      image,
      '-e',
      lookUp('postgres'),
    ];
    return [1, 2, 3].some(() => succeeds(...command));
  }

  function succeeds(...args) {
    return spawnSync('podman', args, { env }).status === 0;
  }

  function networkAddress(service) {
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
    return podman('inspect', nameOf(service), '--format', format).trim();
  }

  function logOf(service, lines) {
    const { stdout, stderr } = spawnSync('podman', ['logs', '--tail', String(lines), nameOf(service)], {
      env,
      encoding: 'utf8',
    });
    return stdout + stderr;
  }

  /** podman-compose names containers after the directory. */
  function nameOf(service) {
    return `${basename(directory)}_${service}_1`;
  }

  function request({ key, headers, at = address } = {}) {
    const authorization = key && { authorization: `Bearer ${key}` };
    return fetch(at + LIST, {
      headers: { ...authorization, ...headers },
      signal: AbortSignal.timeout(60_000),
    });
  }

  async function statusOf(options) {
    return (await request(options).catch(() => null))?.status;
  }

  function compose(...args) {
    return run('podman-compose', args);
  }

  function podman(...args) {
    return run('podman', args);
  }

  function run(command, args) {
    const options = {
      cwd: directory,
      env,
      encoding: 'utf8',
      timeout: 120_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    };
    return execFileSync(command, args, options);
  }
}

/** Returns a script for Node.js that fails if a name has no address. */
const lookUp = (name) => `require('node:dns').lookup('${name}', (error) => process.exit(error ? 1 : 0))`;

async function until(isTrue, problem) {
  for (const end = performance.now() + 120_000; !(await isTrue()); await delay(250))
    assert.ok(performance.now() < end, problem);
}
