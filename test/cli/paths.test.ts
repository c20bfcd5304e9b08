import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { run } from '../support/processes.ts';
import { type Service, serve } from '../support/service.ts';

describe('a command where there is no store', () => {
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
  ])('makes none: %s %s', async (...args) => {
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

describe('export -o', () => {
  let service: Service;
  let directory: string;
  beforeAll(async () => {
    service = await serve();
    directory = temporaryDirectory();
  });
  const write = (path: string) => service.command('export', '--format', 'csv', '-o', path);

  it.each([
    ['in a directory that there is not', 'none/x.csv', 'there is no such file or directory'],
    ['that is a directory', '.', 'it is a directory'],
    ['under a file', 'file/x.csv', 'a part of the path is no directory'],
    ['that is a pipe nobody reads from', 'pipe', 'it is a pipe that nobody reads from'],
  ])('names the path %s, and why', async (_, name, reason) => {
    writeFileSync(join(directory, 'file'), 'kept');
    if (!existsSync(join(directory, 'pipe'))) execFileSync('/usr/bin/mkfifo', [join(directory, 'pipe')]);
    const path = join(directory, name);
    const { code, stderr } = await write(path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
    expect(stderr).toContain(path);
    expect(readFileSync(join(directory, 'file'), 'utf8')).toBe('kept');
  });

  it('says so where the disk is full, and keeps the file that is there', async () => {
    const { code, stderr } = await write('/dev/full');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('ENOSPC') });
  });
});
