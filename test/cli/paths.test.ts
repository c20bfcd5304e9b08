import { execFile, execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { freshDatabase, hasPostgres, nodeSettings } from '../support/postgres-nodes.ts';
import { run, start } from '../support/processes.ts';
import { factsOf, loadDump, releases, unpack } from '../support/releases.ts';
import { type ServerProcess, startPostgres, startReplica, stop } from '../support/servers.ts';
import { emptyStore, type Service, serve } from '../support/service.ts';

/** Commands through a running server take a third of the time. */
let service: Service;
beforeAll(async () => {
  service = await serve();
});

interface Key {
  id: string;
  name: string;
  expiresAt: string | null;
  state: string;
}

/** The keys of a name on the running server, oldest first. */
async function keysOf(name: string): Promise<Key[]> {
  const keys = JSON.parse((await service.command('keys', 'list', '--json')).stdout) as Key[];
  return keys.filter((key) => key.name === name);
}

const statesOf = async (name: string) => (await keysOf(name)).map(({ state }) => state);

describe('a command without a database', () => {
  it.each([
    ['keys', 'list'],
    ['keys', 'create', '--name', 'lost'],
    ['users', 'list'],
    ['sources', 'list'],
    ['imports', 'list'],
    ['imports', 'undo', '00000000-0000-4000-8000-000000000000'],
    ['whitelist', 'list'],
    ['providers', 'list'],
    ['enrich', 'example.org'],
    ['export', '--format', 'csv'],
    ['confidence', 'pin', 'example.org', '1', '--reason', 'x'],
    ['campaigns', 'status', 'x', 'ACTIVE', '--reason', 'x'],
    ['migrate'],
    ['worker'],
  ])('creates none: %s %s', async (...args) => {
    const directory = temporaryDirectory();
    const { code, stderr } = await run(args, {
      env: { TIPLINE_DATA_DIR: join(directory, 'data') },
      cwd: directory,
    });
    expect({ code, stderr, made: readdirSync(directory) }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`There is no database in ${join(directory, 'data')}.`),
      made: [],
    });
  });
});

describe.each(releases)('a command on a store of %s', (release) => {
  const { secret } = factsOf(release) as { secret: string };
  const stores: [string, () => Promise<Record<string, string>>][] = [
    ['embedded', async () => ({ TIPLINE_DATA_DIR: unpack(release) })],
  ];
  if (hasPostgres)
    stores.push([
      'postgresql',
      async () => ({
        ...nodeSettings((await loadDump(release)).url, { TIPLINE_SECRET: secret }),
        TIPLINE_DATA_DIR: temporaryDirectory(),
      }),
    ]);

  it.each(stores)(
    'does not migrate it, unless it is migrate (%s)',
    { tags: ['nightly'] },
    async (_, open) => {
      const env = await open();
      const list = join(temporaryDirectory(), 'list.txt');
      writeFileSync(list, 'new.test-feed.net\n');
      for (const command of [
        ['keys', 'list'],
        ['export', '--format', 'csv'],
        ['import', list, '--source', 'New'],
      ]) {
        const { code, stderr } = await run(command, { env });
        expect([code, stderr]).toEqual([1, expect.stringMatching(/older version .* run tipline migrate/)]);
      }
      expect((await run(['backup', join(temporaryDirectory(), 'backup')], { env })).code).toBe(0);
      expect((await run(['doctor'], { env })).stdout).toContain('warning  schema');
      expect((await run(['migrate'], { env })).code).toBe(0);
      expect((await run(['keys', 'list'], { env })).code).toBe(0);
    },
  );
});

describe.skipIf(!hasPostgres)('migrate on a database with a view of the operator', () => {
  it('says what stands in the way, and changes nothing', async () => {
    const [release = ''] = releases;
    const database = await loadDump(release);
    const { secret } = factsOf(release) as { secret: string };
    const env = nodeSettings(database.url, {
      TIPLINE_SECRET: secret,
      TIPLINE_DATA_DIR: temporaryDirectory(),
    });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('create view our_report as select * from indicator_source');
    const { code, stderr } = await run(['migrate'], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('view our_report depends on table')]);
    await client.query('drop view our_report');
    await client.end();
    expect((await run(['migrate'], { env })).code).toBe(0);
    await database.drop();
  });
});

