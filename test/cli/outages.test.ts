import { join } from 'node:path';
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { freshDatabase, hasPostgres, hasRedis, nodeSettings } from '../support/postgres-nodes.ts';
import { until } from '../support/processes.ts';
import { freePort, type ServerProcess, startPostgres, startRedis, stop } from '../support/servers.ts';
import { createKey, type Service, serve } from '../support/service.ts';

const LIST = '/api/v1/indicators';
const DEEP = '/api/health?deep=1';

interface Health {
  status: string;
  checks: Record<'database' | 'keyValueStore', { status: string; message?: string }>;
}

async function health(service: Service): Promise<{ code: number; body: Health }> {
  const answer = await service.get(DEEP);
  return { code: answer.status, body: (await answer.json()) as Health };
}

async function healthy(service: Service): Promise<void> {
  await until('the service to be healthy', async () => (await health(service)).code === 200);
}

async function unhealthy(service: Service): Promise<Health> {
  return until('the service to notice', async () => {
    const { code, body } = await health(service);
    return code === 503 && body;
  });
}

describe.skipIf(!hasPostgres || !hasRedis)('without Redis', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let port: number;
  let redis: ServerProcess | null = null;
  let service: Service;
  let key: string;

  beforeAll(async () => {
    database = await freshDatabase();
    port = await freePort();
    // It starts before its Redis does: nothing waits for it.
    service = await serve(nodeSettings(database.url, { REDIS_URL: `redis://127.0.0.1:${port}` }));
    key = await createKey(service);
  });

  afterAll(async () => {
    await service.stop();
    await stop(redis?.process, 'SIGKILL');
    await database.drop();
  });

  it('a node starts, and sends rate-limit headers', async () => {
    const { status, headers } = await service.get(LIST, key);
    expect({ status, rated: headers.has('x-ratelimit-remaining') }).toEqual({ status: 200, rated: true });
  });

  it('it connects when Redis becomes available, without a restart', async () => {
    redis = await startRedis(port);
    await healthy(service);
  });

  it('keeps serving when Redis is killed', async () => {
    await stop(redis?.process, 'SIGKILL');
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.get(LIST, key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('names the key-value store in the health check', async () => {
    const { checks } = await unhealthy(service);
    expect(checks).toMatchObject({
      database: { status: 'ok' },
      keyValueStore: { status: 'degraded', message: expect.stringContaining('key-value store') },
    });
  });

  it('is healthy again when Redis is back', async () => {
    redis = await startRedis(port);
    await healthy(service);
  });

  describe.each([
    ['is demoted to a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'], 'READONLY'],
    [
      'has no memory left',
      ['CONFIG', 'SET', 'maxmemory', '1'],
      ['CONFIG', 'SET', 'maxmemory', '0'],
      'OOM command not allowed',
    ],
  ])('when Redis %s', (_, begin, end, reason) => {
    const send = async (command: string[]) => {
      const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
      await client.sendCommand(command);
      client.destroy();
    };

    it('keeps serving, and names the key-value store in the health check', async () => {
      await send(begin);
      expect((await service.get(LIST, key)).status).toBe(200);
      const { checks } = await unhealthy(service);
      expect(checks).toMatchObject({
        database: { status: 'ok' },
        keyValueStore: { status: 'degraded', message: expect.stringContaining('rejects writes') },
      });
    });

    it('the doctor finds it', async () => {
      const { code, stdout } = await service.command('doctor', '--json');
      const found = JSON.parse(stdout).find(({ check }: { check: string }) => check === 'redis');
      expect({ code, ...found }).toMatchObject({
        code: 1,
        status: 'error',
        message: expect.stringContaining(reason),
      });
    });

    it('is healthy again afterwards', async () => {
      await send(end);
      await healthy(service);
    });
  });

  it('keeps serving when Redis hangs', async () => {
    redis?.process.kill('SIGSTOP');
    const { status } = await service.get(LIST, key);
    redis?.process.kill('SIGCONT');
    expect(status).toBe(200);
  });
});

describe.skipIf(!hasPostgres)('without PostgreSQL', () => {
  const data = join(temporaryDirectory(), 'postgres');
  let postgres: ServerProcess | null = null;
  let service: Service;
  let key: string;

  beforeAll(async () => {
    postgres = await startPostgres(data);
    service = await serve(nodeSettings(postgres?.url ?? ''));
    key = await createKey(service);
    await service.get(LIST, key);
    await stop(postgres?.process, 'SIGINT');
  });

  afterAll(async () => {
    await service.stop();
    await stop(postgres?.process, 'SIGINT');
  });

  it('responds 503 with Retry-After', async () => {
    const { status, headers } = await service.get(LIST, key);
    expect({ status, retryAfter: Number(headers.get('retry-after')) }).toEqual({
      status: 503,
      retryAfter: expect.toSatisfy((seconds: number) => seconds >= 1),
    });
  });

  it('names the database in the health check', async () => {
    const { checks } = await unhealthy(service);
    expect(checks).toMatchObject({
      database: { status: 'degraded', message: expect.stringContaining('database') },
      keyValueStore: { status: 'ok' },
    });
  });

  it('remains live in the shallow health check', async () => {
    expect((await service.get('/api/health')).status).toBe(200);
  });

  it('recovers without a restart', async () => {
    const port = Number(new URL(postgres?.url ?? '').port);
    postgres = await startPostgres(data, port);
    await until('the list to be back', async () => (await service.get(LIST, key)).status === 200);
  });
});
