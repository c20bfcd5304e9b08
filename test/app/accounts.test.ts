import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findUser } from '../../src/accounts/accounts.queries.ts';
import { acceptFirstStart, offerFirstStart } from '../../src/accounts/accounts.service.ts';
import { ROLES } from '../../src/model/account.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { totpAt } from '../support/totp.ts';
import { auditOf, newUser, openBrowser, PASSWORD, signedIn } from './browser.ts';

const HOUR = 3_600_000;
/** @param periods from the clock of the harness at its start */
const totp = (uri: string, periods = 0) => totpAt(NOW, uri, periods);
const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Method and address of each, as their schemas have them. */
async function operationsOfTheApplication(): Promise<string[]> {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
  const schemas = files.filter((file) => file.endsWith('.schema.ts'));
  const modules = await Promise.all(schemas.map((file) => import(pathToFileURL(SRC + file).href)));
  return modules
    .flatMap((module) => Object.values(module as Record<string, { key?: unknown }>))
    .flatMap(({ key }) => (typeof key === 'string' && key.includes(' /app/') ? [key] : []));
}

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
  });
  afterEach(() => tipline.close());
  const accountOf = async (browser: ReturnType<typeof openBrowser>) =>
    (await browser.send('GET', '/app/session')).json().account;

  describe('sign-in', () => {
    it('creates an HttpOnly session with role and TLP ceiling, and audits it', async () => {
      const { id } = await newUser(tipline, 'analyst');
      const browser = openBrowser(tipline);
      expect(await accountOf(browser)).toBeNull();
      const response = await browser.signIn(' Analyst@Example.org ');
      expect(response.json()).toEqual({ twoFactor: false });
      expect(String(response.headers['set-cookie'])).toMatch(
        /^tipline\.session=.*HttpOnly; SameSite=Strict$/,
      );
      expect(await accountOf(browser)).toMatchObject({
        id,
        email: 'analyst@example.org',
        role: 'analyst',
        tlpCeiling: 'AMBER_STRICT',
      });
      expect((await auditOf(tipline)).at(-1)).toMatchObject({
        who: 'analyst@example.org',
        action: 'session.create',
        address: '127.0.0.1',
      });
    });

    it('sets Secure __Host- cookies over HTTPS', async () => {
      await tipline.close();
      tipline = await startHarness(engine, { trustedProxies: ['127.0.0.1'] });
      await newUser(tipline, 'viewer');
      const body = { email: 'viewer@example.org', password: PASSWORD };
      const response = await openBrowser(tipline).send('POST', '/app/sign-in', body, {
        'x-forwarded-proto': 'https',
      });
      expect(String(response.headers['set-cookie'])).toMatch(
        /^__Host-tipline\.session=.*; Path=\/; HttpOnly; Secure/,
      );
    });

    it('returns the same response for a wrong password and an unknown address, and audits known accounts', async () => {
      await newUser(tipline, 'viewer');
      const browser = openBrowser(tipline);
      const wrong = await browser.signIn('viewer@example.org', 'not the password');
      const unknown = await browser.signIn('nobody@example.org', 'not the password');
      expect([wrong.statusCode, wrong.body]).toEqual([unknown.statusCode, unknown.body]);
      expect(wrong.statusCode).toBe(401);
      expect(await accountOf(browser)).toBeNull();
      const refused = async () =>
        (await auditOf(tipline)).filter(({ action }) => action === 'session.refuse');
      await expect.poll(refused).toMatchObject([{ who: 'viewer@example.org', address: '127.0.0.1' }]);
    });

    it('is blocked after ten failed attempts, even with the right password', async () => {
      await newUser(tipline, 'viewer');
      const browser = openBrowser(tipline);
      for (let i = 0; i < 10; i++) await browser.signIn('viewer@example.org', 'not the password');
      const response = await browser.signIn('viewer@example.org');
      expect(response.statusCode).toBe(429);
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(600);
      await newUser(tipline, 'analyst');
      expect((await browser.signIn('analyst@example.org')).statusCode).toBe(200);
    });

    it('is not limited by previous successful attempts', async () => {
      await newUser(tipline, 'viewer');
      for (let i = 0; i < 12; i++) {
        expect((await openBrowser(tipline).signIn('viewer@example.org')).statusCode).toBe(200);
      }
    });

    it('ends on sign-out, for one session or for all', async () => {
      const first = await signedIn(tipline, 'viewer');
      const second = openBrowser(tipline);
      const third = openBrowser(tipline);
      await second.signIn('viewer@example.org');
      await third.signIn('viewer@example.org');
      expect((await first.send('GET', '/app/sessions')).json().data).toHaveLength(3);
      await first.send('POST', '/app/sign-out');
      expect([await accountOf(first), (await accountOf(second))?.role]).toEqual([null, 'viewer']);
      await second.send('POST', '/app/sign-out-everywhere');
      expect([await accountOf(second), await accountOf(third)]).toEqual([null, null]);
    });

    it('expires after a week without a request; a daily request extends it', async () => {
      const DAY = 24 * HOUR;
      const [used, unused] = [await signedIn(tipline, 'viewer'), openBrowser(tipline)];
      await unused.signIn('viewer@example.org');
      for (let day = 2; day <= 12; day += 2) {
        tipline.clock.now = new Date(NOW.getTime() + day * DAY);
        const { headers } = await used.send('GET', '/app/sessions');
        expect(String(headers['set-cookie'])).toMatch(/^tipline\.session=.*Max-Age=604800/);
        if (day === 8) expect(await accountOf(unused)).toBeNull();
      }
      expect((await accountOf(used)).role).toBe('viewer');
    });

    it('stores no token in plain text', async () => {
      const browser = await signedIn(tipline, 'viewer');
      const [token = ''] = browser.cookies.values();
      expect(token.length).toBeGreaterThan(40);
      const stored = await tipline.db.selectFrom('app_session').selectAll().execute();
      expect(stored).toHaveLength(1);
      expect(JSON.stringify(stored)).not.toContain(token);
    });

    it('lets users end one of several sessions, only their own', async () => {
      const mine = await signedIn(tipline, 'viewer');
      const others = await signedIn(tipline, 'analyst');
      const { sessionId } = await accountOf(others);
      expect((await mine.send('DELETE', `/app/sessions/${sessionId}`)).statusCode).toBe(404);
      expect(await accountOf(others)).not.toBeNull();
      expect((await others.send('DELETE', `/app/sessions/${sessionId}`)).statusCode).toBe(200);
      expect(await accountOf(others)).toBeNull();
    });
  });

  it.each([
    'tipline.session=%',
    'tipline.session=a.b',
    'tipline.session=',
    'tipline.two_factor=%E0%A4.%',
    '%%%;;;=',
    'x'.repeat(4000),
  ])('ignores the cookie %j', async (cookie) => {
    const browser = openBrowser(tipline);
    const session = await browser.send('GET', '/app/session', undefined, { cookie });
    expect([session.statusCode, session.json().account]).toEqual([200, null]);
    expect((await browser.send('GET', '/app/users', undefined, { cookie })).statusCode).toBe(401);
    expect((await browser.send('POST', '/app/sign-in/code', { code: '1' }, { cookie })).statusCode).toBe(401);
  });

  it('rejects NUL in any input', async () => {
    const response = await openBrowser(tipline).signIn('a\0@example.org');
    expect([response.statusCode, response.json().error]).toEqual([400, expect.stringContaining('NUL')]);
    const administrator = await signedIn(tipline, 'administrator');
    for (const body of [{ networks: ['a\0'] }, { 'a\0': 1 }])
      expect((await administrator.send('POST', '/app/keys', body)).json().error).toContain('NUL');
  });

  describe('a state-changing request', () => {
    it.each([
      ['from another site', { 'sec-fetch-site': 'cross-site' }],
      ['from a sibling of the site', { 'sec-fetch-site': 'same-site' }],
      ['typed into the address bar', { 'sec-fetch-site': 'none' }],
    ])('is rejected %s', async (_, headers) => {
      const browser = await signedIn(tipline, 'administrator');
      const response = await browser.send('POST', '/app/sign-out', {}, headers);
      expect(response.statusCode).toBe(403);
      expect(await accountOf(browser)).not.toBeNull();
    });

    it('is checked by Origin when Sec-Fetch-Site is missing', async () => {
      const browser = await signedIn(tipline, 'viewer');
      const { app } = tipline;
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const from = (headers: Record<string, string>) =>
        app.inject({
          method: 'POST',
          url: '/app/sign-out',
          headers: { cookie, host: 'tip.example', ...headers },
          payload: {},
        });
      expect((await from({})).statusCode).toBe(403);
      expect((await from({ origin: 'null' })).statusCode).toBe(403);
      expect((await from({ origin: 'http://evil.example' })).statusCode).toBe(403);
      expect((await from({ origin: 'http://tip.example' })).statusCode).toBe(200);
    });

    it('is not accepted with an API key, and a session does not authorize the API', async () => {
      const key = await tipline.newKey();
      const browser = await signedIn(tipline, 'administrator');
      const withKey = { authorization: `Bearer ${key}` };
      expect((await openBrowser(tipline).send('GET', '/app/users', undefined, withKey)).statusCode).toBe(401);
      expect((await browser.send('GET', '/api/v1/indicators')).statusCode).toBe(401);
    });

    it.each([
      ['a field too many', { email: 'a@example.org', password: 'x', more: 1 }],
      ['one missing', { email: 'a@example.org' }],
      ['another type', { email: 'a@example.org', password: 7 }],
      ['a list', []],
    ])('is rejected with %s', async (_, body) => {
      const response = await openBrowser(tipline).send('POST', '/app/sign-in', body);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ code: 'invalid_parameter' });
    });
  });

  describe('a password', () => {
    it('requires the current one to change it, and the change ends all other sessions', async () => {
      const browser = await signedIn(tipline, 'viewer');
      const other = openBrowser(tipline);
      await other.signIn('viewer@example.org');
      const change = (password: string) =>
        browser.send('POST', '/app/password', { password, newPassword: 'another horse battery' });
      expect((await change('not the password')).statusCode).toBe(400);
      expect(await accountOf(other)).not.toBeNull();
      expect((await change(PASSWORD)).statusCode).toBe(200);
      expect([(await accountOf(browser))?.role, await accountOf(other)]).toEqual(['viewer', null]);
      expect((await other.signIn('viewer@example.org')).statusCode).toBe(401);
      expect((await other.signIn('viewer@example.org', 'another horse battery')).statusCode).toBe(200);
      expect((await auditOf(tipline)).map(({ action, after }) => [action, after])).toContainEqual([
        'user.change',
        { password: 'changed' },
      ]);
    });
  });

  describe('a password set by an administrator', () => {
    const FIRST = 'set by an administrator';
    const CHOSEN = 'chosen by its owner';
    const user = { email: 'new@example.org', name: 'New', role: 'administrator', password: FIRST };
    const change = { password: FIRST, newPassword: CHOSEN };

    const signInWith = async (password: string) => {
      const browser = openBrowser(tipline);
      expect((await browser.signIn(user.email, password)).statusCode).toBe(200);
      return browser;
    };

    /** Signing in and out, and the change of the password. */
    const OPEN = new Set([
      'GET /app/session',
      'POST /app/first-start',
      'POST /app/sign-in',
      'POST /app/sign-in/code',
      'GET /app/oidc/start',
      'GET /app/oidc/callback',
      'POST /app/password',
      'POST /app/sign-out',
      'POST /app/sign-out-everywhere',
    ]);

    /** @returns the other operations that are not refused */
    const openTo = async (browser: ReturnType<typeof openBrowser>) => {
      const operations = (await operationsOfTheApplication()).filter((key) => !OPEN.has(key));
      expect(operations.length).toBeGreaterThan(40);
      const open = [];
      for (const key of operations) {
        const [method, path] = key.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string];
        const response = await browser.send(method, path.replace(/:\w+/g, randomUUID()));
        if (response.json().code !== 'password_change_required') open.push([key, response.statusCode]);
      }
      return open;
    };

    it('allows only changing it and signing out', async () => {
      const administrator = await signedIn(tipline, 'analyst');
      await tipline.db.updateTable('app_user').set({ role: 'administrator' }).execute();
      const { data: made } = (await administrator.send('POST', '/app/users', user)).json();
      const theirs = await signInWith(FIRST);
      expect(await accountOf(theirs)).toMatchObject({ mustChangePassword: true });
      expect(await openTo(theirs)).toEqual([]);
      // What a key opens, and a session, too.
      const sigma = await theirs.send('GET', `/api/sigma/actor/${randomUUID()}`);
      expect(sigma.json().code).toBe('missing_api_key');

      expect((await theirs.send('POST', '/app/password', change)).statusCode).toBe(200);
      expect(await accountOf(theirs)).toMatchObject({ mustChangePassword: false });
      expect((await theirs.send('GET', '/app/users')).statusCode).toBe(200);
      expect(await accountOf(await signInWith(CHOSEN))).toMatchObject({ mustChangePassword: false });

      await administrator.send('PATCH', `/app/users/${made.id}`, { password: FIRST });
      expect(await accountOf(await signInWith(FIRST))).toMatchObject({ mustChangePassword: true });
    });

    it('cannot be reused as the new one, and stays temporary when other account fields change', {
      tags: ['nightly'],
    }, async () => {
      const administrator = await signedIn(tipline, 'administrator');
      const { data: made } = (await administrator.send('POST', '/app/users', user)).json();
      await administrator.send('PATCH', `/app/users/${made.id}`, { role: 'viewer', name: 'Newer' });
      const theirs = await signInWith(FIRST);
      const same = await theirs.send('POST', '/app/password', { password: FIRST, newPassword: FIRST });
      expect([same.statusCode, same.json().error]).toEqual([400, expect.stringContaining('another')]);
      expect(await accountOf(theirs)).toMatchObject({ mustChangePassword: true, role: 'viewer' });
      expect((await theirs.send('POST', '/app/sign-out')).statusCode).toBe(200);
    });
  });

  describe('a second factor', () => {
    it('is required after the password once confirmed, and each backup code works once', async () => {
      const browser = await signedIn(tipline, 'analyst');
      expect((await browser.send('POST', '/app/two-factor/start', { password: 'wrong' })).statusCode).toBe(
        400,
      );
      const { uri, backupCodes } = (
        await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })
      ).json();
      expect((await accountOf(browser)).twoFactor).toBe(false);
      expect((await browser.send('POST', '/app/two-factor/confirm', { code: '000000' })).statusCode).toBe(
        400,
      );
      expect((await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) })).statusCode).toBe(
        200,
      );
      expect((await accountOf(browser)).twoFactor).toBe(true);

      const again = openBrowser(tipline);
      expect((await again.signIn('analyst@example.org')).json()).toEqual({ twoFactor: true });
      expect(await accountOf(again)).toBeNull();
      expect((await again.send('POST', '/app/sign-in/code', { code: '000000' })).statusCode).toBe(401);
      const code = totp(uri, 1);
      expect((await again.send('POST', '/app/sign-in/code', { code })).statusCode).toBe(200);
      expect((await accountOf(again)).role).toBe('analyst');
      const overTheShoulder = openBrowser(tipline);
      await overTheShoulder.signIn('analyst@example.org');
      expect((await overTheShoulder.send('POST', '/app/sign-in/code', { code })).statusCode).toBe(401);

      const [backupCode] = backupCodes;
      for (const expected of [200, 401]) {
        const other = openBrowser(tipline);
        await other.signIn('analyst@example.org');
        expect((await other.send('POST', '/app/sign-in/code', { backupCode })).statusCode).toBe(expected);
      }
      expect((await browser.send('POST', '/app/two-factor/end', { password: PASSWORD })).statusCode).toBe(
        200,
      );
      expect((await openBrowser(tipline).signIn('analyst@example.org')).json()).toEqual({ twoFactor: false });
    });

    it.each([
      ['in lower case', (code: string) => code.toLowerCase()],
      ['without the hyphen', (code: string) => code.replace('-', '')],
      ['with blanks', (code: string) => ` ${code.replace('-', ' - ').toLowerCase()}\t`],
    ])('takes a backup code %s, once', async (_, typed) => {
      const browser = await signedIn(tipline, 'analyst');
      const started = await browser.send('POST', '/app/two-factor/start', { password: PASSWORD });
      const { uri, backupCodes } = started.json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      const attempt = async (backupCode: string) => {
        const other = openBrowser(tipline);
        await other.signIn('analyst@example.org');
        return (await other.send('POST', '/app/sign-in/code', { backupCode })).statusCode;
      };
      expect(await attempt(typed(backupCodes[0]))).toBe(200);
      expect(await attempt(backupCodes[0])).toBe(401);
      expect(await attempt(typed(backupCodes[1]).slice(0, -2))).toBe(401);
      expect(await attempt('---')).toBe(401);
      expect(await attempt(backupCodes[1])).toBe(200);
    });

    it('ends the other sessions when enabled, and can be confirmed only once', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const other = openBrowser(tipline);
      await other.signIn('analyst@example.org');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      expect([await accountOf(other), (await accountOf(browser)).role]).toEqual([null, 'analyst']);
      const again = await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      expect([again.statusCode, again.json().code]).toEqual([409, 'conflict']);
      const changes = (await auditOf(tipline)).filter(({ action }) => action === 'user.change');
      expect(changes).toHaveLength(1);
    });

    it.each<[string, object[]]>([
      ['another password', [{ password: 'another good password' }]],
      ['switched off', [{ disabled: true }]],
      ['switched off and on again', [{ disabled: true }, { disabled: false }]],
    ])('a pending sign-in is cancelled when the account is given %s', async (_, changes) => {
      const administrator = await signedIn(tipline, 'administrator');
      const browser = await signedIn(tipline, 'analyst');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      const { data } = (await administrator.send('GET', '/app/users')).json();
      const { id } = data.find(({ email }: { email: string }) => email === 'analyst@example.org');
      const half = openBrowser(tipline);
      await half.signIn('analyst@example.org');
      for (const change of changes) await administrator.send('PATCH', `/app/users/${id}`, change);
      expect((await half.send('POST', '/app/sign-in/code', { code: totp(uri) })).statusCode).toBe(401);
      await administrator.send('PATCH', `/app/users/${id}`, { disabled: false });
      expect(await accountOf(half)).toBeNull();
    });

    it('cannot be set up again while enabled', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      const second = await browser.send('POST', '/app/two-factor/start', { password: PASSWORD });
      expect([second.statusCode, second.json().code]).toEqual([409, 'conflict']);
      const again = openBrowser(tipline);
      await again.signIn('analyst@example.org');
      expect((await again.send('POST', '/app/sign-in/code', { code: totp(uri, 1) })).statusCode).toBe(200);
    });

    it('is reported as one that cannot be checked once TIPLINE_SECRET has changed', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const { uri, backupCodes } = (
        await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })
      ).json();
      const seal = () =>
        tipline.db
          .updateTable('app_two_factor')
          .set({ secret: secretBox('the secret of before, long enough', 'second factors').seal('ABC') })
          .execute();
      await seal();
      const confirmed = await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      expect([confirmed.statusCode, confirmed.json().error]).toEqual([
        409,
        'The second factor cannot be checked: start again.',
      ]);
      const started = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(started.uri) });
      await seal();
      for (const body of [{ code: totp(uri, 1) }, { backupCode: backupCodes[0] }]) {
        const again = openBrowser(tipline);
        await again.signIn('analyst@example.org');
        const response = await again.send('POST', '/app/sign-in/code', body);
        expect([response.statusCode, response.json().error]).toEqual([
          409,
          'The second factor cannot be checked: an administrator must remove it.',
        ]);
        expect(await accountOf(again)).toBeNull();
      }
    });

    it('rejects the code that was used to enable it', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      const code = totp(uri);
      await browser.send('POST', '/app/two-factor/confirm', { code });
      const again = openBrowser(tipline);
      await again.signIn('analyst@example.org');
      expect((await again.send('POST', '/app/sign-in/code', { code })).statusCode).toBe(401);
      expect(await accountOf(again)).toBeNull();
      const stored = JSON.stringify(await tipline.db.selectFrom('app_two_factor').selectAll().execute());
      const secret = new URL(uri).searchParams.get('secret') ?? '';
      expect([stored.includes(code), stored.includes(secret)]).toEqual([false, false]);
    });

    it('rejects codes that are not newer than the last one used', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri, 1) });
      for (const [periods, expected] of [
        [0, 401],
        [1, 401],
        [2, 401],
      ] as const) {
        const again = openBrowser(tipline);
        await again.signIn('analyst@example.org');
        const { statusCode } = await again.send('POST', '/app/sign-in/code', { code: totp(uri, periods) });
        expect([periods, statusCode]).toEqual([periods, expected]);
      }
      tipline.clock.now = new Date(NOW.getTime() + 60_000);
      const later = openBrowser(tipline);
      await later.signIn('analyst@example.org');
      expect((await later.send('POST', '/app/sign-in/code', { code: totp(uri, 2) })).statusCode).toBe(200);
    });

    it('must be entered within ten minutes', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      const late = openBrowser(tipline);
      await late.signIn('analyst@example.org');
      tipline.clock.now = new Date(NOW.getTime() + 600_000);
      expect((await late.send('POST', '/app/sign-in/code', { code: totp(uri, 20) })).statusCode).toBe(401);
      await late.signIn('analyst@example.org');
      expect((await late.send('POST', '/app/sign-in/code', { code: totp(uri, 20) })).statusCode).toBe(200);
    });

    it('reports and audits a wrong code', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      const again = openBrowser(tipline);
      await again.signIn('analyst@example.org');
      const wrong = await again.send('POST', '/app/sign-in/code', { code: '000000' });
      expect(wrong.json()).toEqual({
        code: 'invalid_credentials',
        error: expect.stringContaining('code is wrong'),
      });
      const written = (await auditOf(tipline)).filter(({ action }) => action === 'session.refuse');
      expect(written).toMatchObject([{ who: 'analyst@example.org', after: { twoFactor: true } }]);
    });

    it('cannot be enabled through the sign-in route', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const start = await browser.send('POST', '/app/two-factor/start', { password: PASSWORD });
      const code = totp(start.json().uri);
      expect((await browser.send('POST', '/app/sign-in/code', { code })).statusCode).toBe(401);
      expect((await accountOf(browser)).twoFactor).toBe(false);
    });

    it('allows ten guesses per account, even if the password is entered again in between', async () => {
      const browser = await signedIn(tipline, 'analyst');
      const { uri } = (await browser.send('POST', '/app/two-factor/start', { password: PASSWORD })).json();
      await browser.send('POST', '/app/two-factor/confirm', { code: totp(uri) });
      const again = openBrowser(tipline);
      await again.signIn('analyst@example.org');
      const statuses = new Set<number>();
      for (let i = 0; i < 12; i++) {
        if (i === 6) await again.signIn('analyst@example.org');
        statuses.add((await again.send('POST', '/app/sign-in/code', { code: '000000' })).statusCode);
      }
      expect(statuses).toEqual(new Set([401, 429]));
    });
  });

  describe('accounts', () => {
    const user = { email: 'new@example.org', name: 'New', role: 'viewer', password: PASSWORD };

    it('have a name that is not blank', async () => {
      const administrator = await signedIn(tipline, 'administrator');
      const error = 'name: must not be blank.';
      const refused = await administrator.send('POST', '/app/users', { ...user, name: ' ' });
      expect([refused.statusCode, refused.json().error]).toEqual([400, error]);
      const { data: made } = (await administrator.send('POST', '/app/users', user)).json();
      const renamed = await administrator.send('PATCH', `/app/users/${made.id}`, { name: ' ' });
      expect([renamed.statusCode, renamed.json().error]).toEqual([400, error]);
    });

    it('are created, changed and disabled by administrators, and each change is audited', async () => {
      const browser = await signedIn(tipline, 'administrator');
      const { data: made } = (await browser.send('POST', '/app/users', user)).json();
      expect(made).toMatchObject({ email: 'new@example.org', role: 'viewer', disabledAt: null });
      const theirs = openBrowser(tipline);
      await theirs.signIn('new@example.org');
      const changed = await browser.send('PATCH', `/app/users/${made.id}`, { role: 'analyst' });
      expect(changed.json().data.role).toBe('analyst');
      // Signed out: what it may do is another.
      expect(await accountOf(theirs)).toBeNull();
      await theirs.signIn('new@example.org');
      await browser.send('PATCH', `/app/users/${made.id}`, { disabled: true });
      expect(await accountOf(theirs)).toBeNull();
      expect((await theirs.signIn('new@example.org')).statusCode).toBe(401);
      const written = (await auditOf(tipline)).filter(
        ({ who, action }) => who === 'administrator@example.org' && action.startsWith('user.'),
      );
      expect(written.map(({ action }) => action)).toEqual(['user.create', 'user.change', 'user.change']);
      expect(written[1]).toMatchObject({
        before: { role: 'viewer' },
        after: { role: 'analyst' },
        address: '127.0.0.1',
      });
      expect(JSON.stringify(await auditOf(tipline))).not.toContain(PASSWORD);
    });

    it.each(ROLES.filter((role) => role !== 'administrator'))(
      'are not accessible to the role %s',
      async (role) => {
        const browser = await signedIn(tipline, role);
        const { id } = await newUser(tipline, 'administrator');
        expect((await browser.send('GET', '/app/users')).statusCode).toBe(403);
        expect((await browser.send('POST', '/app/users', user)).statusCode).toBe(403);
        expect((await browser.send('PATCH', `/app/users/${id}`, { role: 'viewer' })).statusCode).toBe(403);
        expect((await findUser(tipline.db, 'administrator@example.org'))?.role).toBe('administrator');
      },
    );

    it('always include an active administrator, even under concurrent changes', async () => {
      const browser = await signedIn(tipline, 'administrator');
      const { id } = await accountOf(browser);
      const alone = await browser.send('PATCH', `/app/users/${id}`, { role: 'viewer' });
      expect([alone.statusCode, alone.json().error]).toEqual([409, 'The last administrator must stay one.']);
      const second = await newUser(tipline, 'administrator', 'second@example.org');
      const both = await Promise.all(
        [id, second.id].map((one) => browser.send('PATCH', `/app/users/${one}`, { disabled: true })),
      );
      expect(both.map(({ statusCode }) => statusCode).sort()).not.toEqual([200, 200]);
      const rows = await tipline.db.selectFrom('app_user').select('disabled_at').execute();
      expect(rows.filter(({ disabled_at }) => disabled_at === null)).toHaveLength(1);
    });

    it('are unique by email address', async () => {
      const browser = await signedIn(tipline, 'administrator');
      const response = await browser.send('POST', '/app/users', {
        ...user,
        email: 'ADMINISTRATOR@example.org',
      });
      expect([response.statusCode, response.json().code]).toEqual([409, 'conflict']);
    });
  });

  describe('the TLP ceiling of a role', () => {
    it('applies from the next request to all its accounts, and changes are audited', async () => {
      const administrator = await signedIn(tipline, 'administrator');
      const viewer = await signedIn(tipline, 'viewer');
      await tipline.load([indicatorRecord('DOMAIN', 'bad.test-feed.net', { tlp: 'AMBER' })]);
      const total = async () => (await viewer.send('GET', '/app/indicators')).json().total;
      expect(await total()).toBe(1);
      const set = (role: string, tlpCeiling: string, browser = administrator) =>
        browser.send('PATCH', `/app/roles/${role}`, { tlpCeiling });
      expect((await set('viewer', 'GREEN')).json().data).toEqual({ role: 'viewer', tlpCeiling: 'GREEN' });
      expect(await total()).toBe(0);
      expect((await viewer.send('GET', '/app/overview')).json().indicators).toBe(0);
      await set('viewer', 'GREEN');
      const written = (await auditOf(tipline)).filter(({ action }) => action === 'role.change');
      expect(written).toMatchObject([{ before: { tlpCeiling: 'AMBER' }, after: { tlpCeiling: 'GREEN' } }]);
      expect((await set('viewer', 'RED', viewer)).statusCode).toBe(403);
      expect((await set('root', 'RED')).statusCode).toBe(404);
      expect((await set('viewer', 'PINK')).statusCode).toBe(400);
      expect(
        (await administrator.send('GET', '/app/roles')).json().data.map(({ role }: { role: string }) => role),
      ).toEqual(['viewer', 'analyst', 'administrator']);
    });
  });

  describe('the initial setup', () => {
    const first = { email: 'first@example.org', name: 'First', password: PASSWORD };

    it('creates one administrator, once', async () => {
      const token = await offerFirstStart(tipline.db, NOW);
      expect(token).not.toMatch(/^tip_/);
      const browser = openBrowser(tipline);
      expect((await browser.send('GET', '/app/session')).json()).toEqual({
        account: null,
        firstStart: true,
        signInWith: null,
      });
      const wrong = await browser.send('POST', '/app/first-start', { token: 'guessed', ...first });
      expect(wrong.statusCode).toBe(409);
      expect((await browser.send('POST', '/app/first-start', { token, ...first })).statusCode).toBe(200);
      await browser.signIn('first@example.org');
      expect((await accountOf(browser)).role).toBe('administrator');
      const again = await browser.send('POST', '/app/first-start', {
        token,
        ...first,
        email: 'b@example.org',
      });
      expect(again.statusCode).toBe(409);
      expect(await offerFirstStart(tipline.db, NOW)).toBeNull();
    });

    it('expires after an hour', async () => {
      const token = (await offerFirstStart(tipline.db, NOW)) ?? '';
      const at = (ms: number) => ({ address: null, now: new Date(NOW.getTime() + ms) });
      await expect(acceptFirstStart(tipline.db, token, first, at(HOUR))).rejects.toThrow('too old');
      const user = await acceptFirstStart(tipline.db, token, first, at(HOUR - 1));
      expect(user.role).toBe('administrator');
    });

    it('is offered by each node; using one link invalidates the others', async () => {
      const from = { address: null, now: NOW };
      const tokens = [await offerFirstStart(tipline.db, NOW), await offerFirstStart(tipline.db, NOW)];
      const used = await Promise.allSettled(
        tokens.map((token, i) =>
          acceptFirstStart(tipline.db, token ?? '', { ...first, email: `first${i}@example.org` }, from),
        ),
      );
      expect(used.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });
  });
});
