import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { findSources } from '../../src/sources/feeds.queries.ts';
import { startRemoval } from '../../src/sources/remove-source.ts';
import { run, tipline, until } from '../support/processes.ts';
import { createKey, emptyStore, type Service, serve, total, withStore } from '../support/service.ts';
import { csvOf, inputFile } from './inputs.ts';

const IMPORTS = 600;
const FIRST_AT = Date.UTC(2026, 0, 1);

/** Imports that ended a minute apart; the last of them is the newest. */
function historyRows() {
  return Array.from({ length: IMPORTS }, (_, i) => ({
    id: randomUUID(),
    source: 'Test',
    file_name: `past-${i}.csv`,
    file_bytes: 10,
    format: 'csv',
    dry_run: false,
    who: 'cli:test',
    state: 'done' as const,
    started_at: new Date(FIRST_AT + i * 60_000),
    ended_at: new Date(FIRST_AT + i * 60_000),
    heartbeat_at: new Date(FIRST_AT + i * 60_000),
  }));
}

describe('tipline imports list, beside a running server on the embedded database', () => {
  let service: Service;
  const newestFirst = historyRows();

  const list = async (...args: string[]) => {
    const { code, stdout, stderr } = await service.command('imports', 'list', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Store: ${service.directory}\n` });
    return stdout;
  };

  beforeAll(async () => {
    service = await serve();
  });

  it('explains an empty history', async () => {
    expect(await list()).toBe('There are no imports. Import a file: tipline import FILE --source NAME\n');
    expect(JSON.parse(await list('--json'))).toEqual([]);
  });

  it('shows every import up to the limit, newest first', async () => {
    await withStore(service.directory, (db) => db.insertInto('import_run').values(newestFirst).execute());
    newestFirst.reverse();
    const all = JSON.parse(await list('--json', '--limit', String(IMPORTS))) as { id: string }[];
    expect(all.map(({ id }) => id)).toEqual(newestFirst.map(({ id }) => id));
  });

  it('reports how many imports the limit omits', async () => {
    const lines = (await list('--limit', '2')).trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('past-'))).toHaveLength(2);
    expect(lines.at(-1)).toBe('2 of 600 imports; --limit sets how many are shown.');
  });

  it('shows the id, state, source, file, user and counts of an import', async () => {
    await service.command('import', inputFile('fresh.csv', csvOf('fresh', 3)), '--source', 'Fresh source');
    const [newest] = JSON.parse(await list('--json', '--limit', '1')) as { id: string; who: string }[];
    const lines = (await list('--limit', '1')).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${newest?.id}  .+Z  done  Fresh source$`));
    expect(lines[1]).toBe(`  fresh.csv · ${newest?.who}`);
    expect(lines[2]).toBe('  indicators: new 3, updated 0, unchanged 0, rejected 0');
  });

  it('strips control characters from file names', async () => {
    const row = { ...historyRows()[0], id: randomUUID(), file_name: 'a\u001b[2Jb\nc', who: 'cli:test' };
    const started = { ...row, started_at: new Date(FIRST_AT * 2), source: 'Test', file_bytes: 1 };
    await withStore(service.directory, (db) =>
      db
        .insertInto('import_run')
        .values({
          ...started,
          format: 'csv',
          dry_run: false,
          state: 'done',
          heartbeat_at: new Date(FIRST_AT),
        })
        .execute(),
    );
    expect((await list('--limit', '1')).split('\n')[1]).toBe('  a [2Jb c · cli:test');
  });

  it('rejects a limit that is not a positive integer', async () => {
    for (const limit of ['0', '-1', '1.5', 'all']) {
      const { code, stderr } = await service.command('imports', 'list', '--limit', limit);
      expect(code).toBe(2);
      expect(stderr).toContain('Allowed: a whole number from 1');
    }
  });
});

describe('tipline imports undo and sources remove', () => {
  const ROWS = 2_500;
  let service: Service;
  let key: string;
  const undo = (...args: string[]) => service.command('imports', 'undo', ...args);

  async function imported(name: string): Promise<string> {
    await service.command('import', inputFile(`${name}.csv`, csvOf(name, ROWS)), '--source', name);
    const { stdout } = await service.command('imports', 'list', '--json', '--limit', '1');
    return (JSON.parse(stdout) as { id: string }[])[0]?.id ?? '';
  }

  beforeAll(async () => {
    service = await serve();
    key = await createKey(service);
  });

  it('previews the changes, and applies them only with --yes', { tags: ['nightly'] }, async () => {
    const id = await imported('wrong');
    const told = await undo(id);
    expect({ code: told.code, total: await total(service, key) }).toEqual({ code: 0, total: ROWS });
    expect(told.stdout).toContain(`Visible indicators: ${ROWS} now, 0 after (-${ROWS}).`);
    expect(told.stdout).toContain(`tipline imports undo ${id} --yes`);
    expect((await undo(id, '--yes')).code).toBe(0);
    expect(await total(service, key)).toBe(0);
    expect(await undo(id)).toMatchObject({ code: 1, stderr: expect.stringContaining('undone already') });
    const { stdout } = await service.command('imports', 'list', '--limit', '1');
    expect(stdout).toMatch(/undone by cli:/);
  });

  it('resumes after a kill', { tags: ['nightly'] }, async () => {
    const id = await imported('killed');
    const undoing = tipline(['imports', 'undo', id, '--yes'], { env: service.env });
    await until('some of it to be undone', async () => (await total(service, key)) < ROWS);
    undoing.signal('SIGKILL');
    await undoing.exit;
    await undo(id, '--yes');
    expect(await total(service, key)).toBe(0);
  });

  it('removes a source', { tags: ['nightly'] }, async () => {
    await imported('gone');
    const told = await service.command('sources', 'remove', 'gone');
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('sources remove "gone" --yes') });
    expect(await total(service, key)).toBe(ROWS);
    expect((await service.command('sources', 'remove', 'gone', '--yes')).code).toBe(0);
    expect(await total(service, key)).toBe(0);
    const again = await service.command('sources', 'remove', 'gone', '--yes');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no source "gone"') });
  });
});

describe('tipline sources remove', () => {
  it('continues a removal whose process was killed, without a server', async () => {
    const directory = emptyStore();
    const command = (...args: string[]) => run(args, { env: { TIPLINE_DATA_DIR: directory } });
    await command('import', inputFile('half.csv', csvOf('half', 50)), '--source', 'Half');
    await withStore(directory, async (db) => {
      const source = (await findSources(db))[0];
      if (!source) throw new Error('there is no source');
      await startRemoval(db, source, { who: 'killed', now: new Date() });
    });
    const told = await command('sources', 'remove', 'Half');
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('sources remove "Half" --yes') });
    expect(await command('sources', 'remove', 'Half', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Half is removed.'),
    });
    const left = await withStore(directory, (db) => db.selectFrom('indicator_source').selectAll().execute());
    expect(left).toEqual([]);
    expect((await command('sources', 'remove', 'Half', '--yes')).stderr).toContain(
      'there is no source "Half"',
    );
  });
});
