import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { type Exit, run, tipline, until } from '../support/processes.ts';
import {
  createKey,
  emptyStore,
  type Service,
  SOUND,
  serve,
  storeFacts,
  total,
  withStore,
} from '../support/service.ts';
import { bundleOf, csvOf, inputFile, linkedBundle, stixIndicator } from './inputs.ts';

const COUNTS = ['read', 'new', 'updated', 'unchanged', 'rejected'];

interface Summary {
  read: number;
  new: number;
  updated: number;
  unchanged: number;
  rejected: number;
  reasons: Record<string, number>;
  relationships?: Omit<Summary, 'relationships'>;
}

/** The last line of standard output. */
function summaryOf({ stdout }: Exit): Summary {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Summary;
}

describe('tipline import, beside a running server on the embedded database', () => {
  let service: Service;
  let key: string;

  beforeAll(async () => {
    service = await serve();
    key = await createKey(service);
  });

  const load = (...args: string[]) => service.command('import', ...args, '--source', 'Test');
  const found = (q: string) => total(service, key, '/api/v1/indicators', { q });
  const facts = () => withStore(service.directory, storeFacts);

  it('is recorded in the import history and in the audit log', async () => {
    await load(inputFile('history.csv', csvOf('history', 3)));
    const row = await withStore(service.directory, (db) =>
      db
        .selectFrom('import_run')
        .selectAll()
        .where('file_name', 'like', '%history.csv')
        .executeTakeFirstOrThrow(),
    );
    expect(row).toMatchObject({
      source: 'Test',
      state: 'done',
      dry_run: false,
      counts: { indicator: { new: 3 } },
    });
    expect(row.who).toMatch(/^cli:/);
    const written = await withStore(service.directory, (db) =>
      db.selectFrom('audit').select('action').where('object_id', '=', row.id).orderBy('id').execute(),
    );
    expect(written.map(({ action }) => action)).toEqual(['import.start', 'import.end']);
  });

  it('makes imported indicators visible at once', async () => {
    await load(inputFile('shown.csv', csvOf('shown', 3)));
    const answer = await service.get('/api/v1/indicators?q=shown', key);
    expect(await answer.json()).toMatchObject({ total: 3 });
  });

  it('prints one line of JSON with exactly the count fields', async () => {
    const summary = summaryOf(await load(inputFile('fields.csv', csvOf('fields', 2)), '--json'));
    expect(Object.keys(summary)).toEqual([...COUNTS, 'reasons', 'hidden']);
  });

  it('counts as read the sum of new, updated, unchanged and rejected', async () => {
    const file = inputFile(
      'sum.csv',
      'ioc,type\nsum.test-feed.net,domain\nsum.test-feed.net,domain\n!!,domain\n',
    );
    const summary = summaryOf(await load(file, '--json'));
    expect(summary.read).toBe(summary.new + summary.updated + summary.unchanged + summary.rejected);
  });

  it('counts other object kinds beside the indicators', async () => {
    const summary = summaryOf(await load(inputFile('kinds.json', linkedBundle('kinds', 2)), '--json'));
    expect(summary).toMatchObject({ new: 2, actors: { new: 1 }, relationships: { new: 2 } });
  });

  it('counts everything as unchanged when repeated', async () => {
    const file = inputFile('twice.json', linkedBundle('twice', 3));
    await load(file);
    const summary = summaryOf(await load(file, '--json'));
    expect(summary).toMatchObject({ read: 3, unchanged: 3, relationships: { read: 3, unchanged: 3 } });
  });

  it('increments no revision when nothing changes', { tags: ['nightly'] }, async () => {
    const file = inputFile('same.json', linkedBundle('same', 3));
    await load(file);
    const before = await facts();
    await load(file);
    expect(await facts()).toEqual(before);
  });

  it('writes nothing in a dry run', async () => {
    const before = await facts();
    await load(inputFile('dry.csv', csvOf('dry', 4)), '--dry-run');
    expect(await facts()).toEqual(before);
  });

  it('counts in a dry run what would be new', async () => {
    const file = inputFile('rehearsed.csv', csvOf('rehearsed', 4));
    expect(summaryOf(await load(file, '--dry-run', '--json'))).toMatchObject({ read: 4, new: 4 });
  });

  it('reads standard input', async () => {
    const args = ['import', '-', '--source', 'Test', '--json'];
    const exit = await run(args, { env: service.env, input: csvOf('stdin', 5) });
    expect(summaryOf(exit)).toMatchObject({ new: 5 });
  });

  it('leaves no copy of standard input when it is interrupted while it reads that', async () => {
    const directory = temporaryDirectory();
    const copies = () => readdirSync(directory, { recursive: true });
    const importing = tipline(['import', '-', '--source', 'Test'], {
      env: { ...service.env, TMPDIR: directory },
      input: csvOf('interrupted', 5),
      inputStaysOpen: true,
    });
    await until('a copy of standard input', () => copies().length === 2);
    importing.signal('SIGINT');
    const { code, stderr } = await importing.exit;
    expect({ code, stderr, copies: copies() }).toEqual({
      code: 1,
      stderr: expect.stringContaining('Interrupted'),
      copies: [],
    });
  });

  it('names the directory in which it cannot copy standard input', async () => {
    const directory = join(temporaryDirectory(), 'missing');
    const exit = await run(['import', '-', '--source', 'Test'], {
      env: { ...service.env, TMPDIR: directory },
      input: csvOf('nowhere', 5),
      cwd: temporaryDirectory(),
    });
    expect(exit).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${directory} cannot be used: .* set TMPDIR `)),
    });
  });

  it('reads a directory recursively', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'deeper'));
    writeFileSync(join(directory, 'a.csv'), csvOf('dir-a', 2));
    writeFileSync(join(directory, 'deeper', 'b.json'), linkedBundle('dir-b', 2));
    writeFileSync(join(directory, 'README.md'), '# Something else\n');
    const exit = await load(directory, '--json');
    expect({ code: exit.code, new: summaryOf(exit).new }).toEqual({ code: 0, new: 4 });
  });

  it('exits with 1 for a directory without files, naming it', async () => {
    const directory = temporaryDirectory();
    const { code, stderr } = await load(directory);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `There is no file in ${directory}.\n` });
  });

  it('exits with 1 for a missing file, naming it', async () => {
    const { code, stderr } = await load('/nowhere/missing.json');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'There is no file or directory /nowhere/missing.json.\n',
    });
  });

  it('exits with 1 for a file of an unknown format, naming it', async () => {
    const file = inputFile('letter.txt', 'Dear Sir or Madam,\n\nnothing to see here.\n');
    const { code, stderr } = await load(file);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`${file}: not of a format that can be recognized`),
    });
  });

  it('leaves no source behind when nothing was imported', async () => {
    const file = inputFile('nothing.txt', 'Dear Sir or Madam,\n');
    expect((await service.command('import', file, '--source', 'Nothing')).code).toBe(1);
    const sources = JSON.parse((await service.command('sources', 'list', '--json')).stdout);
    expect(sources.map(({ name }: { name: string }) => name)).not.toContain('Nothing');
  });

  it('continues after an unreadable file, and exits with 1, naming it', async () => {
    const unreadable = inputFile('utf16.csv', '');
    writeFileSync(unreadable, Buffer.from(`\ufeff${csvOf('utf16', 2)}`, 'utf16le'));
    const exit = await load(unreadable, inputFile('after.csv', csvOf('after', 2)), '--json');
    expect({ code: exit.code, stderr: exit.stderr, new: summaryOf(exit).new }).toEqual({
      code: 1,
      stderr: expect.stringContaining(unreadable),
      new: 2,
    });
  });

  describe('of a file with an invalid record', () => {
    let exit: Exit;

    beforeAll(async () => {
      const broken = { ...stixIndicator('broken.test-feed.net'), pattern: "[domain-name:value = 'x" };
      const objects = [stixIndicator('whole1.test-feed.net'), broken, stixIndicator('whole2.test-feed.net')];
      exit = await load(inputFile('broken.json', bundleOf(objects)));
    });

    it('exits with code 0', () => expect(exit.code).toBe(0));

    it('names the record', () => expect(exit.stdout).toMatch(/object 2 .*: .+/));

    it('imports the other records', async () => expect(await found('whole')).toBe(2));

    it('imports nothing from the invalid one', async () => expect(await found('broken')).toBe(0));
  });

  describe('of a truncated file', () => {
    let exit: Exit;

    beforeAll(async () => {
      const whole = linkedBundle('cut', 3_000);
      exit = await load(inputFile('cut.json', whole.slice(0, whole.length - 300_000)), '--json');
    });

    it('exits with code 1', () => expect(exit.code).toBe(1));

    it('reports the byte position of the truncation', () =>
      expect(exit.stderr).toMatch(/cut\.json: .*byte \d+/));

    it('keeps the complete records', async () => {
      const { new: kept } = summaryOf(exit);
      expect({ listed: await found('cut'), some: kept > 1_000 && kept < 3_000 }).toEqual({
        listed: kept,
        some: true,
      });
    });

    it('counts relationships with a missing end as rejected', () => {
      const { new: kept, relationships } = summaryOf(exit);
      expect(relationships).toMatchObject({ new: kept, rejected: 3_000 - kept });
    });

    it('leaves the database consistent', async () => expect((await facts()).faults).toEqual(SOUND));
  });
});

describe('tipline import without a server', () => {
  const env = () => ({ TIPLINE_DATA_DIR: emptyStore() });

  it('rejects a different default for an existing source', { tags: ['nightly'] }, async () => {
    const settings = env();
    const load = (...args: string[]) => run(['import', ...args, '--source', 'Ours'], { env: settings });
    await load(inputFile('defaults-1.csv', csvOf('defaults-1', 1)), '--tlp', 'GREEN');
    const refused = await load(inputFile('defaults-2.csv', csvOf('defaults-2', 1)), '--tlp', 'RED');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'has --tlp GREEN; leave --tlp out, or change it: tipline sources set "Ours"',
    );
    const same = await load(inputFile('defaults-1.csv', csvOf('defaults-1', 1)), '--tlp', 'GREEN', '--json');
    expect(summaryOf(same)).toMatchObject({ read: 1, unchanged: 1 });
  });

  it('imports with the defaults that sources set has changed, and shows what it cannot change', {
    tags: ['nightly'],
  }, async () => {
    const settings = env();
    const command = (...args: string[]) => run(args, { env: settings });
    const list = inputFile('wrong.txt', 'bad-one.test-feed.net\n');
    await command('import', list, '--source', 'Wrong', '--tlp', 'RED', '--confidence', '90');
    const changed = await command(
      ...[
        'sources',
        'set',
        'Wrong',
        '--tlp',
        'GREEN',
        '--confidence',
        '20',
        '--severity',
        'LOW',
        '--ttl',
        'ALL=30d',
      ],
    );
    expect(changed.code).toBe(0);
    expect(changed.stdout).toContain(
      'Wrong  (import)  imported by hand\n  TLP:GREEN · confidence 20 · severity LOW',
    );
    expect(changed.stdout).toContain('tipline sources remove "Wrong" --yes');
    const exported = async () => {
      const { stdout } = await command('export', '--format', 'ndjson');
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    expect(await exported()).toMatchObject([
      { confidence: 20, severity: 'LOW', tlp: 'RED', expiresAt: expect.any(String) },
    ]);
    await command('sources', 'remove', 'Wrong', '--yes');
    await command('import', list, '--source', 'Wrong', '--tlp', 'GREEN');
    expect(await exported()).toMatchObject([{ tlp: 'GREEN' }]);
  });

  describe('into a source of imported files', () => {
    const settings = env();
    beforeAll(async () => {
      const list = inputFile('by-hand.txt', 'bad-one.test-feed.net\n');
      await run(['import', list, '--source', 'Ours'], { env: settings });
    });

    it.each([['--interval', '1h'], ['--snapshot', 'on'], ['--disabled'], []])(
      'allows no change of %s',
      async (...options) => {
        const { code, stderr } = await run(['sources', 'set', 'Ours', ...options], { env: settings });
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: expect.stringContaining('only --tlp, --confidence, --severity and --ttl can be set'),
        });
      },
    );
  });

  it('follows symbolic links in a directory', { tags: ['nightly'] }, async () => {
    const directory = temporaryDirectory();
    symlinkSync(inputFile('linked.csv', csvOf('linked', 2)), join(directory, 'link.csv'));
    symlinkSync(join(directory, 'nothing'), join(directory, 'broken.csv'));
    const done = await run(['import', directory, '--source', 'Links', '--json'], { env: env() });
    expect(summaryOf(done)).toMatchObject({ read: 2, new: 2 });
  });

  it('names the file and line of a rejected record', { tags: ['nightly'] }, async () => {
    const file = inputFile('named.csv', 'value,type\nnot a domain,domain\n');
    const done = await run(['import', file, '--source', 'Names'], { env: env() });
    expect(done.stdout).toContain(`${file}, line 2`);
  });
});

describe('tipline import, alone on the embedded database', () => {
  it('leaves no dead rows, so that a feed whose sightings change does not make the database larger each time', {
    tags: ['nightly'],
  }, async () => {
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    const indicatorBytes = () =>
      withStore(env.TIPLINE_DATA_DIR, async (db) => {
        const { rows } = await sql<{ bytes: number }>`
          select pg_total_relation_size('indicator')::int as bytes`.execute(db);
        return Number(rows[0]?.bytes);
      });
    const bytes: number[] = [];
    for (let day = 1; day <= 6; day++) {
      const rows = Array.from(
        { length: 1_000 },
        (_, i) => `seen${i}.test-feed.net,2026-03-0${day}T00:00:00Z`,
      );
      const file = inputFile('seen.csv', `domain,last_seen\n${rows.join('\n')}\n`);
      const { code, stdout } = await run(['import', file, '--source', 'Seen', '--json'], { env });
      expect({ code, rejected: summaryOf({ stdout } as Exit).rejected }).toEqual({ code: 0, rejected: 0 });
      bytes.push(await indicatorBytes());
    }
    expect(bytes[5]).toBeLessThan(1.1 * Number(bytes[2]));
  });
});