describe.skipIf(!hasPostgres)('a command on a standby of PostgreSQL', () => {
  it('reads, as an export does', { tags: ['nightly'] }, async () => {
    const directory = temporaryDirectory();
    const primary = (await startPostgres(join(directory, 'primary'))) as ServerProcess;
    const of = (url: string) => ({ env: nodeSettings(url, { TIPLINE_DATA_DIR: temporaryDirectory() }) });
    expect((await run(['migrate'], of(primary.url))).code).toBe(0);
    const replica = (await startReplica(primary.url, join(directory, 'replica'))) as ServerProcess;
    const { code, stdout, stderr } = await run(['export', '--format', 'csv'], of(replica.url));
    await stop(replica.process, 'SIGINT');
    await stop(primary.process, 'SIGINT');
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('value'),
      expect.stringContaining('Store: '),
    ]);
  });
});

describe.skipIf(!hasPostgres)('a command on a PostgreSQL database that was never set up', () => {
  it('leaves it empty', async () => {
    const database = await freshDatabase();
    const env = { DATABASE_URL: database.url };
    const { code, stderr } = await run(['keys', 'list'], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('has not been set up in') });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query("select 1 from pg_tables where schemaname = 'public'");
    await client.end();
    expect(rows).toEqual([]);
    expect((await run(['migrate'], { env })).code).toBe(0);
    expect((await run(['keys', 'list'], { env })).code).toBe(0);
    await database.drop();
  });

  it('reports that the connection was refused', async () => {
    const { code, stderr } = await run(['keys', 'list'], {
      env: { DATABASE_URL: 'postgres://tipline@127.0.0.1:1/none' },
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('The database cannot be used: the connection was refused.'),
    });
  });
});

describe('an unusable data directory', () => {
  it.each(['/proc/none', '/dev/null'])('aborts the command: %s', async (directory) => {
    const { code, stderr } = await run(['serve'], { env: { TIPLINE_DATA_DIR: directory, PORT: '0' } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(directory) });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is left untouched for a user who does not own its database',
    async () => {
      const directory = emptyStore();
      const database = join(directory, 'pgdata');
      const before = readdirSync(database, { recursive: true }).length;
      chownSync(database, 65_534, 65_534);
      const { code, stderr } = await run(['keys', 'list'], { env: { TIPLINE_DATA_DIR: directory } });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('user with id 65534') });
      expect(readdirSync(database, { recursive: true })).toHaveLength(before);
    },
  );
});

describe('a data directory that cannot be written', () => {
  it.each(['serve', 'worker'])(
    'is reported by %s on PostgreSQL, whose exports and downloads it has',
    async (command) => {
      const file = join(temporaryDirectory(), 'file');
      writeFileSync(file, '');
      const env = nodeSettings('postgres://127.0.0.1:1/tipline', { TIPLINE_DATA_DIR: file });
      const { code, stderr } = await run([command], { env });
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`The data directory ${file} cannot be used`),
      ]);
    },
  );
});

describe('an unwritable standard output', () => {
  const toFull = (env: Record<string, string>, ...args: string[]) => {
    const main = inject('productMain') ?? '';
    const script = 'exec "$0" "$@" > /dev/full';
    return start('/bin/sh', ['-c', script, process.execPath, main, ...args], { env }).exit;
  };

  it.each([[['--help']], [['openapi']], [['keys', 'list', '--json']], [['export', '--format', 'csv']]])(
    'is reported in one line by %j',
    { tags: ['nightly'] },
    async (args) => {
      const { code, stderr } = await toFull(service.env, ...args);
      expect(code).toBe(1);
      expect(stderr.match(/Cannot write to standard output: the disk is full\./g)).toHaveLength(1);
      expect(stderr).not.toContain('    at ');
    },
  );

  it('leaves no usable key that was never shown', async () => {
    const { code, stderr } = await toFull(service.env, 'keys', 'create', '--name', 'to a full disk');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is revoked') });
    expect(await statesOf('to a full disk')).toEqual(['revoked']);
  });
});

