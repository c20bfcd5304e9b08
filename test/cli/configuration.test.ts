import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { run } from '../support/processes.ts';
import { freePort } from '../support/servers.ts';

const PASSWORD = 'correct-horse-battery';

describe('a wrong configuration', () => {
  const wrong = {
    PORT: 'http',
    DATABASE_URL: `mysql://tipline:${PASSWORD}@db/tipline`,
    REDIS_URL: `${PASSWORD}@redis`,
    TIPLINE_SECRET: PASSWORD,
    PUBLIC_API_RATE_LIMIT_PER_WINDOW: '0',
    PUBLIC_API_RATE_LIMIT_WINDOW_SECONDS: '1.5',
    TRUSTED_PROXIES: '10.0.0.0/99',
    METRICS_NETWORKS: 'everybody',
    LOG_LEVEL: 'loud',
  };

  it('is reported whole, and ends with code 2', async () => {
    const { code, stderr } = await run(['serve'], { env: wrong });
    const unnamed = Object.keys(wrong).filter((name) => !stderr.includes(name));
    expect({ code, unnamed }).toEqual({ code: 2, unnamed: [] });
  });

  it('is reported without a password or a secret', async () => {
    const { stdout, stderr } = await run(['serve'], { env: wrong });
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it('is reported by commands, too', async () => {
    const { code, stderr } = await run(['keys', 'list'], { env: { DATABASE_URL: 'x', REDIS_URL: 'y' } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/DATABASE_URL[^]*REDIS_URL/),
    });
  });

  it('is found in .env, too', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, '.env'), 'PORT=99999\n');
    const { code, stderr } = await run(['serve'], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('PORT must be') });
  });

  it('is DATABASE_URL without TIPLINE_SECRET, for a server', async () => {
    const { code, stderr } = await run(['serve'], { env: { DATABASE_URL: 'postgres://127.0.0.1/x' } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'The configuration is wrong:\n  TIPLINE_SECRET must be set when DATABASE_URL is\n',
    });
  });
});

describe('a database that is not there', () => {
  it('ends the start with code 1, and does not tell the password', async () => {
    const url = `postgres://tipline:${PASSWORD}@127.0.0.1:${await freePort()}/tipline`;
    const { code, stdout, stderr } = await run(['serve'], {
      env: { DATABASE_URL: url, TIPLINE_SECRET: 's'.repeat(32) },
    });
    expect({ code, told: (stdout + stderr).includes(PASSWORD) }).toEqual({ code: 1, told: false });
  });
});

describe('the command line', () => {
  it('explains itself, its settings and its exit codes', async () => {
    const { code, stdout } = await run(['--help']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/Commands:[^]*import[^]*TIPLINE_DATA_DIR[^]*Exit codes/),
    });
  });

  it('explains a command', async () => {
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
  ])('ends with code 2 for %s', async (_, args) => {
    expect((await run(args)).code).toBe(2);
  });
});
