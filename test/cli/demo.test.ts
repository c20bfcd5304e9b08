import { cpSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { type Exit, run, start, until } from '../support/processes.ts';
import { copyTree } from '../support/product.ts';
import { emptyStore, type Service, serve, storeFacts, total, withStore } from '../support/service.ts';

const LISTS = ['/api/v1/indicators', '/api/v1/actors', '/api/v1/campaigns'];

/** Everything that begins as a key does. */
function keysIn({ stdout, stderr }: { stdout: string; stderr: string }): string[] {
  return (stdout + stderr).match(/tip_[^\s"']*/g) ?? [];
}

function keyOf(service: Service): string {
  return service.stdout().match(/tip_[\w-]+/)?.[0] ?? '';
}

async function totals(service: Service): Promise<number[]> {
  return Promise.all(LISTS.map((path) => total(service, keyOf(service), path)));
}

async function revision(directory: string): Promise<number> {
  return (await withStore(directory, storeFacts)).revision;
}

describe('tipline demo', () => {
  const directory = join(temporaryDirectory(), 'data');
  let first: Exit;
  let second: Exit;
  let firstTotals: number[];
  let secondTotals: number[];
  /** While it ran, and after. */
  let shown: Exit[];
  let revisions: number[];
  let curls: { command: string; status: number }[];

  beforeAll(async () => {
    const one = await serve({ TIPLINE_DATA_DIR: directory }, 'demo');
    await one.says(/Stop with/);
    firstTotals = await totals(one);
    curls = await followCurls(one);
    shown = [await one.command('demo', '--show-key')];
    first = await one.stop();
    revisions = [await revision(directory)];
    shown.push(await one.command('demo', '--show-key'));
    const two = await serve({ TIPLINE_DATA_DIR: directory }, 'demo');
    await two.says(/Stop with/);
    secondTotals = await totals(two);
    second = await two.stop();
    revisions.push(await revision(directory));
  });

  it('prints exactly one complete key, also without a terminal', () => {
    expect(keysIn(first)).toEqual([expect.stringMatching(/^tip_[A-Za-z0-9_-]{40,}$/)]);
  });

  it('prints three curl commands that work with the key', () => {
    expect(curls.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('explains that the key is for a second terminal', () => {
    expect(first.stdout).toMatch(/second terminal[\s\S]*export TIPLINE_KEY=tip_/);
  });

  it('prints the key as a shell export with --show-key, while it runs and afterwards', () => {
    const line = `export TIPLINE_KEY=${keysIn(first)[0]}\n`;
    expect(shown.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: line },
      { code: 0, stdout: line },
    ]);
  });

  it('with --show-key finds no key where no demo has run, and creates no database', async () => {
    const nowhere = join(temporaryDirectory(), 'data');
    const { code, stderr } = await run(['demo', '--show-key'], { env: { TIPLINE_DATA_DIR: nowhere } });
    expect({ code, stderr, made: existsSync(nowhere) }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`There is no usable key of a demo in ${nowhere}`),
      made: false,
    });
  });

  it('adds no sample data to a database with other data, and creates no key there', {
    tags: ['nightly'],
  }, async () => {
    const env = { TIPLINE_DATA_DIR: emptyStore() };
    const input = 'type,value\nDOMAIN,ours.test-feed.net\n';
    expect((await run(['import', '-', '--source', 'Ours'], { env, input })).code).toBe(0);
    const before = await revision(env.TIPLINE_DATA_DIR);
    const { code, stdout, stderr } = await run(['demo'], { env: { ...env, PORT: '0' } });
    expect({ code, keys: keysIn({ stdout, stderr }), stderr }).toEqual({
      code: 1,
      keys: [],
      stderr: expect.stringContaining('holds data of the source "Ours"'),
    });
    expect(await revision(env.TIPLINE_DATA_DIR)).toBe(before);
  });

  it('logs requests to standard error without a terminal', () => {
    expect(first.stderr).toContain('"msg":"request completed"');
  });

  it('has entries in every list', () => {
    expect(Math.min(...firstTotals)).toBeGreaterThan(0);
  });

  it('prints the same key at the next start', () => {
    expect(keysIn(second)).toEqual(keysIn(first));
  });

  it('keeps all data across a restart', () => {
    expect(secondTotals).toEqual(firstTotals);
  });

  it('loads the sample once: the revision stays', () => {
    expect(revisions[1]).toBe(revisions[0]);
  });

  it('creates the key file with mode 0600', () => {
    expect(statSync(join(directory, 'demo-key')).mode & 0o777).toBe(0o600);
  });

  it('creates the data directory with mode 0700', () => {
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it('exits with code 0 on SIGTERM', () => {
    expect([first.code, second.code]).toEqual([0, 0]);
  });

  it('terminates its child process on SIGTERM to npm run demo', { tags: ['nightly'] }, async () => {
    const tree = join(temporaryDirectory(), 'tree');
    copyTree(tree);
    const data = join(tree, 'data');
    cpSync(directory, data, { recursive: true });
    const npm = start('npm', ['run', 'demo'], {
      cwd: tree,
      env: { PORT: '0', TIPLINE_DATA_DIR: data, npm_config_update_notifier: 'false' },
    });
    await npm.says(/Stop with/);
    const child = Number(npm.stderr().match(/"pid":(\d+)/)?.[1]);
    npm.signal('SIGTERM');
    await until('npm to end', () => Promise.race([npm.exit, false]));
    await until('its child to be gone', () => !isAlive(child));
  });
});

/** Asks what the printed curl lines ask. */
async function followCurls(service: Service) {
  const lines = service.stdout().match(/curl .*/g) ?? [];
  return Promise.all(
    lines.map(async (command) => {
      const url = command.match(/http:[^"]+/)?.[0] ?? '';
      const { status } = await fetch(url, { headers: { authorization: `Bearer ${keyOf(service)}` } });
      return { command, status };
    }),
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
