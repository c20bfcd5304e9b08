import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DATABASE_SERVER = fileURLToPath(new URL('./database-server.mjs', import.meta.url));
/** PostgreSQL refuses to run as root, so root runs it as nobody. */
const NOBODY = 65_534;
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const FILE_SERVER = fileURLToPath(new URL('./file-server.mjs', import.meta.url));
const BARE_SERVER = fileURLToPath(new URL('./bare-server.mjs', import.meta.url));
/** A quarter of a small machine's memory, as PostgreSQL's manual advises; connections for nine Tipline processes. */
const POSTGRES_SETTINGS = ['shared_buffers=2GB', 'max_wal_size=8GB', 'max_connections=250'];

const resources = [];

/** Returns the path of a program: in PATH, or in Debian's directories of PostgreSQL. */
export function findProgram(name, required = true) {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const directories = [
    ...process.env.PATH.split(':'),
    '/usr/sbin',
    ...versions.map((v) => join(debian, v, 'bin')),
  ];
  const path = directories.map((directory) => join(directory, name)).find((file) => existsSync(file));
  if (!path && required) throw new Error(`${name} is not installed.`);
  return path;
}

/** Creates a directory that `stopAll` removes. @returns its path */
export function temporaryDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'tipline-bench-'));
  resources.push({ stop: () => rmSync(directory, { recursive: true, force: true }) });
  return directory;
}

