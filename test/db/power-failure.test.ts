import fs, { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replaceStore, withLock } from '../../src/backup/data-directory.ts';
import { connectPglite, makeIfNew } from '../../src/db/embedded/pglite.ts';
import { type Connection, DAMAGED } from '../../src/db/embedded/thread-connection.ts';
import { lastMigration } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { temporaryDirectory } from '../support/directories.ts';

/** What the disk has of each file, by its inode: its content when it was flushed last. */
const flushed = new Map<number, Buffer>();
const { fsyncSync, fdatasyncSync } = fs;
const handles = await (async () => {
  const handle = await open(import.meta.dirname);
  await handle.close();
  return Object.getPrototypeOf(handle) as { sync(this: { fd: number }): Promise<void> };
})();
const { sync } = handles;
/** How many files have been flushed: one after the other, or together with others. */
const flushes = { single: 0, together: 0 };

function flushOne(file: number): void {
  flushes.single++;
  keep(file);
}

/** Flushes a file, and keeps what it contains now. */
function keep(file: number): void {
  const { ino, size, mode } = fs.fstatSync(file);
  fsyncSync(file);
  if ((mode & fs.constants.S_IFMT) !== fs.constants.S_IFREG) return;
  const content = Buffer.alloc(size);
  fs.readSync(file, content, 0, size, 0);
  flushed.set(ino, content);
}

/** Makes a directory with what would be left of another after a power failure: the files that have been flushed, as they were then. */
function afterPowerFailure(directory: string, left: string): string {
  mkdirSync(left, { mode: 0o700 });
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const [from, to] = [join(directory, entry.name), join(left, entry.name)];
    if (entry.isDirectory()) afterPowerFailure(from, to);
    const content = flushed.get(statSync(from).ino);
    if (entry.isFile() && content) writeFileSync(to, content, { mode: 0o600 });
  }
  return left;
}

describe('the embedded database after a power failure', () => {
  beforeAll(() => {
    Object.assign(fs, { fsyncSync: flushOne, fdatasyncSync: flushOne });
    syncBuiltinESMExports();
    handles.sync = async function () {
      flushes.together++;
      keep(this.fd);
    };
  });
  afterAll(() => {
    Object.assign(fs, { fsyncSync, fdatasyncSync });
    syncBuiltinESMExports();
    handles.sync = sync;
  });

  const numbers = async (connection: Connection) => {
    const { rows } = await connection.query(
      'select count(*) as n, coalesce(sum(n), 0) as sum from number',
      [],
    );
    return rows[0];
  };

  it('has all that was committed, and nothing else', { tags: ['nightly'] }, async () => {
    const parent = temporaryDirectory();
    const directory = join(parent, 'pgdata');
    const left: { directory: string; expected: unknown }[] = [];
    const connection = await connectPglite(directory);
    const lose = async () => {
      const expected = await numbers(connection);
      left.push({ directory: afterPowerFailure(directory, join(parent, `left-${left.length}`)), expected });
    };
    await connection.query('create table number (n int primary key, text text)', []);
    await lose();
    for (let n = 1; n <= 40; n++) {
      await connection.query('insert into number values ($1, $2)', [n, 'x'.repeat(n * 100)]);
      if (n === 7 || n === 40) await lose();
      if (n === 20) {
        await connection.query('checkpoint', []);
        await lose();
      }
    }
    await connection.query('begin', []);
    await connection.query('delete from number', []);
    expect(await numbers(connection)).toEqual({ n: 0, sum: 0 });
    left.push({
      directory: afterPowerFailure(directory, join(parent, 'left-open')),
      expected: left.at(-1)?.expected,
    });
    await connection.close();

    expect(left.map(({ expected }) => expected)).toMatchObject([
      { n: 0 },
      { n: 7 },
      { n: 20 },
      { n: 40 },
      { n: 40 },
    ]);
    for (const { directory, expected } of left) {
      const restarted = await connectPglite(directory);
      expect(await numbers(restarted)).toEqual(expected);
      await restarted.close();
    }
  });

  it('is made anew if it was lost while it was being made', { tags: ['nightly'] }, async () => {
    const directory = join(temporaryDirectory(), 'pgdata');
    mkdirSync(directory);
    writeFileSync(join(directory, 'PG_VERSION'), '');
    writeFileSync(`${directory}.unfinished`, '');
    const connection = await connectPglite(directory);
    await connection.query('create table number (n int)', []);
    await connection.close();
    const restarted = await connectPglite(directory);
    expect(await numbers(restarted)).toEqual({ n: 0, sum: 0 });
    await restarted.close();
  });

  const openIn = (dataDirectory: string) =>
    openDatabase({ url: undefined, dataDirectory, allowRemote: false, onIdleError: () => {} });

  it('has its tables, whose files are flushed together when they are made', {
    tags: ['nightly'],
  }, async () => {
    const [directory, left] = [temporaryDirectory(), temporaryDirectory()];
    Object.assign(flushes, { single: 0, together: 0 });
    const database = await openIn(directory);
    const last = await lastMigration(database.db);
    afterPowerFailure(join(directory, 'pgdata'), join(left, 'pgdata'));
    await database.close();
    expect(flushes.together).toBeGreaterThan(1000);
    expect(flushes.single).toBeLessThan(100);
    const restarted = await openIn(left);
    expect(await lastMigration(restarted.db)).toBe(last);
    expect(last).not.toBeNull();
    await restarted.close();
  });

  it('is made anew if making it failed, of which nothing stays', async () => {
    const parent = temporaryDirectory();
    const directory = join(parent, 'pgdata');
    const fill = async () => {
      mkdirSync(directory);
      writeFileSync(join(directory, 'PG_VERSION'), '');
    };
    const fail = async () => {
      await fill();
      throw new Error('a disk full');
    };
    await expect(makeIfNew(directory, fail)).rejects.toThrow('a disk full');
    expect(readdirSync(parent)).toEqual([]);
    await makeIfNew(directory, fill);
    await makeIfNew(directory, fail);
    expect(readdirSync(parent)).toEqual(['pgdata']);
  });

  it('is not made over files of another one, which stay', async () => {
    const directory = join(temporaryDirectory(), 'pgdata');
    mkdirSync(directory);
    writeFileSync(join(directory, 'postgresql.conf'), '');
    for (const _ of ['once', 'again'])
      await expect(connectPglite(directory)).rejects.toMatchObject({ code: DAMAGED });
    expect(readdirSync(directory)).toEqual(['postgresql.conf']);
  });

  it('stays when it was restored over one that was being made', { tags: ['nightly'] }, async () => {
    const parent = temporaryDirectory();
    const directory = join(parent, 'pgdata');
    mkdirSync(directory);
    writeFileSync(`${directory}.unfinished`, '');
    await withLock(parent, () =>
      replaceStore(parent, { indicators: 0, secret: null, replace: true }, async ({ db }) => {
        await sql`create table number (n int)`.execute(db);
        await sql`insert into number values (5)`.execute(db);
      }),
    );
    const connection = await connectPglite(directory);
    expect(await numbers(connection)).toEqual({ n: 1, sum: 5 });
    await connection.close();
  });
});
