import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { type Identity, identity, selfSigned } from '../support/certificates.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { freshDatabase, hasPostgres, hasRedis, nodeSettings } from '../support/postgres-nodes.ts';
import { run, start, until } from '../support/processes.ts';
import { createKey, type Service, serve } from '../support/service.ts';
import { handshake, send, writeIdentity } from '../support/tls-client.ts';

const LIST = '/api/v1/indicators?pageSize=10';
const NAMES = ['localhost', '127.0.0.1'];

const has = (command: string) => spawnSync(command, ['--version']).error === undefined;
const local = (address: string) => address.replace('127.0.0.1', 'localhost');

/** Replaces a file as a whole, as programs that renew certificates do. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

describe('tipline serve with a certificate', () => {
  let own: Identity;
  let service: Service;
  let key: string;
  let files: ReturnType<typeof writeIdentity>;

  beforeAll(async () => {
    own = identity({ names: NAMES });
    files = writeIdentity(own);
    service = await serve({
      TIPLINE_TLS_CERT: files.certificate,
      TIPLINE_TLS_KEY: files.key,
      REDIRECT_PORT: '0',
    });
    key = await createKey(service);
  });
  afterAll(() => service.stop());

  it('prints addresses with https', async () => {
    expect(service.address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    await service.says(new RegExp(`Reference: ${service.address}/api/docs`));
    await service.says(new RegExp(`${service.address}/first-start#`));
  });

  it('serves lists and health over TLS', async () => {
    const answers = [
      await send(service.address + LIST, own.cert, { headers: { authorization: `Bearer ${key}` } }),
      await send(`${service.address}/api/health/ready`, own.cert),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('redirects requests to the other port', async () => {
    const [, plain = ''] = await service.says(/Requests to (http:\S+) are redirected to it\./);
    const sent = request(`${plain}/indicators?q=a`).end();
    const [response] = await once(sent, 'response');
    expect([response.statusCode, response.headers.location]).toEqual([
      308,
      `${service.address}/indicators?q=a`,
    ]);
  });

  it('answers tipline lookup with NODE_EXTRA_CA_CERTS', async () => {
    const { code, stderr } = await run(['lookup', '--server', service.address, '--values'], {
      env: { TIPLINE_KEY: key, NODE_EXTRA_CA_CERTS: files.certificate },
      input: 'a.example\n',
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.skipIf(!has('curl'))('answers curl with --cacert', async () => {
    const args = ['-sS', '--cacert', files.certificate, '-H', `Authorization: Bearer ${key}`];
    const { stdout } = await promisify(execFile)('curl', [...args, local(service.address) + LIST]);
    expect(JSON.parse(stdout)).toMatchObject({ total: 0 });
  });

  it.skipIf(!has('python3'))('answers the Python client with SSL_CERT_FILE', async () => {
    const client = start('python3', ['-m', 'tipline', 'lookup', '--values', '-'], {
      input: 'a.example\n',
      env: {
        PYTHONPATH: join(process.cwd(), 'clients/python/src'),
        SSL_CERT_FILE: files.certificate,
        TIPLINE_SERVER: local(service.address),
        TIPLINE_KEY: key,
      },
    });
    const { code, stderr } = await client.exit;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.skipIf(spawnSync('openssl', ['version']).error !== undefined)(
    'agrees with openssl s_client',
    async () => {
      const { port } = new URL(service.address);
      const brief = async (...args: string[]) => {
        const { exit } = start('openssl', [
          ...['s_client', '-connect', `127.0.0.1:${port}`, '-brief', '-CAfile', files.certificate],
          ...args,
        ]);
        return (await exit).stderr;
      };
      expect(await brief('-tls1_3')).toMatch(/Protocol version: TLSv1\.3[\s\S]*Verification: OK/);
      expect(await brief('-tls1_2')).toMatch(/Ciphersuite: ECDHE-ECDSA-/);
      expect(await brief('-tls1_1', '-cipher', 'ALL:@SECLEVEL=0')).toMatch(/alert/);
    },
  );

  it('uses another certificate once the files have changed', async () => {
    const renewed = identity({ names: NAMES });
    replace(files.key, renewed.key);
    replace(files.certificate, renewed.cert);
    await until('the new certificate', () =>
      send(`${service.address}/api/health`, renewed.cert).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    await until('the line of the log', () => service.stderr().includes('TLS certificate reloaded'));
  });
});

describe.skipIf(!hasPostgres || !hasRedis)('two processes with a certificate', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let service: Service;
  const own = identity({ names: NAMES });
  const files = writeIdentity(own);

  beforeAll(async () => {
    database = await freshDatabase();
    service = await serve(
      nodeSettings(database.url, {
        REDIS_URL: inject('redisUrl') ?? '',
        TIPLINE_PROCESSES: '2',
        TIPLINE_TLS_CERT: files.certificate,
        TIPLINE_TLS_KEY: files.key,
        REDIRECT_PORT: '0',
      }),
    );
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  const port = () => Number(new URL(service.address).port);

  it('resume the sessions of each other', async () => {
    const first = await handshake(port(), { ca: own.cert });
    const [session] = (await once(first, 'session')) as [Buffer];
    // Connections are handed to the processes in turn.
    const later = [
      await handshake(port(), { ca: own.cert, session }),
      await handshake(port(), { ca: own.cert, session }),
    ];
    expect(later.map((socket) => socket.isSessionReused())).toEqual([true, true]);
    for (const socket of [first, ...later]) socket.destroy();
  });

  it('redirect on one port', async () => {
    const [, plain = ''] = await service.says(/Requests to (http:\S+) are redirected to it\./);
    for (let i = 0; i < 2; i++) {
      const [response] = await once(request(`${plain}/x`).end(), 'response');
      expect(response.headers.location).toBe(`${service.address}/x`);
    }
  });

  it('both use another certificate once the files have changed', { tags: ['nightly'] }, async () => {
    const renewed = identity({ names: NAMES });
    replace(files.key, renewed.key);
    replace(files.certificate, renewed.cert);
    const isRenewed = () =>
      handshake(port(), { ca: renewed.cert }).then(
        (socket) => socket.destroy() !== null,
        () => false,
      );
    await until('the new certificate twice in a row', async () => (await isRenewed()) && (await isRenewed()));
    // Each process logs it once; the lines may arrive later than the handshakes.
    const reloads = () => service.stderr().match(/"TLS certificate reloaded"/g)?.length ?? 0;
    await until('a line of the log of each process', () => reloads() >= 2);
    expect(reloads()).toBe(2);
  });
});

describe('the settings of TLS', () => {
  const problems = (env: Record<string, string>) => () => readConfig({ env, envFile: '' });

  it.each<[Record<string, string>, string]>([
    [{ TIPLINE_TLS_CERT: 'a' }, 'TIPLINE_TLS_KEY must be set when TIPLINE_TLS_CERT is'],
    [{ TIPLINE_TLS_KEY: 'a' }, 'TIPLINE_TLS_CERT must be set when TIPLINE_TLS_KEY is'],
    [{ TIPLINE_TLS_PASSPHRASE: 'a' }, 'TIPLINE_TLS_KEY must be set when TIPLINE_TLS_PASSPHRASE is'],
    [{ REDIRECT_PORT: '80' }, 'TIPLINE_TLS_CERT must be set when REDIRECT_PORT is'],
    [{ TIPLINE_HSTS_DAYS: '1' }, 'TIPLINE_TLS_CERT must be set when TIPLINE_HSTS_DAYS is above 0'],
  ])('need each other: %o', (env, message) => expect(problems(env)).toThrow(message));

  it('fail the start with code 2, the file and the reason, before the database is opened', async () => {
    const files = writeIdentity(selfSigned('localhost'));
    const other = writeIdentity(selfSigned('localhost'));
    const env = { TIPLINE_TLS_CERT: files.certificate, TIPLINE_TLS_KEY: other.key };
    const { code, stderr } = await run(['serve'], {
      env: { ...env, TIPLINE_DATA_DIR: temporaryDirectory() },
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `TIPLINE_TLS_KEY: the key in ${other.key} does not belong to the first certificate in ${files.certificate} (TIPLINE_TLS_CERT).\n`,
    });
  });

  it('are refused by the demo', async () => {
    const files = writeIdentity(selfSigned('localhost'));
    const { code, stderr } = await run(['demo'], {
      env: { TIPLINE_TLS_CERT: files.certificate, TIPLINE_TLS_KEY: files.key },
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'The demo serves plain HTTP only: unset TIPLINE_TLS_CERT, or use tipline serve.\n',
    });
  });
});
