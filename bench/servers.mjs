import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DATABASE = fileURLToPath(new URL('./database-server.mjs', import.meta.url));
/** PostgreSQL refuses to run as root: then it runs as nobody. */
const NOBODY = 65_534;
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const FILES = fileURLToPath(new URL('./file-server.mjs', import.meta.url));
const BARE = fileURLToPath(new URL('./bare-server.mjs', import.meta.url));
/** A quarter of a small machine's memory, as PostgreSQL's manual advises; connections for nine processes of ours. */
const POSTGRES_SETTINGS = ['shared_buffers=2GB', 'max_wal_size=8GB', 'max_connections=250'];

const children = [];

/** The path of a program: in PATH, or where Debian keeps PostgreSQL's. */
export function find(name, required = true) {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const directories = [...process.env.PATH.split(':'), ...versions.map((v) => join(debian, v, 'bin'))];
  const path = directories.map((directory) => join(directory, name)).find((file) => existsSync(file));
  if (!path && required) throw new Error(`${name} is not installed`);
  return path;
}

/** A directory that is removed by `stopAll`. */
export function temporaryDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'tipline-bench-'));
  children.push({ stop: () => rmSync(directory, { recursive: true, force: true }) });
  return directory;
}

/** An empty PostgreSQL that keeps nothing. @returns its URL */
export async function startPostgres() {
  const { data, options } = dataDirectory();
  execFileSync(
    find('initdb'),
    ['-D', data, '-U', 'tipline', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    options,
  );
  return (await runPostgres(data, options, 'ready to accept connections')).url;
}

/** A streaming replica. @returns its URL, and how to kill it */
export async function startReplica(primaryUrl) {
  const { data, options } = dataDirectory();
  execFileSync(
    find('pg_basebackup'),
    ['-d', primaryUrl, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
    options,
  );
  chmodSync(data, 0o700);
  return runPostgres(data, options, 'ready to accept read-only connections');
}

/** PostgreSQL's own, which whoever runs it may use. */
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
    find('postgres'),
    ['-D', data, '-p', port, '-F', '-c', 'listen_addresses=127.0.0.1', '-k', data, ...settings],
    options,
  );
  await start(child, { ready, signal: 'SIGINT' });
  // All of it, as when the machine is gone: its processes end with the one that made them.
  return { url: `postgres://tipline@127.0.0.1:${port}/postgres`, kill: () => child.kill('SIGQUIT') };
}

/** A Redis Cluster of three masters. @returns the URL of one, and how to kill another */
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
    const child = spawn(find('redis-server', false) ?? find('valkey-server'), [...settings, ...cluster]);
    await start(child, { ready: 'Ready to accept connections' });
    nodes.push({ address: `127.0.0.1:${port}`, kill: () => child.kill('SIGKILL') });
  }
  const client = find('redis-cli', false) ?? find('valkey-cli');
  execFileSync(client, ['--cluster', 'create', ...nodes.map(({ address }) => address), '--cluster-yes'], {
    stdio: 'pipe',
  });
  return { url: `redis://${nodes[0].address}`, kill: () => nodes[2].kill() };
}

/** @returns its URL */
export async function startRedis() {
  const port = await freePort();
  const settings = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  await start(spawn(find('redis-server', false) ?? find('valkey-server'), settings), {
    ready: 'Ready to accept connections',
  });
  return `redis://127.0.0.1:${port}`;
}

/** The environment of a process of ours. */
export const settingsOf = (databaseUrl, redisUrl) => ({
  ...process.env,
  NODE_ENV: 'production',
  LOG_LEVEL: 'warn',
  TIPLINE_DATA_DIR: temporaryDirectory(),
  TIPLINE_SECRET: 'x'.repeat(32),
  DATABASE_URL: databaseUrl,
  ...(redisUrl && { REDIS_URL: redisUrl }),
  PUBLIC_API_RATE_LIMIT_PER_WINDOW: '1000000000',
});

/** One process of ours. @returns where it answers */
export async function startTipline(databaseUrl, redisUrl) {
  return (await startTiplineProcess(databaseUrl, redisUrl)).url;
}

/** @returns where it answers, its id and how to stop it; without a Redis it counts in its own memory */
export async function startTiplineProcess(databaseUrl, redisUrl, more = {}) {
  const port = await freePort();
  const env = { ...settingsOf(databaseUrl, redisUrl), ...more, HOST: '127.0.0.1', PORT: port };
  if (!redisUrl) delete env.REDIS_URL;
  const child = spawn(process.execPath, [MAIN, 'serve'], { env });
  const stop = await start(child, { ready: 'answers at' });
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop, kill: () => child.kill('SIGKILL') };
}

/** A new API key, made as an operator makes one. */
export function createKey(databaseUrl, ...options) {
  const env = settingsOf(databaseUrl);
  delete env.REDIS_URL;
  const said = execFileSync(
    process.execPath,
    [MAIN, 'keys', 'create', '--name', 'bench', '--json', ...options],
    {
      env,
      encoding: 'utf8',
    },
  );
  return JSON.parse(said).key;
}

/** The bare server in processes of its own, sending the answers of that file. @returns where, its id and how to stop it */
export async function startBareServer(answersFile, processes = 1) {
  const port = await freePort();
  const child = spawn(process.execPath, [BARE, answersFile, port, String(processes)]);
  const stop = await start(child, { ready: 'ready' });
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop };
}

/** The server that reads one row with node:http and pg alone, in a process of its own. @returns where, and how to stop it */
export async function startDatabaseServer(databaseUrl) {
  const port = await freePort();
  const stop = await start(spawn(process.execPath, [DATABASE, port, databaseUrl]), { ready: 'ready' });
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** A server of one file, so often that it is as long as that. @returns where, and how to stop it */
export async function startFileServer(file, bytes) {
  const port = await freePort();
  const stop = await start(spawn(process.execPath, [FILES, file, String(bytes), port]), { ready: 'ready' });
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** Waits until the process says that it is ready; what it logs to standard error is shown if it does not. */
function start(child, { ready, signal = 'SIGTERM' }) {
  let said = '';
  const exited = new Promise((done) => child.once('exit', done));
  const stop = async () => {
    child.kill(signal);
    await exited;
  };
  children.push({ stop });
  return new Promise((done, fail) => {
    const hear = (chunk) => {
      if (said.length < 10_000) said += chunk;
      if (said.includes(ready)) done(stop);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', () => fail(new Error(`a server ended at its start:\n${said}`)));
  });
}

/** Stops everything that was started, the last first, and removes its files. */
export async function stopAll() {
  while (children.length > 0) await children.pop().stop();
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return String(port);
}
