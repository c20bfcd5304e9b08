import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { run, start } from '../support/processes.ts';
import { type Service, serve } from '../support/service.ts';

const TERMINAL = fileURLToPath(new URL('../support/terminal.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).error === undefined;
const PASSWORD = 'correct horse battery';

describe('tipline users, beside a running server', () => {
  let service: Service;
  beforeAll(async () => {
    service = await serve();
  });
  afterAll(() => service.stop());
  const signIn = (email: string, password = PASSWORD) =>
    fetch(`${service.address}/app/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: service.address },
      body: JSON.stringify({ email, password }),
    });

  it('creates an account that can sign in at once, with a password from standard input', async () => {
    const args = ['users', 'create', 'Admin@Example.org', '--role', 'administrator', '--password', '-'];
    const { code, stdout, stderr } = await run(args, { env: service.env, input: `${PASSWORD}\n` });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'admin@example.org  Admin@Example.org  administrator\n',
      stderr: `Store: ${service.directory}\n`,
    });
    expect((await signIn('admin@example.org')).status).toBe(200);
  });

  describe.skipIf(!hasPython)('in a terminal', () => {
    /** Types keys at the prompt for the password of a new account. */
    const typing = async (keys: string, email: string) => {
      const args = ['users', 'create', email, '--role', 'viewer', '--password', '-'];
      const program = [process.execPath, String(inject('productMain')), ...args];
      const { stdout } = await start('python3', [TERMINAL, 'Password: ', keys, ...program], {
        env: service.env,
      }).exit;
      return JSON.parse(stdout) as { code: number; shown: string; restored: boolean };
    };

    it('asks for the password, and does not show it', async () => {
      expect(await typing(`${PASSWORD}xy\x7f\x7f\r`, 'typed@example.org')).toEqual({
        code: 0,
        shown: `Password: \nStore: ${service.directory}\ntyped@example.org  typed@example.org  viewer\n`,
        restored: true,
      });
      expect((await signIn('typed@example.org')).status).toBe(200);
    });

    it('restores the terminal after Ctrl-C, and creates nothing', async () => {
      expect(await typing(`${PASSWORD}\x03`, 'stopped@example.org')).toEqual({
        code: -2,
        shown: 'Password: \n',
        restored: true,
      });
      expect((await service.command('users', 'list')).stdout).not.toContain('stopped@example.org');
    });

    it.each([
      ['nothing', '\r'],
      ['the end of the input', '\x04'],
    ])('reports %s', async (_, keys) => {
      expect(await typing(keys, 'empty@example.org')).toEqual({
        code: 2,
        shown: 'Password: \nStandard input must hold the password; it is empty.\n',
        restored: true,
      });
    });
  });

  it('prints an initial setup link to standard output only, which is invalid once an account exists', async () => {
    const [, link = ''] = await service.says(/(http\S+\/first-start#\S+)\n/);
    expect(link.startsWith(service.address)).toBe(true);
    const token = link.split('#')[1] ?? '';
    expect(token).toMatch(/^(?!tip_)[\w-]{43}$/);
    expect(service.stderr()).not.toContain(token);
    const response = await fetch(`${service.address}/app/first-start`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: service.address },
      body: JSON.stringify({ token, email: 'late@example.org', name: 'Late', password: PASSWORD }),
    });
    expect(response.status).toBe(409);
  });

  it('changes, disables and enables an account', async () => {
    const { command } = service;
    await command('users', 'create', 'a@example.org', '--role', 'viewer', '--password', PASSWORD);
    expect((await command('users', 'set', 'a@example.org', '--role', 'analyst')).stdout).toContain('analyst');
    await command('users', 'disable', 'a@example.org');
    expect((await signIn('a@example.org')).status).toBe(401);
    await command('users', 'enable', 'a@example.org');
    expect((await signIn('a@example.org')).status).toBe(200);
    const users = JSON.parse((await command('users', 'list', '--json')).stdout) as {
      email: string;
      role: string;
    }[];
    const others = users.filter(({ email }) => email !== 'typed@example.org');
    expect(others.map(({ email, role }) => [email, role])).toEqual([
      ['a@example.org', 'analyst'],
      ['admin@example.org', 'administrator'],
    ]);
  });

  it.each([
    [
      'a short password',
      ['create', 'b@example.org', '--role', 'viewer', '--password', 'short'],
      2,
      /12 to 128/,
    ],
    [
      'a role that is none',
      ['create', 'b@example.org', '--role', 'root', '--password', PASSWORD],
      2,
      /viewer, analyst/,
    ],
    ['no password', ['create', 'b@example.org', '--role', 'viewer'], 2, /--password/],
    ['no address', ['create', 'nobody', '--role', 'viewer', '--password', PASSWORD], 2, /no e-mail address/],
    ['nothing to change', ['set', 'admin@example.org'], 2, /No changes given/],
    ['the last administrator’s end', ['disable', 'admin@example.org'], 1, /last administrator/],
    ['an account that is none', ['disable', 'c@example.org'], 1, /no account/],
  ])('rejects %s', async (_, args, expected, message) => {
    const { code, stderr } = await service.command('users', ...args);
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringMatching(message) });
  });
});

describe('TIPLINE_FIRST_START_LINK=off', () => {
  it('prints no link while there is no account', { tags: ['nightly'] }, async () => {
    const service = await serve({ TIPLINE_FIRST_START_LINK: 'off' });
    await service.stop();
    expect(service.stdout() + service.stderr()).not.toMatch(/first-start|No account exists/);
    const { stdout } = await service.command('users', 'list');
    expect(stdout).toContain('There are no accounts.');
  });
});
