import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeStoreLock } from '../../src/db/embedded/lock.ts';
import { canMountDisks, mountDisk, temporaryDirectory } from '../support/directories.ts';
import { freshDatabase, hasPostgres, nodeSettings } from '../support/postgres-nodes.ts';
import { run, tipline, until } from '../support/processes.ts';
import { createKey, emptyStore, type Service, serve, total } from '../support/service.ts';

const LINES = 1_200;
const PASSPHRASE = 'a passphrase of the tests';

/** Smaller than any backup. */
const DISK_BYTES = 64 * 1024;
const disk = join(temporaryDirectory(), 'disk');
const hasDisks = canMountDisks();

describe('tipline backup and tipline restore', () => {
  const files = temporaryDirectory();
  const [backup, passphrase] = [join(files, 'store.backup'), join(files, 'passphrase')];
  /** Not encrypted: what encryption costs does not matter here. */
  const plain = join(files, 'plain.backup');
  let service: Service;
  let key: string;

  beforeAll(async () => {
    if (hasDisks) mountDisk(disk, DISK_BYTES);
    writeFileSync(passphrase, `${PASSPHRASE}\n`);
    const list = join(files, 'list.txt');
    writeFileSync(list, Array.from({ length: LINES }, (_, i) => `h${i}.test-feed.net\n`).join(''));
    service = await serve({ TIPLINE_DATA_DIR: emptyStore() });
    await service.command('import', list, '--source', 'Ours', '--tlp', 'GREEN');
    key = await createKey(service);
  });
  afterAll(() => service.stop());

  it('writes a backup while a server runs, readable by its owner only', async () => {
    const { code, stdout } = await service.command(
      'backup',
      backup,
      '--passphrase-file',
      passphrase,
      '--json',
    );
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { indicators: LINES, encrypted: true }]);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(readdirSync(files).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(readdirSync(service.directory).filter((name) => name.startsWith('backup-'))).toEqual([]);
  });

  it.each([['-'], ['/dev/stdout', '--force']])(
    'writes to standard output for %s, and its report elsewhere',
    async (...path) => {
      const { code, stdout, stderr } = await service.command('backup', ...path);
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(`${path[0]}: ${LINES} indicators, revision \\d+`),
      ]);
      // A gzip file.
      expect(stdout.charCodeAt(0)).toBe(0x1f);
      expect(stdout.includes('indicators, revision')).toBe(false);
    },
  );

  const copies = () => readdirSync(service.directory).filter((name) => name.startsWith('backup-'));

  it('fails when nobody reads standard output, and leaves no copy of the database', async () => {
    const { code, stderr } = await run(['backup', '-'], { env: service.env, unread: 'stdout' });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The reader of standard output has closed it: the backup is incomplete.'),
    ]);
    expect(copies()).toEqual([]);
  });

  it('leaves nothing when its terminal ends', async () => {
    const interrupted = tipline(['backup', join(files, 'interrupted.backup')], { env: service.env });
    await until('the copy of the database', () => copies().length > 0);
    interrupted.signal('SIGHUP');
    const { code, stderr } = await interrupted.exit;
    expect([code, stderr]).toEqual([1, expect.stringContaining('Interrupted: no backup was written.')]);
    expect([copies(), readdirSync(files).filter((name) => /^\.|interrupted/.test(name))]).toEqual([[], []]);
  });

  it('deletes the copy that a killed command has left, and not that of a running one', {
    tags: ['nightly'],
  }, async () => {
    const [left, used] = [randomUUID(), randomUUID()].map((id) => join(service.directory, `backup-${id}`));
    for (const copy of [left, used]) mkdirSync(join(String(copy), 'pgdata'), { recursive: true });
    const lock = await takeStoreLock(String(used), (socket) => void socket.destroy());
    expect((await service.command('backup', plain)).code).toBe(0);
    expect(copies()).toEqual([basename(String(used))]);
    await lock?.release();
    rmSync(plain);
    expect((await service.command('backup', plain)).code).toBe(0);
    expect(copies()).toEqual([]);
  });

  it('does not overwrite a file without --force', async () => {
    const before = readFileSync(backup);
    const { code, stderr } = await service.command('backup', backup);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`${backup} exists already; --force replaces it`),
    ]);
    expect(readFileSync(backup).equals(before)).toBe(true);
  });

  it('replaces a file with --force, and makes it readable by its owner only', async () => {
    writeFileSync(plain, 'something else');
    chmodSync(plain, 0o644);
    const { code, stderr } = await service.command('backup', plain, '--force');
    expect([code, stderr]).toEqual([0, expect.stringContaining('does not contain the secret')]);
    expect([statSync(plain).mode & 0o777, readFileSync(plain)[0]]).toEqual([0o600, 0x1f]);
  });

  it.skipIf(!hasDisks)('reports a full disk, and leaves no part of a backup', async () => {
    const { code, stderr } = await service.command('backup', join(disk, 'store.backup'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/disk\/store\.backup cannot be used: .*(space|full)/),
    ]);
    expect(readdirSync(disk)).toEqual([]);
  });

  it('does not restore into a directory that a server uses, or that has a store', async () => {
    const used = await service.command('restore', plain, '--replace', service.directory);
    expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('is in use by process')]);
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    const { code, stderr } = await run(['restore', plain], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`add --replace "${env.TIPLINE_DATA_DIR}"`)]);
    const wrong = await run(['restore', plain, '--replace', '/data'], { env });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--replace names another store')]);
  });

  it.skipIf(!hasDisks)('does not restore onto a disk that is too small', async () => {
    const { code, stderr } = await run(['restore', plain], { env: { TIPLINE_DATA_DIR: disk } });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('MB free, and the restored store needs some'),
    ]);
    expect(readdirSync(disk)).toEqual([]);
  });

  it('restores nothing with a wrong passphrase, or without one', async () => {
    const directory = join(temporaryDirectory(), 'data');
    const env = { TIPLINE_DATA_DIR: directory };
    const attempt = async (path: string, ...more: string[]) => {
      const { code, stderr } = await run(['restore', path, ...more], { env });
      return [code, stderr, existsSync(join(directory, 'pgdata'))];
    };
    const other = join(files, 'other');
    writeFileSync(other, 'another passphrase');
    expect(await attempt(backup, '--passphrase-file', other)).toEqual([
      1,
      expect.stringContaining('the passphrase is wrong'),
      false,
    ]);
    expect(await attempt(backup)).toEqual([
      2,
      expect.stringContaining('is encrypted: --passphrase-file'),
      false,
    ]);
    expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
  });

  it('restores what standard input has', { tags: ['nightly'] }, async () => {
    const env = { TIPLINE_DATA_DIR: join(temporaryDirectory(), 'data') };
    const { code, stdout, stderr } = await run(
      ['restore', '/dev/stdin', '--passphrase-file', passphrase, '--json'],
      { env, input: readFileSync(backup) },
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ indicators: LINES });
  });

  it('reports what standard input has instead of a backup', { tags: ['nightly'] }, async () => {
    const directory = join(temporaryDirectory(), 'data');
    const attempt = async (input: string | Buffer, ...options: string[]) => {
      const env = { TIPLINE_DATA_DIR: directory };
      const { code, stderr } = await run(['restore', '-', ...options], { env, input });
      return [code, stderr, existsSync(join(directory, 'pgdata'))];
    };
    expect(await attempt('')).toEqual([1, expect.stringContaining('Standard input is not a backup'), false]);
    expect(await attempt('something else')).toEqual([
      1,
      expect.stringContaining('Standard input is not a backup of Tipline'),
      false,
    ]);
    expect(await attempt(readFileSync(plain).subarray(0, 5_000))).toEqual([
      1,
      expect.stringContaining('Standard input is damaged'),
      false,
    ]);
    expect(await attempt(readFileSync(backup))).toEqual([
      2,
      expect.stringContaining('The backup is encrypted: --passphrase-file'),
      false,
    ]);
    expect(await attempt(readFileSync(backup), '--passphrase-file', '-')).toEqual([
      2,
      expect.stringContaining('Standard input is the backup: write the passphrase to a file'),
      false,
    ]);
  });

  it('replaces nothing when the file for the secret cannot be written', { tags: ['nightly'] }, async () => {
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    expect(await run(['keys', 'create', '--name', 'kept'], { env })).toMatchObject({ code: 0 });
    const secret = join(files, 'no-directory', 'secret');
    const replacing = ['--replace', env.TIPLINE_DATA_DIR, '--write-secret', secret];
    const { code, stderr } = await run(['restore', backup, '--passphrase-file', passphrase, ...replacing], {
      env,
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${secret} cannot be used`)]);
    expect((await run(['keys', 'list'], { env })).stdout).toContain('kept');
  });

  it('leaves no file with the secret when nothing was restored', async () => {
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    const secret = join(files, 'secret-of-nothing');
    const { code, stderr } = await run(
      ['restore', backup, '--passphrase-file', passphrase, '--write-secret', secret],
      { env },
    );
    expect([code, stderr, existsSync(secret)]).toEqual([2, expect.stringContaining('add --replace'), false]);
  });

  it('loses no store when it was killed between its two renames and a server starts', {
    tags: ['nightly'],
  }, async () => {
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    expect(await run(['keys', 'create', '--name', 'kept'], { env })).toMatchObject({ code: 0 });
    const at = (name: string) => join(env.TIPLINE_DATA_DIR, name);
    renameSync(at('pgdata'), at('pgdata.replaced-1'));
    mkdirSync(at('pgdata.restore-1'));
    writeFileSync(at('secret.restore-1'), 'the secret of the backup');
    const started = await serve(env);
    const { stdout } = await started.command('keys', 'list');
    await started.stop();
    expect(stdout).toContain('kept');
    expect(readdirSync(env.TIPLINE_DATA_DIR).filter((name) => name.includes('-1'))).toEqual([]);
    expect(readFileSync(at('secret'), 'utf8')).not.toContain('of the backup');
  });

  it('makes no backup of a store whose file for the secret is empty', { tags: ['nightly'] }, async () => {
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    const secret = join(env.TIPLINE_DATA_DIR, 'secret');
    writeFileSync(secret, '');
    const file = join(files, 'no-secret.backup');
    const attempt = async () => {
      const { code, stderr } = await run(['backup', file, '--passphrase-file', passphrase], { env });
      return [code, stderr, existsSync(file)];
    };
    expect(await attempt()).toEqual([
      2,
      expect.stringContaining(`${secret} holds no secret: it must have at least 32 characters`),
      false,
    ]);
    rmSync(secret);
    expect(await attempt()).toEqual([
      0,
      expect.stringContaining('It contains no secret: the data directory has no file secret.'),
      true,
    ]);
  });

  it.skipIf(!hasPostgres)(
    'restores into PostgreSQL and from there into a data directory',
    { tags: ['nightly'] },
    async () => {
      const { url, drop } = await freshDatabase();
      const secret = join(files, 'secret');
      const env = nodeSettings(url, { TIPLINE_DATA_DIR: temporaryDirectory() });
      const options = ['--passphrase-file', passphrase];
      const first = await run(['restore', backup, ...options, '--write-secret', secret], { env });
      expect([first.code, first.stderr]).toEqual([
        0,
        expect.stringContaining('TIPLINE_SECRET is not the secret'),
      ]);
      expect(readFileSync(secret, 'utf8')).toBe(readFileSync(join(service.directory, 'secret'), 'utf8'));

      const node = await serve({ ...env, TIPLINE_SECRET: readFileSync(secret, 'utf8').trim() });
      expect(await total(node, key)).toBe(LINES);
      const database = `PostgreSQL at ${new URL(url).host}${new URL(url).pathname}`;
      const used = await node.command('restore', backup, ...options, '--replace', database);
      expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('The database is in use')]);
      const second = join(files, 'from-postgres.backup');
      expect((await node.command('backup', second, ...options)).code).toBe(0);
      await node.stop();

      const directory = join(temporaryDirectory(), 'data');
      const last = await run(['restore', second, ...options, '--json'], {
        env: { TIPLINE_DATA_DIR: directory },
      });
      expect([last.code, JSON.parse(last.stdout)]).toMatchObject([
        0,
        { indicators: LINES, secretProblem: null },
      ]);
      const csv = await run(['export', '--format', 'csv'], { env: { TIPLINE_DATA_DIR: directory } });
      expect(csv.stdout.trim().split('\n')).toHaveLength(LINES + 1);
      await drop();
    },
  );

  it.skipIf(!hasPostgres)(
    'leaves the store in PostgreSQL as it was when it is killed, and can be repeated',
    { tags: ['nightly'] },
    async () => {
      const { url, drop } = await freshDatabase();
      const env = nodeSettings(url, { TIPLINE_DATA_DIR: temporaryDirectory() });
      const options = ['--passphrase-file', passphrase];
      expect(await run(['restore', backup, ...options], { env })).toMatchObject({ code: 0 });
      expect(await run(['keys', 'create', '--name', 'later'], { env })).toMatchObject({ code: 0 });
      const [reader, watcher] = [new pg.Client(url), new pg.Client(url)];
      await Promise.all([reader.connect(), watcher.connect()]);
      const count = async (sql: string) => Number((await watcher.query(sql)).rows[0].count);
      const keys = await count('select count(*) from api_key');
      // Until this transaction ends, no other can delete the table.
      await reader.query('begin; select from indicator limit 1');
      const replacing = [
        'restore',
        backup,
        ...options,
        '--replace',
        `PostgreSQL at ${new URL(url).host}${new URL(url).pathname}`,
      ];
      const restoring = tipline(replacing, { env });
      await until(
        'the restore to wait for the table',
        async () =>
          (await count(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
          )) === 1,
      );
      restoring.signal('SIGKILL');
      await restoring.exit;
      await reader.end();
      await until(
        'the connection to end',
        async () =>
          (await count('select count(*) from pg_stat_activity where datname = current_database()')) === 1,
      );
      expect(await count('select count(*) from api_key')).toBe(keys);
      expect(await count('select count(*) from indicator')).toBe(LINES);

      expect(await run(replacing, { env })).toMatchObject({ code: 0 });
      expect(await count('select count(*) from api_key')).toBe(keys - 1);
      expect(await count("select count(*) from pg_namespace where nspname = 'tipline_restore'")).toBe(0);
      await watcher.end();
      await drop();
    },
  );

  it.skipIf(!hasPostgres)(
    'moves a store to PostgreSQL, once no server uses it',
    { tags: ['nightly'] },
    async () => {
      const { url, drop } = await freshDatabase();
      const move = () => run(['move', '--to', '-'], { env: service.env, input: `${url}\n` });
      const used = await move();
      expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('is in use by process')]);
      await service.stop();
      const { code, stdout } = await move();
      expect([code, stdout]).toEqual([0, expect.stringContaining(`Moved ${LINES} indicators`)]);
      const again = await service.command('keys', 'list');
      expect([again.code, again.stderr]).toEqual([
        1,
        expect.stringContaining(`was moved to PostgreSQL at ${new URL(url).host}`),
      ]);
      await drop();
    },
  );

  it.skipIf(!hasPostgres)(
    'asks for any secret after moving a store that has none',
    { tags: ['nightly'] },
    async () => {
      const { url, drop } = await freshDatabase();
      const env = { TIPLINE_DATA_DIR: emptyStore() };
      rmSync(join(env.TIPLINE_DATA_DIR, 'secret'), { force: true });
      const { code, stdout } = await run(['move', '--to', '-'], { env, input: `${url}\n` });
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining('TIPLINE_SECRET to any random text of at least 32 characters'),
      ]);
      await drop();
    },
  );
});
