import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { oidcConfig, readConfig } from '../../src/config/config.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { run, start } from '../support/processes.ts';
import { freePort } from '../support/servers.ts';

const PASSWORD = 'correct-horse-battery';

describe('an invalid configuration', () => {
  const wrong = {
    PORT: 'http',
    DATABASE_URL: `mysql://tipline:${PASSWORD}@db/tipline`,
    DATABASE_REPLICA_URLS: `postgres://tipline:${PASSWORD}@a/tipline, mysql://tipline:${PASSWORD}@b/tipline`,
    REDIS_URL: `${PASSWORD}@redis`,
    TIPLINE_SECRET: PASSWORD,
    PUBLIC_API_RATE_LIMIT_PER_WINDOW: '0',
    PUBLIC_API_RATE_LIMIT_WINDOW_SECONDS: '1.5',
    TRUSTED_PROXIES: '10.0.0.0/99',
    METRICS_TOKEN: 'short',
    LOG_LEVEL: 'loud',
    TIPLINE_UPLOAD_MB: '0',
    TIPLINE_PUBLIC_ADDRESS: 'tipline.example.org',
    OIDC_ISSUER: 'http://id.example.org',
    OIDC_TRUST_EMAIL: 'yes',
    WORKER_PORT: '-1',
  };

  it('reports all errors, and exits with code 2', async () => {
    const { code, stderr } = await run(['serve'], { env: wrong });
    const unnamed = Object.keys(wrong).filter((name) => !stderr.includes(name));
    expect({ code, unnamed }).toEqual({ code: 2, unnamed: [] });
  });

  it('reports no password or secret', async () => {
    const { stdout, stderr } = await run(['serve'], { env: wrong });
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it('is reported by commands, too', async () => {
    const { code, stderr } = await run(['keys', 'list'], { env: { DATABASE_URL: 'x', REDIS_URL: 'y' } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/DATABASE_URL[\s\S]*REDIS_URL/),
    });
  });

  it('includes a slash in the password of the database, which is not repeated', async () => {
    const env = { DATABASE_URL: `postgres://u:p@${PASSWORD}/x@127.0.0.1/tipline` };
    const { code, stdout, stderr } = await run(['keys', 'list'], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('%2F') });
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it('is detected in .env, too', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, '.env'), 'PORT=99999\n');
    const { code, stderr } = await run(['serve'], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('PORT must be') });
  });

  it.each([
    ['with a byte-order mark', Buffer.from('\uFEFFPORT=99999\n'), 'PORT must be'],
    [
      'in UTF-16',
      Buffer.from('\uFEFFPORT=99999\n', 'utf16le'),
      '.env cannot be read: it must be text in UTF-8.',
    ],
    ['that is a directory', null, '.env cannot be read: it is a directory.'],
  ])('is detected in a .env %s', async (_, content, message) => {
    const cwd = temporaryDirectory();
    if (content) writeFileSync(join(cwd, '.env'), content);
    else mkdirSync(join(cwd, '.env'));
    const { code, stderr } = await run(['serve'], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('includes a URL of Redis with another path than the number of a database', () => {
    const read = (url: string) => () => readConfig({ env: { REDIS_URL: url }, envFile: '' });
    for (const url of ['redis://127.0.0.1', 'redis://127.0.0.1:6379/', 'rediss://user:word@127.0.0.1:6379/2'])
      expect(read(url)).not.toThrow();
    expect(read('redis://127.0.0.1:6379/cache')).toThrow('REDIS_URL must be redis://HOST:PORT');
  });

  it('includes replicas without DATABASE_URL', async () => {
    const { code, stderr } = await run(['keys', 'list'], {
      env: { DATABASE_REPLICA_URLS: 'postgres://127.0.0.1/x' },
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('DATABASE_URL must be set when DATABASE_REPLICA_URLS is'),
    });
  });

  it('includes DATABASE_URL without TIPLINE_SECRET for serve', async () => {
    const { code, stderr } = await run(['serve'], { env: { DATABASE_URL: 'postgres://127.0.0.1/x' } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'The configuration is wrong:\n  TIPLINE_SECRET must be set when DATABASE_URL is\n',
    });
  });
});

describe('an unknown TIPLINE_ variable', () => {
  const read = (env: Record<string, string>) => () => readConfig({ env, envFile: '' });

  it.each([
    ['TIPLINE_DATADIR', 'TIPLINE_DATA_DIR'],
    ['TIPLINE_PROCESES', 'TIPLINE_PROCESSES'],
    ['TIPLINE_LOG_LEVEL', 'LOG_LEVEL'],
    ['TIPLINE_DATABASE_URL', 'DATABASE_URL'],
    ['TIPLINE_WORKER_PORT', 'WORKER_PORT'],
  ])('is an error with a suggestion: %s', (name, meant) => {
    expect(read({ [name]: '1' })).toThrow(`${name} is not a setting; did you mean ${meant}?`);
  });

  it('is an error without a suggestion when no setting is similar', () => {
    for (const name of ['TIPLINE_XYZZY', 'TIPLINE_FOO'])
      expect(read({ [name]: '1' })).toThrow(new RegExp(`${name} is not a setting$`));
  });

  it('is an error in .env, too', () => {
    const envFile = join(temporaryDirectory(), '.env');
    writeFileSync(envFile, 'TIPLINE_SPOL_MB=1\n');
    expect(() => readConfig({ env: {}, envFile })).toThrow('did you mean TIPLINE_SPOOL_MB?');
  });

  it.each([
    ['TIPLINE_PORT', 'tcp://10.0.0.7:8080'],
    ['TIPLINE_PORT_8080_TCP', 'tcp://10.0.0.7:8080'],
    ['TIPLINE_PORT_8080_TCP_ADDR', '10.0.0.7'],
    ['TIPLINE_SERVICE_HOST', '10.0.0.7'],
    ['TIPLINE_SERVICE_PORT_HTTP', '8080'],
    ['TIPLINE_DB_PORT', 'tcp://10.0.0.8:5432'],
    ['TIPLINE_DB_SERVICE_HOST', '10.0.0.8'],
    ['TIPLINE_WORKER_PORT', 'tcp://10.0.0.9:9090'],
    ['TIPLINE_KEY', 'tip_of_a_client'],
    ['TIPLINE_SERVER', 'https://tipline.example.org'],
    ['TIPLINE_NETRC', '/etc/tipline/netrc'],
  ])('is ignored when set by Kubernetes or a client: %s', (name, value) => {
    expect(read({ [name]: value })).not.toThrow();
  });
});

describe('an identity provider', () => {
  const whole = {
    OIDC_ISSUER: 'https://id.example.org',
    OIDC_CLIENT_ID: 'tipline',
    OIDC_CLIENT_SECRET: PASSWORD,
    TIPLINE_PUBLIC_ADDRESS: 'https://tipline.example.org/',
  };

  it.each(Object.keys(whole).slice(0, 4))(
    'is invalid without %s, and the error reveals no secret',
    (name) => {
      const { [name as keyof typeof whole]: _, ...env } = whole;
      const read = () => readConfig({ env, envFile: '' });
      expect(read).toThrow(name === 'TIPLINE_PUBLIC_ADDRESS' ? /TIPLINE_PUBLIC_ADDRESS/ : /OIDC_/);
      expect(read).not.toThrow(PASSWORD);
    },
  );

  it('is read into its configuration, or null when unset', () => {
    expect(oidcConfig(readConfig({ env: whole, envFile: '' }))).toEqual({
      issuer: 'https://id.example.org',
      clientId: 'tipline',
      clientSecret: PASSWORD,
      publicAddress: 'https://tipline.example.org',
      name: 'single sign-on',
      trustEmail: false,
    });
    expect(oidcConfig(readConfig({ env: {}, envFile: '' }))).toBeNull();
  });
});

describe('an unreachable database', () => {
  it('fails startup with code 1, and does not reveal the password', async () => {
    const url = `postgres://tipline:${PASSWORD}@127.0.0.1:${await freePort()}/tipline`;
    const { code, stdout, stderr } = await run(['serve'], {
      env: { DATABASE_URL: url, TIPLINE_SECRET: 's'.repeat(32) },
    });
    expect({ code, told: (stdout + stderr).includes(PASSWORD) }).toEqual({ code: 1, told: false });
  });
});

describe('the command line', () => {
  it('documents commands, settings and exit codes', async () => {
    const { code, stdout } = await run(['--help']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/Commands:[\s\S]*import[\s\S]*TIPLINE_DATA_DIR[\s\S]*Exit codes/),
    });
  });

  it('documents each command', async () => {
    const { code, stdout } = await run(['keys', 'create', '--help']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('--tlp-ceiling') });
  });

  it.each([
    ['an unknown command', ['frobnicate']],
    ['no command', []],
    ['an unknown option', ['keys', 'list', '--loudly']],
    ['a missing option', ['keys', 'create']],
    ['a missing argument', ['import', '--source', 'x']],
    ['a wrong scope', ['keys', 'create', '--name', 'x', '--scope', 'everything']],
    ['a wrong duration', ['keys', 'create', '--name', 'x', '--expires', 'soon']],
    ['a wrong network', ['keys', 'create', '--name', 'x', '--network', 'home']],
  ])('exits with code 2 for %s', async (_, args) => {
    expect((await run(args)).code).toBe(2);
  });
});

it('the built command is executable', async () => {
  expect((await start(inject('productMain') ?? '', ['--version']).exit).code).toBe(0);
});
