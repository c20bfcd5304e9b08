import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { type EmptyStore, makeEmptyStore } from './empty-store.ts';
import { buildProduct } from './product.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a PostgreSQL started for this run, or null where none is installed. */
    postgresUrl: string | null;
    redisUrl: string | null;
    redisServer: string | null;
    /** main.js of this tree, compiled for this run; null when it does not compile. */
    productMain: string | null;
    /** An embedded store to begin with. */
    emptyStore: EmptyStore;
  }
}

/** A server that a test may end and start again on the same port. */
export interface ServerProcess {
  url: string;
  process: ChildProcess;
}

/** PostgreSQL refuses to run as root: then it runs as nobody. */
const NOBODY = 65_534;

/** Starts the real servers where their binaries are found, for the length of the test run. */
export default async function setup(project: TestProject) {
  const directory = mkdtempSync(join(tmpdir(), 'tipline-test-'));
  const postgres = await startPostgres(join(directory, 'postgres'));
  const redis = await startRedis();
  const productMain = buildProduct(join(directory, 'product'));
  project.provide('productMain', productMain);
  project.provide('emptyStore', await makeEmptyStore(directory, productMain));
  project.provide('postgresUrl', postgres?.url ?? null);
  project.provide('redisUrl', redis?.url ?? null);
  project.provide('redisServer', find('redis-server') ?? find('valkey-server') ?? null);
  if (!postgres)
    console.warn('\n*** No PostgreSQL found: the suites run on the embedded database only. ***\n');
  if (!redis) console.warn('\n*** No Redis found: the tests of shared rate windows do not run. ***\n');
  return async () => {
    await Promise.all([stop(postgres?.process, 'SIGINT'), stop(redis?.process, 'SIGTERM')]);
    rmSync(directory, { recursive: true, force: true });
  };
}

/** In PATH, or where Debian keeps PostgreSQL's. */
function find(name: string): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const directories = [
    ...(process.env.PATH ?? '').split(':'),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  return directories.map((directory) => join(directory, name)).find((path) => existsSync(path));
}

/**
 * PostgreSQL on a directory, made when it is new, whose parent is the test's own.
 * @returns null where it is not installed
 */
export async function startPostgres(data: string, wantedPort?: number): Promise<ServerProcess | null> {
  const [initdb, server] = [find('initdb'), find('postgres')];
  if (!initdb || !server) return null;
  if (!existsSync(data)) initialize(initdb, data, unprivileged());
  return runPostgres(server, data, 'ready to accept connections', wantedPort);
}

/**
 * A streaming replica of a PostgreSQL that runs, on a directory whose parent is the test's own: a copy when it is new.
 * @returns null where PostgreSQL is not installed
 */
export async function startReplica(
  primaryUrl: string,
  data: string,
  wantedPort?: number,
): Promise<ServerProcess | null> {
  const [copy, server] = [find('pg_basebackup'), find('postgres')];
  if (!copy || !server) return null;
  if (!existsSync(data))
    execFileSync(copy, ['-d', primaryUrl, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'], {
      ...unprivileged(),
      stdio: 'pipe',
      cwd: join(data, '..'),
    });
  return runPostgres(server, data, 'ready to accept read-only connections', wantedPort);
}

const unprivileged = () => (process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {});

async function runPostgres(
  server: string,
  data: string,
  saysWhenReady: string,
  wantedPort?: number,
): Promise<ServerProcess> {
  const port = wantedPort ?? (await freePort());
  const options = ['-F', '-c', 'listen_addresses=127.0.0.1', '-k', data, '-c', 'max_connections=200'];
  const process_ = spawn(server, ['-D', data, '-p', String(port), ...options], {
    ...unprivileged(),
    stdio: 'pipe',
    cwd: data,
  });
  const url = `postgres://tipline@127.0.0.1:${port}/postgres`;
  await ready(process_, 'stderr', saysWhenReady);
  return { url, process: process_ };
}

function initialize(initdb: string, data: string, user: { uid?: number; gid?: number }): void {
  mkdirSync(data, { recursive: true });
  if (user.uid !== undefined) {
    chownSync(join(data, '..'), NOBODY, NOBODY);
    chownSync(data, NOBODY, NOBODY);
  }
  execFileSync(initdb, ['-D', data, '-U', 'tipline', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...user,
    stdio: 'pipe',
    cwd: data,
  });
}

/** @returns null where it is not installed */
export async function startRedis(
  wantedPort?: number,
  moreArguments: string[] = [],
): Promise<ServerProcess | null> {
  const server = find('redis-server') ?? find('valkey-server');
  if (!server) return null;
  const port = wantedPort ?? (await freePort());
  const process_ = spawn(
    server,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...moreArguments],
    {
      stdio: 'pipe',
    },
  );
  await ready(process_, 'stdout', 'Ready to accept connections');
  return { url: `redis://127.0.0.1:${port}`, process: process_ };
}

async function ready(child: ChildProcess, stream: 'stdout' | 'stderr', words: string): Promise<void> {
  let said = '';
  const heard = new Promise<void>((done, fail) => {
    child[stream]?.on('data', (chunk) => {
      said += chunk;
      if (said.includes(words)) done();
    });
    child.once('exit', () => fail(new Error(`the server ended at its start: ${said}`)));
  });
  await Promise.race([
    heard,
    delay(300_000, null, { ref: false }).then(() => Promise.reject(new Error(said))),
  ]);
}

export async function stop(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill(signal);
  await ended;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}
