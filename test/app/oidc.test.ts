import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { changeUser } from '../../src/accounts/accounts.service.ts';
import { openOidc } from '../../src/accounts/oidc.ts';
import { openOutbound } from '../../src/outbound/outbound.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';
import { auditOf, type Browser, newUser, openBrowser } from './browser.ts';

const CLIENT = { clientId: 'tip line', clientSecret: 'se:cret' };
const PUBLIC = 'https://tipline.example.org';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { privateKey: anotherKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A token with a signature (RFC 7515 §3.1); by `none`, without one. */
function tokenOf(claims: object, key: KeyObject | 'client secret' | null): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const alg = key === null ? 'none' : key === 'client secret' ? 'HS256' : 'RS256';
  const content = `${part({ alg, kid: 'first' })}.${part(claims)}`;
  if (key === null) return `${content}.`;
  const signature =
    key === 'client secret'
      ? createHmac('sha256', CLIENT.clientSecret).update(content).digest()
      : sign('sha256', Buffer.from(content), key);
  return `${content}.${signature.toString('base64url')}`;
}

onEveryEngine((engine) => {
  let tipline: Harness;
  let provider: FeedServer;
  let browser: Browser;
  let claims: Record<string, unknown>;
  let signedWith: KeyObject | 'client secret' | null;
  const outbound = openOutbound({ allowedNetworks: ['127.0.0.1/32'], userAgent: 'test' });
  beforeAll(async () => {
    provider = await startFeedServer();
  });
  afterAll(async () => {
    await provider.close();
    await outbound.close();
  });
  beforeEach(async () => {
    claims = {
      iss: provider.address,
      aud: CLIENT.clientId,
      sub: 'person-1',
      iat: NOW.getTime() / 1000,
      exp: NOW.getTime() / 1000 + 60,
      email: 'Analyst@example.org',
      email_verified: true,
      name: 'Somebody',
    };
    signedWith = privateKey;
    provider.asked.length = 0;
    const answers: Record<string, () => object> = {
      '/.well-known/openid-configuration': () => ({
        issuer: provider.address,
        authorization_endpoint: `${provider.address}/authorize`,
        token_endpoint: `${provider.address}/token`,
        jwks_uri: `${provider.address}/keys`,
      }),
      '/keys': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'first', use: 'sig' }] }),
      '/token': () => ({
        access_token: 'unused',
        token_type: 'Bearer',
        id_token: tokenOf(claims, signedWith),
      }),
    };
    provider.answer(({ url }) => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answers[url]?.()),
    }));
    tipline = await startHarness(engine, {
      oidc: {
        ...openOidc(
          { ...CLIENT, issuer: provider.address, name: 'Example', publicAddress: PUBLIC, trustEmail: false },
          outbound,
          () => NOW,
        ),
      },
    });
    await newUser(tipline, 'analyst');
    browser = openBrowser(tipline);
  });
  afterEach(() => tipline.close());

  /** Goes to the provider, and comes back with a code. */
  async function goThere(to = '/indicators?type=URL') {
    const start = await browser.send('GET', `/app/oidc/start?${new URLSearchParams({ to })}`);
    const url = new URL(String(start.headers.location), PUBLIC);
    claims.nonce = url.searchParams.get('nonce');
    return { start, url, state: url.searchParams.get('state') ?? '' };
  }
  const comeBack = (state: string, query: Record<string, string> = { code: 'a code' }) =>
    browser.send('GET', `/app/oidc/callback?${new URLSearchParams({ state, ...query })}`, undefined, {
      'sec-fetch-site': 'cross-site',
    });
  const account = async () => (await browser.send('GET', '/app/session')).json().account;

  it('signs in an account by the verified email address of the provider', async () => {
    const { start, url, state } = await goThere();
    expect(start.statusCode).toBe(302);
    expect(url.origin + url.pathname).toBe(`${provider.address}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: CLIENT.clientId,
      redirect_uri: `${PUBLIC}/app/oidc/callback`,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    const back = await comeBack(state);
    expect([back.statusCode, back.headers.location]).toEqual([302, '/indicators?type=URL']);
    expect(await account()).toMatchObject({ email: 'analyst@example.org', role: 'analyst' });
    const asked = provider.asked.find(({ url: path }) => path === '/token');
    const body = new URLSearchParams(asked?.body);
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    expect(challenge).toBe(url.searchParams.get('code_challenge'));
    expect(body.get('redirect_uri')).toBe(`${PUBLIC}/app/oidc/callback`);
    expect(asked?.headers.authorization).toBe(
      `Basic ${Buffer.from('tip+line:se%3Acret').toString('base64')}`,
    );
    const written = (await auditOf(tipline)).filter(({ action }) => action === 'session.create');
    expect(written).toMatchObject([
      { who: 'analyst@example.org', after: { with: 'oidc' }, address: '127.0.0.1' },
    ]);
    expect(await tipline.db.selectFrom('app_identity').select(['issuer', 'subject']).execute()).toEqual([
      { issuer: provider.address, subject: 'person-1' },
    ]);
  });

  it('refuses another subject with the address of a linked account, until the link is removed', async () => {
    await comeBack((await goThere()).state);
    claims.sub = 'person-2';
    browser = openBrowser(tipline);
    const back = await comeBack((await goThere()).state);
    expect(back.headers.location).toBe('/sign-in?error=refused');
    expect(await account()).toBeNull();

    const by = { who: 'cli:test', now: NOW };
    await changeUser(tipline.db, 'analyst@example.org', { withoutIdentity: true }, by);
    await comeBack((await goThere()).state);
    expect((await account()).email).toBe('analyst@example.org');
  });

  it('recognizes a linked person after their email address changes', async () => {
    await comeBack((await goThere()).state);
    claims.email = 'married@example.org';
    browser = openBrowser(tipline);
    await comeBack((await goThere()).state);
    expect((await account()).email).toBe('analyst@example.org');
  });

  it('does not require a password change after single sign-on', async () => {
    await tipline.db.updateTable('app_user').set({ must_change_password: true }).execute();
    await comeBack((await goThere()).state);
    expect(await account()).toMatchObject({ email: 'analyst@example.org', mustChangePassword: false });
    const withPassword = openBrowser(tipline);
    await withPassword.signIn('analyst@example.org');
    expect((await withPassword.send('GET', '/app/session')).json().account.mustChangePassword).toBe(true);
  });

  it('sets the state cookie with SameSite=Lax and the session cookie with SameSite=Strict', async () => {
    const { start, state } = await goThere();
    expect(String(start.headers['set-cookie'])).toMatch(/tipline\.oidc=.*HttpOnly; SameSite=Lax/);
    const back = await comeBack(state);
    expect(String(back.headers['set-cookie'])).toMatch(/tipline\.session=.*HttpOnly; SameSite=Strict/);
  });

  const refused: [string, () => void][] = [
    ['has no account', () => (claims.email = 'stranger@example.org')],
    ['has an address that nobody has made sure of', () => (claims.email_verified = false)],
    ['has an address of which the provider says nothing', () => delete claims.email_verified],
  ];
  it.each(refused)('rejects sign-in by someone who %s', async (_, change) => {
    change();
    const back = await comeBack((await goThere()).state);
    expect(back.headers.location).toBe('/sign-in?error=refused');
    expect(await account()).toBeNull();
    expect(await tipline.db.selectFrom('app_user').select('email').execute()).toHaveLength(1);
  });

  const broken: [string, () => void][] = [
    ['of another issuer', () => (claims.iss = 'https://elsewhere.example')],
    ['for another client', () => (claims.aud = ['other'])],
    ['that another client asked for', () => (claims.azp = 'other')],
    ['that has expired', () => (claims.exp = NOW.getTime() / 1000 - 61)],
    ['of nobody', () => delete claims.sub],
    ['without an address', () => delete claims.email],
    ['without a signature', () => (signedWith = null)],
    ['signed by another', () => (signedWith = anotherKey)],
    ['signed with the client secret (HS256)', () => (signedWith = 'client secret')],
    ['for another sign-in', () => (claims.nonce = 'of another')],
    ['for no sign-in', () => delete claims.nonce],
  ];
  it.each(broken)('rejects a token %s', async (_, change) => {
    const { state } = await goThere();
    change();
    const back = await comeBack(state);
    expect(back.headers.location).toBe('/sign-in?error=refused');
    expect(await account()).toBeNull();
  });

  it('rejects a disabled account', async () => {
    await tipline.db.updateTable('app_user').set({ disabled_at: NOW }).execute();
    const back = await comeBack((await goThere()).state);
    expect(back.headers.location).toBe('/sign-in?error=refused');
    expect(await tipline.db.selectFrom('app_session').select('id').execute()).toEqual([]);
    expect((await auditOf(tipline)).filter(({ action }) => action === 'session.create')).toEqual([]);
  });

  it('rejects a state of another browser, and errors from the provider', async () => {
    const { state } = await goThere();
    const theirs = openBrowser(tipline);
    const stolen = await theirs.send('GET', `/app/oidc/callback?code=a&state=${state}`);
    expect(stolen.headers.location).toMatch(/^\/sign-in\?error=/);
    expect((await theirs.send('GET', '/app/session')).json().account).toBeNull();
    const denied = await comeBack((await goThere()).state, { error: 'access_denied' });
    expect(denied.headers.location).toBe('/sign-in?error=refused');
    expect(await account()).toBeNull();
  });

  it('accepts an address without email_verified only if configured, and never email_verified=false', async () => {
    const settings = { ...CLIENT, issuer: provider.address, name: 'Example', publicAddress: PUBLIC };
    const verified = async (trustEmail: boolean) => {
      const client = openOidc({ ...settings, trustEmail }, outbound, () => NOW);
      const { checks } = await client.authorize();
      claims.nonce = checks.nonce;
      const query = new URLSearchParams({ code: 'code', state: checks.state });
      return (await client.identify(query, checks)).emailVerified;
    };
    delete claims.email_verified;
    expect([await verified(false), await verified(true)]).toEqual([false, true]);
    claims.email_verified = false;
    expect(await verified(true)).toBe(false);
  });

  it('redirects only to paths of the application', async () => {
    for (const to of [
      '//elsewhere.example',
      '/\\elsewhere.example',
      'https://elsewhere.example',
      'javascript:alert(1)',
    ]) {
      const back = await comeBack((await goThere(to)).state);
      expect(back.headers.location, to).toBe('/');
    }
  });

  it('reports an unavailable or mismatched provider, and passwords still work', async () => {
    provider.answer({ status: 503 });
    const start = await browser.send('GET', '/app/oidc/start');
    expect(start.headers.location).toBe('/sign-in?error=provider');
    provider.answer({ body: JSON.stringify({ issuer: 'https://elsewhere.example' }) });
    expect((await browser.send('GET', '/app/oidc/start')).headers.location).toBe('/sign-in?error=provider');
    expect((await browser.signIn('analyst@example.org')).statusCode).toBe(200);
  });

  it('rate-limits its start without affecting password sign-in', async () => {
    const start = () => tipline.app.inject({ url: '/app/oidc/start' });
    const statuses = new Set<number>();
    for (let i = 0; i < 51; i++) statuses.add((await start()).statusCode);
    expect(statuses).toEqual(new Set([302, 429]));
    expect((await browser.signIn('analyst@example.org')).statusCode).toBe(200);
  });

  it('cannot be started by a cross-site request, and successful sign-ins are not rate-limited', async () => {
    const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await browser.send('GET', '/app/oidc/start', undefined, image)).statusCode).toBe(403);
    for (let i = 0; i < 30; i++) {
      const back = await comeBack((await goThere()).state);
      expect([back.statusCode, back.headers.location]).toEqual([302, '/indicators?type=URL']);
    }
    const linked = (await auditOf(tipline)).filter(({ action }) => action === 'user.change');
    expect(linked).toMatchObject([{ who: 'analyst@example.org', after: { identity: 'linked' } }]);
  });

  it('exposes the provider name to the page, and returns 404 when not configured', async () => {
    expect((await browser.send('GET', '/app/session')).json().signInWith).toBe('Example');
    const without = await startHarness(engine);
    expect((await without.app.inject({ url: '/app/oidc/start' })).statusCode).toBe(404);
    expect((await without.app.inject({ url: '/app/oidc/callback?code=a&state=b' })).statusCode).toBe(404);
    expect((await without.app.inject({ url: '/app/session' })).json().signInWith).toBeNull();
    await without.close();
  });
});