/** Starts an empty PostgreSQL in a temporary directory. @returns its URL */
export async function startPostgres() {
  const { data, options } = dataDirectory();
  execFileSync(
    findProgram('initdb'),
    ['-D', data, '-U', 'tipline', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    options,
  );
  return (await runPostgres(data, options, 'ready to accept connections')).url;
}

/** Starts a streaming replica. @returns its URL, and `kill()` */
export async function startReplica(primaryUrl) {
  const { data, options } = dataDirectory();
  execFileSync(
    findProgram('pg_basebackup'),
    ['-d', primaryUrl, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
    options,
  );
  chmodSync(data, 0o700);
  return runPostgres(data, options, 'ready to accept read-only connections');
}

/** Creates a data directory owned by the user that runs PostgreSQL. @returns its path and the options for `spawn` */
function dataDirectory() {
  const data = join(temporaryDirectory(), 'postgres');
  mkdirSync(data);
  const asRoot = process.getuid?.() === 0;
  const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (asRoot) for (const path of [join(data, '..'), data]) chownSync(path, NOBODY, NOBODY);
  return { data, options: { ...user, cwd: data, stdio: 'pipe' } };
}

async function runPostgres(data, options, ready) {
  const port = await freePort();
  const settings = POSTGRES_SETTINGS.flatMap((setting) => ['-c', setting]);
  const child = spawn(
    findProgram('postgres'),
    ['-D', data, '-p', port, '-F', '-c', 'listen_addresses=127.0.0.1', '-k', data, ...settings],
    options,
  );
  await start(child, { ready, signal: 'SIGINT' });
  // SIGQUIT ends all processes of PostgreSQL at once, like the loss of the machine.
  return { url: `postgres://tipline@127.0.0.1:${port}/postgres`, kill: () => child.kill('SIGQUIT') };
}

/** Starts a Redis Cluster of three masters. @returns the URL of one, and `kill()` for another */
export async function startRedisCluster() {
  const nodes = [];
  for (let i = 0; i < 3; i++) {
    const port = await freePort();
    const settings = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const cluster = [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      '2000',
      '--dir',
      temporaryDirectory(),
    ];
    const child = spawn(findProgram('redis-server', false) ?? findProgram('valkey-server'), [
      ...settings,
      ...cluster,
    ]);
    await start(child, { ready: 'Ready to accept connections' });
    nodes.push({ address: `127.0.0.1:${port}`, kill: () => child.kill('SIGKILL') });
  }
  const client = findProgram('redis-cli', false) ?? findProgram('valkey-cli');
  execFileSync(client, ['--cluster', 'create', ...nodes.map(({ address }) => address), '--cluster-yes'], {
    stdio: 'pipe',
  });
  return { url: `redis://${nodes[0].address}`, kill: () => nodes[2].kill() };
}

/** Starts a Redis or Valkey without persistence. @returns its URL */
export async function startRedis() {
  const port = await freePort();
  const settings = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  await start(spawn(findProgram('redis-server', false) ?? findProgram('valkey-server'), settings), {
    ready: 'Ready to accept connections',
  });
  return `redis://127.0.0.1:${port}`;
}

/** Returns the environment of a Tipline process. */
export const tiplineEnvironment = (databaseUrl, redisUrl) => ({
  ...process.env,
  NODE_ENV: 'production',
  LOG_LEVEL: 'warn',
  TIPLINE_DATA_DIR: temporaryDirectory(),
  TIPLINE_SECRET: 'x'.repeat(32),
  DATABASE_URL: databaseUrl,
  ...(redisUrl && { REDIS_URL: redisUrl }),
  PUBLIC_API_RATE_LIMIT_PER_WINDOW: '1000000000',
});

/** Starts one Tipline process. @returns its URL */
export async function startTipline(databaseUrl, redisUrl) {
  return (await startTiplineProcess(databaseUrl, redisUrl)).url;
}

/** Starts one Tipline process; without Redis it counts requests in memory. @returns its URL and process id, `stop()` and `kill()` */
export async function startTiplineProcess(databaseUrl, redisUrl, settings = {}) {
  const port = await freePort();
  const env = { ...tiplineEnvironment(databaseUrl, redisUrl), ...settings, HOST: '127.0.0.1', PORT: port };
  if (!redisUrl) delete env.REDIS_URL;
  const child = spawn(process.execPath, [MAIN, 'serve'], { env });
  const stop = await start(child, { ready: 'listens on' });
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop, kill: () => child.kill('SIGKILL') };
}

/** Runs a command of Tipline, as an operator does. @returns its output */
export function runTipline(databaseUrl, ...command) {
  const env = tiplineEnvironment(databaseUrl);
  delete env.REDIS_URL;
  return execFileSync(process.execPath, [MAIN, ...command], { env, encoding: 'utf8' });
}

/** Runs a command of Tipline beside what is measured. @returns a promise that ends with the command */
export function runTiplineBeside(databaseUrl, ...command) {
  const env = tiplineEnvironment(databaseUrl);
  const child = spawn(process.execPath, [MAIN, ...command], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((done, fail) => {
    child.once('exit', (code) => (code === 0 ? done() : fail(new Error(`${command[0]} failed.`))));
  });
}

/** Creates an API key. */
export function createKey(databaseUrl, ...options) {
  return JSON.parse(runTipline(databaseUrl, 'keys', 'create', '--name', 'bench', '--json', ...options)).key;
}

/** Starts the bare server with the recorded responses of a file. @returns its URL and process id, and `stop()` */
export async function startBareServer(responsesFile, processes = 1) {
  const port = await freePort();
  const child = spawn(process.execPath, [BARE_SERVER, responsesFile, port, String(processes)]);
  const stop = await start(child, { ready: 'ready' });
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop };
}

/** Starts the server that reads one row with node:http and pg alone. @returns its URL, and `stop()` */
export async function startDatabaseServer(databaseUrl) {
  const port = await freePort();
  const stop = await start(spawn(process.execPath, [DATABASE_SERVER, port, databaseUrl]), { ready: 'ready' });
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** Starts a server of one file, which it first pads to `bytes`. @returns its URL, and `stop()` */
export async function startFileServer(file, bytes) {
  const port = await freePort();
  const stop = await start(spawn(process.execPath, [FILE_SERVER, file, String(bytes), port]), {
    ready: 'ready',
  });
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** Waits until the output of a process contains `ready`; if the process exits before, the error shows its output. */
function start(child, { ready, signal = 'SIGTERM' }) {
  let output = '';
  const exited = new Promise((done) => child.once('exit', done));
  const stop = async () => {
    child.kill(signal);
    await exited;
  };
  resources.push({ stop });
  return new Promise((done, fail) => {
    const onOutput = (chunk) => {
      if (output.length < 10_000) output += chunk;
      if (output.includes(ready)) done(stop);
    };
    child.stdout.on('data', onOutput);
    child.stderr.on('data', onOutput);
    child.once('exit', () => fail(new Error(`A server exited during startup:\n${output}`)));
  });
}

/** Stops all processes in reverse order of their start, and removes their files. */
export async function stopAll() {
  while (resources.length > 0) await resources.pop().stop();
}

export async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return String(port);
}
