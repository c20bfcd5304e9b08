import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { remoteEngine } from '../../src/db/embedded/client.ts';
import { connectToHolder } from '../../src/db/embedded/lock.ts';
import { connectPglite } from '../../src/db/embedded/pglite.ts';
import { leaseQueue, serveStore } from '../../src/db/embedded/server.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { run, tipline, until } from '../support/processes.ts';
import { createKey, serve } from '../support/service.ts';

const socketsIn = (directory: string) => readdirSync(directory).filter((name) => name.endsWith('.sock'));

describe('the data directory', () => {
  it('cannot be used by a second server, whose error names it and the process that uses it', {
    tags: ['nightly'],
  }, async () => {
    const first = await serve();
    const second = await first.command('serve');
    expect({ code: second.code, stderr: second.stderr }).toEqual({
      code: 1,
      stderr: `The data directory ${first.directory} is in use by process ${first.pid}.\n`,
    });
  });

  it('is acquired by exactly one of two servers that start simultaneously', {
    tags: ['nightly'],
  }, async () => {
    const env = { TIPLINE_DATA_DIR: temporaryDirectory(), PORT: '0' };
    await run(['migrate'], { env });
    for (let round = 1; round <= 3; round++) {
      const both = [tipline(['serve'], { env }), tipline(['serve'], { env })];
      const said = await Promise.allSettled(both.map((server) => server.says(/listens on/)));
      for (const server of both) server.signal('SIGTERM');
      const exits = await Promise.all(both.map((server) => server.exit));
      const answering = said.filter(({ status }) => status === 'fulfilled').length;
      const codes = exits.map(({ code }) => code).sort();
      expect({ round, answering, codes }).toEqual({ round, answering: 1, codes: [0, 1] });
    }
  });

  it("may have a path longer than a socket's limit, also for a command beside the server", {
    tags: ['nightly'],
  }, async () => {
    const directory = join(temporaryDirectory(), 'deep'.repeat(15), 'deeper'.repeat(15));
    mkdirSync(directory, { recursive: true });
    const service = await serve({ TIPLINE_DATA_DIR: directory });
    expect((await service.get('/api/v1/indicators', await createKey(service))).status).toBe(200);
  });

  it('is not blocked by the socket of a killed server', { tags: ['nightly'] }, async () => {
    const killed = await serve();
    killed.signal('SIGKILL');
    await killed.exit;
    const left = socketsIn(killed.directory);
    await serve({ TIPLINE_DATA_DIR: killed.directory });
    const now = socketsIn(killed.directory);
    expect({ left: left.length, now: now.length, same: now[0] === left[0] }).toEqual({
      left: 1,
      now: 1,
      same: false,
    });
  });

  it('whose database is incomplete is named with the reason and the remedy', {
    tags: ['nightly'],
  }, async () => {
    const service = await serve();
    const { directory } = service;
    const env = { TIPLINE_DATA_DIR: directory };
    service.signal('SIGTERM');
    await service.exit;
    rmSync(join(directory, 'pgdata', 'global', 'pg_control'));
    const expected = `The embedded database in ${directory} cannot be opened: its files are damaged or incomplete (could not open file "global/pg_control": No such file or directory). Restore a backup: tipline restore FILE --replace ${directory}`;
    const served = await run(['serve'], { env });
    expect([served.code, served.stderr]).toEqual([1, expect.stringContaining(`${expected}\n`)]);
    expect((await run(['doctor'], { env })).stdout).toContain(`database: ${expected}.`);
  });

  it('has a socket that only its user can access', async () => {
    const { directory } = await serve();
    const [socket = ''] = socketsIn(directory);
    expect(statSync(join(directory, socket)).mode & 0o777).toBe(0o700);
  });
});

describe('a process that holds the database idle', () => {
  it('loses its lease after a timeout, and its open transaction is rolled back', {
    tags: ['nightly'],
  }, async () => {
    const engine = leaseQueue(await connectPglite());
    const path = join(temporaryDirectory(), 'store.sock');
    const server = createServer((socket) => void serveStore(socket, engine, () => 200));
    await new Promise<void>((done) => server.listen(path, done));
    const remote = remoteEngine(async () => createConnection(path));
    const idle = await remote.acquire();
    for (const statement of ['create table note (word text)', 'begin', "insert into note values ('kept?')"])
      await idle.query(statement, []);
    const next = await remote.acquire();
    const { rows } = await next.query('select word from note', []);
    await next.release();
    server.close();
    await engine.close();
    expect(rows).toEqual([]);
  });

  it('does not keep the server from stopping cleanly', { tags: ['nightly'] }, async () => {
    const service = await serve();
    // Its use is written at the end, and the worker has jobs of the database by then.
    await service.get('/api/v1/indicators', await createKey(service));
    await until('the worker runs', () => service.stderr().includes('the worker runs'));
    const held = await remoteEngine(() => connectToHolder(service.directory)).acquire();
    await held.query('begin', []);
    const { code } = await service.stop();
    await held.release();
    expect(code).toBe(0);
  });
});