describe('a closed standard output', () => {
  it.each([
    [['keys', 'create', '--name', 'unseen'], 'nobody would see the key'],
    [['keys', 'rotate', 'unseen'], 'nobody would see the key'],
    [['backup', '-'], 'nobody would get the backup'],
  ])('is reported by %j', async (args, message) => {
    const main = inject('productMain') ?? '';
    const script = 'exec "$0" "$@" >&-';
    const { code, stderr } = await start('/bin/sh', ['-c', script, process.execPath, main, ...args], {}).exit;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe('a standard output that nobody reads', () => {
  it('leaves the old key of a rotation as it was', async () => {
    const { env } = service;
    const { id } = JSON.parse((await run(['keys', 'create', '--name', 'rotated', '--json'], { env })).stdout);
    const { code, stderr } = await run(['keys', 'rotate', id, '--overlap', '1h'], { env, unread: 'stdout' });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`is revoked. The old key (${id}) stays valid as before.`),
    ]);
    const [old, unseen] = await keysOf('rotated');
    expect([old, unseen]).toMatchObject([{ id, expiresAt: null, state: 'usable' }, { state: 'revoked' }]);
  });

  const files = temporaryDirectory();
  const lists = ['one', 'two', 'three'].map((name) => {
    const path = join(files, `${name}.json`);
    writeFileSync(path, JSON.stringify({ name, list: [`${name}.test-feed.net`], type: 'hostname' }));
    return path;
  });

  it.each(['stdout', 'all'] as const)(
    'does not end a command in the middle of its changes (%s)',
    { tags: ['nightly'] },
    async (unread) => {
      const env = { TIPLINE_DATA_DIR: emptyStore() };
      expect((await run(['whitelist', 'load', ...lists], { env, unread })).code).toBe(0);
      const { stdout } = await run(['whitelist', 'list'], { env });
      expect(stdout.match(/^\w+ {2}\(list, in use, loaded/gm)).toHaveLength(lists.length);
    },
  );

  it.each([[[]], [['--json']]])('leaves no usable key that was never shown (%j)', async (options) => {
    const name = `unseen${options}`;
    const create = ['keys', 'create', '--name', name, ...options];
    const created = await run(create, { env: service.env, unread: 'stdout' });
    expect(created).toMatchObject({ code: 1, stderr: expect.stringContaining('is revoked') });
    expect(await statesOf(name)).toEqual(['revoked']);
  });

  it.each([[[]], [['-o', '-']]])('ends an export without a message (%j)', async (options) => {
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    const { code, stderr } = await run(['export', '--format', 'csv', ...options], { env, unread: 'stdout' });
    expect([code, stderr]).toEqual([0, `Store: ${env.TIPLINE_DATA_DIR}\n`]);
  });
});

describe('export -o', () => {
  const directory = temporaryDirectory();

  it('follows a symbolic link, and does not overwrite neighboring files', async () => {
    const [target, link] = [join(directory, 'target.csv'), join(directory, 'link.csv')];
    writeFileSync(target, 'old');
    writeFileSync(`${link}.part`, 'of somebody else');
    symlinkSync(target, link);
    expect((await write(link)).code).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toMatch(/^type,value,confidence/);
    expect(readFileSync(`${link}.part`, 'utf8')).toBe('of somebody else');
    expect(readdirSync(directory).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it.each(['-', '/dev/stdout'])('%s means standard output', async (path) => {
    const { code, stdout } = await write(path);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^type,value,confidence/)]);
  });

  it('a named pipe is written to while somebody reads it', async () => {
    const pipe = join(directory, 'read-pipe');
    execFileSync('/usr/bin/mkfifo', [pipe]);
    const read = promisify(execFile)('/usr/bin/cat', [pipe], { timeout: 60_000 });
    expect((await write(pipe)).code).toBe(0);
    expect((await read).stdout).toMatch(/^type,value,confidence/);
  });

  it('leaves nothing behind when the database cannot be opened', async () => {
    const empty = temporaryDirectory();
    const env = { TIPLINE_DATA_DIR: join(empty, 'none') };
    expect((await run(['export', '--format', 'csv', '-o', join(empty, 'x.csv')], { env })).code).toBe(2);
    expect(readdirSync(empty)).toEqual([]);
  });

  const write = (path: string) => service.command('export', '--format', 'csv', '-o', path);

  it.each([
    ['in a directory that there is not', 'none/x.csv', 'there is no such file or directory'],
    ['that is a directory', '.', 'it is a directory'],
    ['under a file', 'file/x.csv', 'a part of the path is not a directory'],
    ['that is a pipe nobody reads from', 'pipe', 'it is a pipe that nobody reads from'],
  ])('names the path %s, and the reason', async (_, name, reason) => {
    writeFileSync(join(directory, 'file'), 'kept');
    if (!existsSync(join(directory, 'pipe'))) execFileSync('/usr/bin/mkfifo', [join(directory, 'pipe')]);
    const path = join(directory, name);
    const { code, stderr } = await write(path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
    expect(stderr).toContain(path);
    expect(readFileSync(join(directory, 'file'), 'utf8')).toBe('kept');
  });

  it('reports a full disk', async () => {
    const { code, stderr } = await write('/dev/full');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('/dev/full cannot be used: the disk is full.'),
    });
  });
});
