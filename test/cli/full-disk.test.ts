import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, tipline } from '../support/processes.ts';
import { createKey, emptyStore, type Service, serve } from '../support/service.ts';

/** More than there is of any disk: it is as if it were nearly full. */
const FULL = { TIPLINE_DISK_RESERVE_MB: '1000000' };

describe('tipline on a disk that is nearly full', () => {
  const directory = emptyStore();
  let key: string;
  let service: Service;
  beforeAll(async () => {
    const env = { TIPLINE_DATA_DIR: directory };
    key = await createKey({ command: (...args) => run(args, { env }) });
    service = await serve({ ...env, ...FULL });
  });
  afterAll(() => service.stop());

  it('starts, answers lists and exports, and is ready', async () => {
    const paths = ['/api/health/ready', '/api/v1/indicators', '/api/v1/indicators?format=csv'];
    const answers = await Promise.all(paths.map((path) => service.get(path, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('says so in its health and in its log', async () => {
    const response = await service.get('/api/health?deep=1');
    const { checks } = (await response.json()) as { checks: { database: object } };
    expect([response.status, checks.database]).toMatchObject([
      503,
      { status: 'degraded', message: expect.stringContaining('disk is nearly full') },
    ]);
    expect(service.stderr()).toContain(`The disk of ${directory} is nearly full`);
  });

  it('answers what has to be written with 503 and the reason', async () => {
    const response = await service.get('/api/v1/indicators?format=snort', key);
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { code: 'service_unavailable', error: expect.stringContaining('disk') },
    ]);
    expect(response.headers.has('retry-after')).toBe(true);
  });

  it('has commands that write end with the reason, and none of it written', async () => {
    const { code, stderr } = await service.command('keys', 'create', '--name', 'another');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`The disk of ${directory} is nearly full`)]);
    const { stdout } = await service.command('keys', 'list', '--json');
    expect(JSON.parse(stdout)).toHaveLength(1);
  });

  it('writes again after a restart with space', async () => {
    await service.stop();
    const env = { TIPLINE_DATA_DIR: directory, PORT: '0' };
    const running = tipline(['serve'], { env });
    await running.says(/answers at/);
    running.signal('SIGTERM');
    await running.exit;
    expect(await createKey({ command: (...args) => run(args, { env }) })).toMatch(/^tip_/);
  });
});
