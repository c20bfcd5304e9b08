import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Service, serve, withStore } from '../support/service.ts';
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
    heard_at: new Date(FIRST_AT + i * 60_000),
  }));
}

describe('tipline imports list, beside a running server on the embedded store', () => {
  let service: Service;
  const newestFirst = historyRows();

  const list = async (...args: string[]) => {
    const { code, stdout, stderr } = await service.command('imports', 'list', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };

  beforeAll(async () => {
    service = await serve();
  });

  it('explains an empty history', async () => {
    expect(await list()).toBe('There are no imports. Import a file: tipline import FILE --source NAME\n');
    expect(JSON.parse(await list('--json'))).toEqual([]);
  });

  it('shows every import up to the limit, the newest first', async () => {
    await withStore(service.directory, (db) => db.insertInto('import_run').values(newestFirst).execute());
    newestFirst.reverse();
    const all = JSON.parse(await list('--json', '--limit', String(IMPORTS))) as { id: string }[];
    expect(all.map(({ id }) => id)).toEqual(newestFirst.map(({ id }) => id));
  });

  it('says how many imports the limit leaves out', async () => {
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

  it('prints no control characters of a file name on the terminal', async () => {
    const row = { ...historyRows()[0], id: randomUUID(), file_name: 'a\u001b[2Jb\nc', who: 'cli:test' };
    const started = { ...row, started_at: new Date(FIRST_AT * 2), source: 'Test', file_bytes: 1 };
    await withStore(service.directory, (db) =>
      db
        .insertInto('import_run')
        .values({ ...started, format: 'csv', dry_run: false, state: 'done', heard_at: new Date(FIRST_AT) })
        .execute(),
    );
    expect((await list('--limit', '1')).split('\n')[1]).toBe('  a [2Jb c · cli:test');
  });

  it('refuses a limit that is no whole number from 1', async () => {
    for (const limit of ['0', '-1', '1.5', 'all']) {
      const { code, stderr } = await service.command('imports', 'list', '--limit', limit);
      expect(code).toBe(2);
      expect(stderr).toContain('Allowed: a whole number from 1');
    }
  });
});
