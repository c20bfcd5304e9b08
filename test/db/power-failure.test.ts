import fs, { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPglite } from '../../src/db/embedded/pglite.ts';
import type { Connection } from '../../src/db/embedded/thread-connection.ts';
import { temporaryDirectory } from '../support/directories.ts';

/** What the disk has of each file, by its inode: its content when it was flushed last. */
const flushed = new Map<number, Buffer>();
const { fsyncSync, fdatasyncSync } = fs;

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
    Object.assign(fs, { fsyncSync: keep, fdatasyncSync: keep });
    syncBuiltinESMExports();
  });
  afterAll(() => {
    Object.assign(fs, { fsyncSync, fdatasyncSync });
    syncBuiltinESMExports();
  });

  const numbers = async (connection: Connection) => {
    const { rows } = await connection.query(
      'select count(*) as n, coalesce(sum(n), 0) as sum from number',
      [],
    );
    return rows[0];
  };

  it('has all that was committed, and nothing else', async () => {
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

  it('is made anew if it was lost while it was being made', async () => {
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
});
