import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase, hasPostgres, hasRedis, nodeSettings } from '../support/postgres-nodes.ts';
import { run, until } from '../support/processes.ts';
import { createKey, type Service, serve } from '../support/service.ts';

const LIST = '/api/v1/indicators';

describe.skipIf(!hasPostgres)('SIGTERM during a request', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  const seen = { refused: false, status: 0, code: null as number | null, again: 0 };

  beforeAll(async () => {
    database = await freshDatabase();
    const service = await serve(nodeSettings(database.url));
    const key = await createKey(service);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await blocker.query('begin; lock table api_key in access exclusive mode');
    const slow = service.get(LIST, key);
    await until('the request to wait', async () => {
      // Not pg_stat_activity: within a transaction it stays as it was first read.
      const { rows } = await blocker.query(
        "select 1 from pg_locks where not granted and relation = 'api_key'::regclass",
      );
      return rows.length > 0;
    });
    service.signal('SIGTERM');
    seen.refused = await until('connections to be refused', () =>
      fetch(service.address).then(
        () => false,
        () => true,
      ),
    );
    await blocker.query('commit');
    await blocker.end();
    seen.status = (await slow).status;
    seen.code = (await service.exit).code;
  });

  afterAll(() => database.drop());

  it('completes the request', () => expect(seen.status).toBe(200));

  it('rejects new connections', () => expect(seen.refused).toBe(true));

  it('exits with code 0', () => expect(seen.code).toBe(0));
});

const DELAY = { TIPLINE_SHUTDOWN_DELAY_SECONDS: '2' };

describe('SIGTERM with a delay, under load', () => {
  it('fails no request of clients that leave once the readiness check fails', {
    tags: ['nightly'],
  }, async () => {
    await failsNoRequest(await serve(DELAY));
  });

  it.skipIf(!hasPostgres || !hasRedis)('nor with several processes', { tags: ['nightly'] }, async () => {
    const database = await freshDatabase();
    const settings = { REDIS_URL: inject('redisUrl') ?? '', TIPLINE_PROCESSES: '2' };
    await failsNoRequest(await serve({ ...DELAY, ...nodeSettings(database.url, settings) }));
    await database.drop();
  });

  async function failsNoRequest(service: Service): Promise<void> {
    const key = await createKey(service);
    const outcomes: string[] = [];
    let sent = 0;
    let isReady = true;
    const client = async () => {
      while (isReady) {
        sent++;
        outcomes.push(
          await service.get(`${LIST}?pageSize=10`, key).then(
            async (answer) => {
              await answer.text();
              return String(answer.status);
            },
            (error) => String(error.cause ?? error),
          ),
        );
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await until('the first answers', () => outcomes.length > 50);
    service.signal('SIGTERM');
    await until('the server not to be ready', async () => {
      const { status } = await service.get('/api/health/ready');
      return status === 503;
    });
    const atStop = sent;
    await until('requests after that', () => sent > atStop + 50);
    isReady = false;
    await Promise.all(clients);
    expect(new Set(outcomes)).toEqual(new Set(['200']));
    expect((await service.exit).code).toBe(0);
  }
});

describe.skipIf(!hasPostgres || !hasRedis)('SIGTERM with a delay, with several processes', () => {
  /** In the first process a limit of 25 seconds or less ends at once: it must not apply before the end of the delay. */
  const impatient = `
    import cluster from 'node:cluster';
    const set = globalThis.setTimeout;
    if (cluster.isPrimary)
      globalThis.setTimeout = (call, ms, ...rest) => set(call, ms >= 20_000 && ms <= 25_000 ? 0 : ms, ...rest);`;

  it('exits with code 0 after the delay', { tags: ['nightly'] }, async () => {
    const database = await freshDatabase();
    const service = await serve({
      ...nodeSettings(database.url, { REDIS_URL: inject('redisUrl') ?? '', TIPLINE_PROCESSES: '2' }),
      TIPLINE_SHUTDOWN_DELAY_SECONDS: '1',
      NODE_OPTIONS: `--throw-deprecation --import=data:text/javascript,${encodeURIComponent(impatient)}`,
    });
    const { code } = await service.stop();
    await database.drop();
    expect(code).toBe(0);
  });
});

describe('SIGTERM while a client does not send the rest of its request', () => {
  it('closes the connection after 18 seconds, and the stores', { tags: ['nightly'] }, async () => {
    const { code, stderr } = await stopWithLimitOver(18_000);
    expect(stderr).toContain('requests were not complete after 18 seconds');
    expect(code).toBe(0);
  });

  it('exits with code 1 after 25 seconds, and logs which part is not closed', {
    tags: ['nightly'],
  }, async () => {
    const { code, stderr } = await stopWithLimitOver(25_000);
    expect(stderr).toContain('"closing":"the HTTP server and the worker"');
    expect(stderr).toContain('the shutdown is not complete after 25 seconds');
    expect(code).toBe(1);
  });

  it.skipIf(!hasPostgres || !hasRedis)(
    'exits with code 1 if one of several processes does',
    { tags: ['nightly'] },
    async () => {
      const database = await freshDatabase();
      const settings = { REDIS_URL: inject('redisUrl') ?? '', TIPLINE_PROCESSES: '2' };
      const { code } = await stopWithLimitOver(25_000, nodeSettings(database.url, settings));
      await database.drop();
      expect(code).toBe(1);
    },
  );

  /** Stops a server on which this time limit of the processes that serve requests is 200 ms. */
  async function stopWithLimitOver(limit: number, settings: Record<string, string> = {}) {
    const impatient = `
      import cluster from 'node:cluster';
      const set = globalThis.setTimeout;
      if (cluster.isWorker || ${settings.TIPLINE_PROCESSES === undefined})
        globalThis.setTimeout = (call, ms, ...rest) => set(call, ms === ${limit} ? 200 : ms, ...rest);`;
    const service = await serve({
      ...settings,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(impatient)}`,
    });
    const key = await createKey(service);
    const { hostname, port } = new URL(service.address);
    const client = connect(Number(port), hostname);
    // The server reads a body after it has accepted the key, and says so.
    client.write(
      `QUERY /bulk/lookup HTTP/1.1\r\nhost: tipline\r\nauthorization: Bearer ${key}\r\n` +
        'content-type: application/json\r\ncontent-length: 1000\r\nexpect: 100-continue\r\n\r\n',
    );
    await once(client, 'data');
    const exit = await service.stop();
    client.destroy();
    return exit;
  }
});

describe('a port in use', () => {
  it('fails startup with code 1 and names the port', { tags: ['nightly'] }, async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    const service = await serve();
    await service.stop();
    const { code, stderr } = await run(['serve'], { env: { ...service.env, PORT: port } });
    other.close();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`Port ${port}`) });
  });
});
