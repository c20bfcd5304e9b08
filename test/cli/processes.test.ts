import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase, hasPostgres, hasRedis, nodeSettings } from '../support/postgres-nodes.ts';
import { run, until } from '../support/processes.ts';
import { createKey, METRICS_TOKEN, type Service, serve } from '../support/service.ts';

const LIST = '/api/v1/indicators';
const LIMIT = 30;

/** Linux tells whose child a process is. */
const hasProc = existsSync('/proc/self/stat');

function childrenOf(pid: number): number[] {
  const isChild = (child: string) => {
    try {
      return readFileSync(`/proc/${child}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isChild(name))
    .map(Number);
}

describe.skipIf(!hasPostgres || !hasRedis || !hasProc)('one server with three processes', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let server: Service;

  const settings = (url: string) =>
    nodeSettings(url, {
      REDIS_URL: inject('redisUrl') ?? '',
      TIPLINE_PROCESSES: '3',
      PUBLIC_API_RATE_LIMIT_PER_WINDOW: String(LIMIT),
      PUBLIC_API_RATE_LIMIT_WINDOW_SECONDS: '600',
    });
  /** Each over a connection of its own: they are handed to the processes in turn. */
  const ask = (path: string, key?: string) => server.get(path, key, { connection: 'close' });

  beforeAll(async () => {
    database = await freshDatabase();
    server = await serve(settings(database.url));
  });

  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  it('serves all of them on one port', () => {
    expect(childrenOf(server.pid)).toHaveLength(3);
  });

  it('prints the initial setup link once, and the link works', async () => {
    const [, token] = await server.says(/first-start#(\S+)\n/);
    const { status } = await fetch(`${server.address}/app/first-start`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.address },
      body: JSON.stringify({
        token,
        email: 'ada@example.org',
        name: 'Ada',
        password: 'long enough, and a sentence',
      }),
    });
    const links = server.stdout().match(/first-start#\S+/g);
    expect({ links: links?.length, status }).toEqual({ links: 1, status: 200 });
  });

  it('runs one worker', async () => {
    await until('the worker', () => server.stderr().includes('"the worker runs"'));
    expect(server.stderr().match(/"the worker runs"/g)).toHaveLength(1);
  });

  it("enforces a key's rate limit across all processes", async () => {
    const key = await createKey(server);
    const answers = await Promise.all(Array.from({ length: 3 * LIMIT }, () => ask(LIST, key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
  });

  it('aggregates their metrics', async () => {
    const key = await createKey(server);
    const metrics = async () => (await ask('/metrics', METRICS_TOKEN)).text();
    const lookups = (text: string) =>
      [...text.matchAll(/^tipline_key_cache_lookups_total\{[^}]*\} (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    const before = lookups(await metrics());
    for (let i = 0; i < 9; i++) await ask('/api/v1/campaigns', key);
    const text = await metrics();
    expect(lookups(text) - before).toBe(9);
    expect(text).toMatch(
      /^tipline_http_request_duration_seconds_count\{[^}]*route="\/api\/v1\/campaigns"[^}]*\} 9$/m,
    );
  });

  it('restarts a killed process, and keeps serving meanwhile', { tags: ['nightly'] }, async () => {
    const before = childrenOf(server.pid);
    const [victim = 0] = before;
    process.kill(victim, 'SIGKILL');
    await until('the end of it', () => !childrenOf(server.pid).includes(victim));
    const meanwhile = await Promise.all([1, 2, 3, 4].map(() => ask('/api/health')));
    await until('another', async () => childrenOf(server.pid).length === 3);
    await until('it to answer', () => server.stderr().match(/"the worker runs"/g)?.length === 2);
    expect(meanwhile.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(server.stderr()).toContain('server process exited; restarting');
  });

  it('leaves no child processes when the parent is killed', { tags: ['nightly'] }, async () => {
    const other = await serve(settings(database.url));
    const children = childrenOf(other.pid);
    other.signal('SIGKILL');
    await other.exit;
    await until('their end', () => !children.some((pid) => existsSync(`/proc/${pid}`)));
    expect(children).toHaveLength(3);
  });

  it('stops all processes cleanly', { tags: ['nightly'] }, async () => {
    const other = await serve(settings(database.url));
    const children = childrenOf(other.pid);
    const { code } = await other.stop();
    expect({ code, left: children.filter((pid) => existsSync(`/proc/${pid}`)) }).toEqual({
      code: 0,
      left: [],
    });
  });

  it('reports a startup error once', async () => {
    const env = { ...settings('postgres://nobody@127.0.0.1:1/none'), PORT: '0' };
    const { code, stderr } = await run(['serve'], { env });
    expect({ code, times: stderr.match(/the connection was refused/g)?.length }).toEqual({
      code: 1,
      times: 1,
    });
  });
});

it('several processes require DATABASE_URL and REDIS_URL', async () => {
  const { code, stderr } = await run(['serve'], { env: { TIPLINE_PROCESSES: '2' } });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining(
      'DATABASE_URL and REDIS_URL must be set when TIPLINE_PROCESSES is more than 1',
    ),
  });
});
