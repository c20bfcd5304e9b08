import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { freshDatabase, hasPostgres, hasRedis } from '../support/postgres-nodes.ts';
import { type Exit, type Running, run, tipline } from '../support/processes.ts';
import { hasNotes, notesOf, podOf, render, type Values } from './helm.ts';
import { MINIMAL } from './values.ts';

const METRICS_TOKEN = 'token-of-the-cluster';
const DATA = '/var/lib/tipline';
const VALUES: Values = { ...MINIMAL, listenAddress: '127.0.0.1', server: { shutdownDelaySeconds: 0 } };

// The commands of the containers run here with the environment of the chart: the ports are free ones, and the volume is a
// directory.
describe.skipIf(!hasNotes || !hasPostgres || !hasRedis)('the containers of the chart', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let secret: Record<string, string>;
  let environment: Record<string, string>;
  let migrated: Exit;
  let server: Running;
  let worker: Running;
  let serverAddress: string;
  let workerAddress: string;
  const containers = () =>
    new Map(
      render(VALUES).flatMap((object) => {
        const container = podOf(object)?.spec.containers[0];
        return container ? [[container.name, container] as const] : [];
      }),
    );
  const containerOf = (component: string) => {
    const container = containers().get(component);
    if (!container) throw new Error(`There is no container ${component}.`);
    return container;
  };

  /** The environment of a container, as Kubernetes sets it. */
  function environmentOf(component: string, port: Record<string, string> = {}): Record<string, string> {
    const volume = temporaryDirectory();
    const variables = containerOf(component).env.flatMap(({ name, value, valueFrom }) => {
      const text = value?.replace(DATA, volume) ?? secret[valueFrom?.secretKeyRef.key ?? ''];
      return text === undefined ? [] : [[name, text]];
    });
    return { ...Object.fromEntries(variables), ...port };
  }
  const probes = (component: string, address: string) => {
    const { livenessProbe, readinessProbe, startupProbe } = containerOf(component);
    return Promise.all(
      [startupProbe, livenessProbe, readinessProbe].map(
        async (probe) => (await fetch(address + probe?.httpGet.path)).status,
      ),
    );
  };

  beforeAll(async () => {
    database = await freshDatabase();
    secret = {
      DATABASE_URL: database.url,
      REDIS_URL: inject('redisUrl') ?? '',
      TIPLINE_SECRET: 'a secret of the cluster, long enough',
      METRICS_TOKEN,
    };
    migrated = await run(containerOf('migrations').args, { env: environmentOf('migrations') });
    environment = environmentOf('server', { PORT: '0' });
    server = tipline(containerOf('server').args, { env: environment });
    worker = tipline(containerOf('worker').args, { env: environmentOf('worker', { WORKER_PORT: '0' }) });
    [, serverAddress = ''] = await server.says(/listens on (http:\S+)/);
    [, workerAddress = ''] = await worker.says(/Health and metrics: (http:\S+)\/api\/health/);
  });

  afterAll(async () => {
    for (const process of [server, worker]) process.signal('SIGTERM');
    expect((await Promise.all([server.exit, worker.exit])).map(({ code }) => code)).toEqual([0, 0]);
    await database.drop();
  });

  it('migrate an empty database, with no more than its address', () => {
    expect(migrated).toMatchObject({ code: 0, stdout: 'The database is up to date.\n' });
  });

  it('answer their probes', async () => {
    expect(await probes('server', serverAddress)).toEqual([200, 200, 200]);
    expect(await probes('worker', workerAddress)).toEqual([200, 200, 200]);
  });

  it('serve their metrics with the token', async () => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    for (const address of [serverAddress, workerAddress])
      expect((await fetch(`${address}/metrics`, { headers })).status).toBe(200);
  });

  it('run the commands of the notes, which create an account and a key', { tags: ['nightly'] }, async () => {
    const commands = [...notesOf(VALUES).matchAll(/deployment\/soc-tipline-server -- tipline (.+)/g)];
    const exits: Exit[] = [];
    for (const [, args = ''] of commands)
      exits.push(await run(args.split(' '), { env: environment, input: 'correct horse battery\n' }));
    const [doctor, account, key] = exits;
    expect(doctor?.stdout).not.toMatch(/^error/m);
    expect(account).toMatchObject({ code: 0, stdout: expect.stringContaining('you@example.org') });
    const [, token = ''] = key?.stdout.match(/(tip_\S+)/) ?? [];
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${serverAddress}/api/v1/indicators`, { headers })).status).toBe(200);
  });

  it('print no link for the first account', () => {
    expect(server.stdout() + server.stderr()).not.toContain('first-start');
  });
});
