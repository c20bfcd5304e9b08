import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identity } from '../support/certificates.ts';
import { type Running, run, tipline } from '../support/processes.ts';
import { freePort } from '../support/servers.ts';
import { emptyStore, type Service, serve } from '../support/service.ts';
import { writeIdentity } from '../support/tls-client.ts';

/** Runs the command with settings. */
const health = (env: Record<string, string>, ...args: string[]) => run(['health', ...args], { env });
const portOf = (address: string) => new URL(address).port;

describe('tipline health', () => {
  let service: Service;

  beforeAll(async () => {
    service = await serve();
  });
  afterAll(() => service.stop());

  it.each(['127.0.0.1', '0.0.0.0', 'localhost'])(
    'exits with 0 while a server on %s responds',
    async (HOST) => {
      const { code, stdout } = await health({ HOST, PORT: portOf(service.address) });
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/\/api\/health returned 200\.\n$/),
      });
    },
  );

  it('exits with 1 if no server responds', async () => {
    const port = await freePort();
    const { code, stderr } = await health({ PORT: String(port) });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `http://127.0.0.1:${port}/api/health: the connection was refused.\n`,
    });
  });

  it.each([
    ['PORT', []],
    ['WORKER_PORT', ['--worker']],
  ])('exits with 2 if %s is 0', async (name, options) => {
    const { code, stderr } = await health({ [name]: '0' }, ...options);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `${name} must be set, and not be 0.\n` });
  });
});

it('tipline health accepts the certificate of a server, which is for another name', {
  tags: ['nightly'],
}, async () => {
  const files = writeIdentity(identity({ names: ['tipline.example.org'] }));
  const settings = { TIPLINE_TLS_CERT: files.certificate, TIPLINE_TLS_KEY: files.key };
  const service = await serve(settings);
  const { code } = await health({ ...settings, PORT: portOf(service.address) });
  await service.stop();
  expect(code).toBe(0);
});

describe('tipline health --worker', () => {
  let worker: Running;
  const env: Record<string, string> = {};

  beforeAll(async () => {
    Object.assign(env, { TIPLINE_DATA_DIR: emptyStore(), WORKER_PORT: String(await freePort()) });
    worker = tipline(['worker'], { env });
    await worker.says(/Health and metrics/);
  });
  afterAll(async () => {
    worker.signal('SIGTERM');
    await worker.exit;
  });

  it('exits with 0 while a worker responds on WORKER_PORT', async () => {
    expect((await health(env, '--worker')).code).toBe(0);
  });
});
