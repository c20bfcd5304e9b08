// @module-tag nightly
import { chownSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canMountDisks, mountDisk, temporaryDirectory } from '../support/directories.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { hasPostgres, nodeSettings } from '../support/postgres-nodes.ts';
import { run, tipline, until } from '../support/processes.ts';
import { type ServerProcess, startPostgres, stop } from '../support/servers.ts';
import { createKey, emptyStore, type Service, serve } from '../support/service.ts';

/** More than there is of any disk: it is as if it were nearly full. */
const FULL = { TIPLINE_DISK_RESERVE_MB: '1000000' };

describe('tipline on a disk that is nearly full', () => {
  const directory = emptyStore();
  let key: string;
  let service: Service;
  beforeAll(async () => {
    const env = { TIPLINE_DATA_DIR: directory };
    key = await createKey({ command: (...args) => run(args, { env }) });
    service = await serve({ ...env, ...FULL });
  });
  afterAll(() => service.stop());

  it('starts, serves lists and exports, and is ready', async () => {
    const paths = ['/api/health/ready', '/api/v1/indicators', '/api/v1/indicators?format=csv'];
    const answers = await Promise.all(paths.map((path) => service.get(path, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('reports it in the health check and in the log', async () => {
    const response = await service.get('/api/health?deep=1');
    const { checks } = (await response.json()) as { checks: { database: object } };
    expect([response.status, checks.database]).toMatchObject([
      503,
      { status: 'degraded', message: expect.stringContaining('disk is full or nearly full') },
    ]);
    expect(service.stderr()).toContain(`The disk of ${directory} is nearly full`);
  });

  it('rejects requests that need to write with 503 and the reason', async () => {
    const response = await service.get('/api/v1/indicators?format=rpz', key);
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { code: 'service_unavailable', error: expect.stringContaining('disk') },
    ]);
    expect(response.headers.has('retry-after')).toBe(true);
  });

  it('makes writing commands fail with the reason, and writes nothing', async () => {
    const { code, stderr } = await service.command('keys', 'create', '--name', 'another');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`The disk of ${directory} is nearly full`)]);
    const { stdout } = await service.command('keys', 'list', '--json');
    expect(JSON.parse(stdout)).toHaveLength(1);
  });

  it('writes again after a restart with free space', async () => {
    await service.stop();
    const env = { TIPLINE_DATA_DIR: directory, PORT: '0' };
    const running = tipline(['serve'], { env });
    await running.says(/listens on/);
    running.signal('SIGTERM');
    await running.exit;
    expect(await createKey({ command: (...args) => run(args, { env }) })).toMatch(/^tip_/);
  });
});

const MB = 1024 * 1024;
/** Of an empty database of Tipline some 20 MB are taken. */
const DISK_MB = 96;
/** As PostgreSQL runs in the tests of root. */
const NOBODY = 65_534;

/** Until then the worker writes them. */
async function hasAppliedLists(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query('select edition = applied as applied from whitelist_state');
  await client.end();
  return rows[0]?.applied === true;
}

describe.skipIf(!hasPostgres || !canMountDisks())('tipline on a PostgreSQL whose disk is full', () => {
  const name = 'full_disk';
  /** Of this test alone: while the disk is full no checkpoint of the whole server succeeds. */
  let postgres: ServerProcess;
  const admin = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  const directory = join(temporaryDirectory(), 'disk');
  const ballast = join(directory, 'ballast');
  const free = () => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };
  const list = Array.from({ length: 5_000 }, (_, i) => `n${i}.test-feed.net\n`).join('');
  const file = join(temporaryDirectory(), 'list.txt');
  let feed: FeedServer;
  let service: Service;
  let key: string;
  let sendList = () => {};
  const listWanted = new Promise<void>((resolve) => {
    sendList = resolve;
  });
  beforeAll(async () => {
    mountDisk(directory, DISK_MB * MB);
    postgres = (await startPostgres(join(temporaryDirectory(), 'postgres'))) as ServerProcess;
    const space = join(directory, 'space');
    mkdirSync(space);
    chownSync(space, NOBODY, NOBODY);
    await admin(
      `create tablespace ${name} location '${space}'`,
      `create database ${name} tablespace ${name}`,
    );
    const url = postgres.url.replace(/\/[^/]*$/, `/${name}`);
    const env = { ...nodeSettings(url), OUTBOUND_NETWORKS: '127.0.0.1/32' };
    const command = (...args: string[]) => run(args, { env });
    expect((await command('migrate')).code).toBe(0);
    key = await createKey({ command });
    feed = await startFeedServer();
    feed.answer({ handle: (_, response) => void listWanted.then(() => response.end(list)) });
    const options = ['--kind', 'text', '--address', `${feed.address}/list`, '--tlp', 'CLEAR'];
    // Due when the worker starts.
    expect((await command('sources', 'add', 'fetched', ...options)).code).toBe(0);
    service = await serve(env);
    writeFileSync(file, list);
    await until('the list to be fetched', async () => feed.asked.length > 0);
    await until('the bundled lists to be applied', () => hasAppliedLists(url));
    writeFileSync(ballast, Buffer.alloc(free() - 2 * MB));
  });
  afterAll(async () => {
    await service?.stop();
    await feed?.close();
    await stop(postgres?.process, 'SIGINT');
  });

  const statusOf = async (path: string) => (await service.get(path, key)).status;
  const deep = async () => {
    const response = await service.get('/api/health?deep=1');
    return [response.status, await response.json()];
  };

  it('serves reads, rejects writes, reports it in the health check, and recovers by itself', async () => {
    expect((await deep())[0]).toBe(200);
    const importing = () => service.command('import', file, '--source', 'Full', '--tlp', 'CLEAR');
    sendList();
    await until('the server to have met it', async () => (await deep())[0] === 503);
    expect(await deep()).toMatchObject([
      503,
      { checks: { database: { status: 'degraded', message: expect.stringContaining('disk is full') } } },
    ]);
    const { code, stderr } = await importing();
    // The second is for a connection whose catalogue cache has to be written first.
    const reason = /No space left on device|could not write init file/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
    expect(await Promise.all(['/api/health/ready', '/api/v1/indicators?type=DOMAIN'].map(statusOf))).toEqual([
      200, 200,
    ]);
    rmSync(ballast);
    await until('its health to be well', async () => (await deep())[0] === 200);
    expect((await importing()).code).toBe(0);
  });
});
