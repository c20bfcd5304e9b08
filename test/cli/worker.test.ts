import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, run, tipline } from '../support/processes.ts';
import { freePort } from '../support/servers.ts';
import { emptyStore, METRICS_TOKEN } from '../support/service.ts';

describe('tipline worker with WORKER_PORT', () => {
  let worker: Running;
  let address: string;

  beforeAll(async () => {
    const env = { TIPLINE_DATA_DIR: emptyStore(), WORKER_PORT: '0', METRICS_TOKEN };
    worker = tipline(['worker'], { env });
    [, address = ''] = await worker.says(/(http:\S+)\/api\/health/);
  });

  it('listens on loopback', () => expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/));

  it('reports health as a server does', async () => {
    const answer = await fetch(`${address}/api/health?deep=1`);
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 200,
      body: {
        status: 'ok',
        service: 'tipline',
        checks: { database: { status: 'ok' }, keyValueStore: { status: 'ok' } },
      },
    });
  });

  it('reports metrics as a server does', async () => {
    const text = await (
      await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
    ).text();
    expect(text).toMatch(/^tipline_build_info\{.*\} 1$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  });

  it('rejects /metrics without its token', async () => {
    expect((await fetch(`${address}/metrics`)).status).toBe(401);
  });

  it('serves nothing else', async () => {
    const paths = ['/', '/api/v1/indicators', '/api/docs', '/api/health?deep=2'];
    const answers = await Promise.all(paths.map((path) => fetch(address + path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 400]);
  });

  afterAll(async () => {
    worker.signal('SIGTERM');
    const { code, stderr } = await worker.exit;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('Warning') });
  });
});

it('tipline worker names WORKER_PORT when its port is in use', { tags: ['nightly'] }, async () => {
  const port = await freePort();
  const first = tipline(['worker'], {
    env: { TIPLINE_DATA_DIR: emptyStore(), WORKER_PORT: String(port) },
  });
  await first.says(/Health and metrics/);
  const env = { TIPLINE_DATA_DIR: emptyStore(), WORKER_PORT: String(port) };
  const { code, stderr } = await run(['worker'], { env });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(
      `Port ${port} on 127.0.0.1 is in use already. Choose another with WORKER_PORT.`,
    ),
  });
});

it('tipline worker names the key-value store in the log when that does not answer', {
  tags: ['nightly'],
}, async () => {
  const worker = tipline(['worker'], {
    env: { TIPLINE_DATA_DIR: emptyStore(), REDIS_URL: `redis://127.0.0.1:${await freePort()}` },
  });
  await worker.says(/Tipline \S+ works/);
  worker.signal('SIGTERM');
  const { stderr } = await worker.exit;
  expect(stderr).toMatch(/"msg":"rate-limit store error"/);
});
