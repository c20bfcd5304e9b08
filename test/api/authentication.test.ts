import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { revoke, rotate } from '../../src/api-keys/api-keys.service.ts';
import { FORMAT_NAMES } from '../../src/formats/catalogue.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';

const LIST = '/api/v1/indicators';
const by = (now: Date) => ({ who: 'cli:test', address: null, now });
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

/** Returns how many connections to the database wait for a lock. */
async function waitingForLock(db: Harness['db']): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `.execute(db);
  return rows[0]?.waiting ?? 0;
}

onEveryEngine((engine) => {
  describe('API key authentication', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(engine);
    });
    afterAll(() => tipline.close());

    it.each([
      ['no header', undefined],
      ['another scheme', 'Basic dGlwOnRpcA=='],
      ['no key', 'Bearer '],
      ['two keys', 'Bearer tip_a tip_b'],
      ['a key that never was', `Bearer tip_${'A'.repeat(43)}`],
      ['something else', 'Bearer \u00ff\u00fe'],
    ])('rejects %s with 401 and a challenge', async (_, authorization) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const response = await tipline.get(LIST, { key: null, headers });
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(response.headers).not.toHaveProperty('x-ratelimit-limit');
      expect(Object.keys(response.json())).toEqual(['error', 'code']);
    });

    it.each([
      '/api/v1',
      '/api/v1/',
      '/api/v1/nothing',
      '/api/v1/indicators/%zz',
      '/api/v1/indicators?page=0',
    ])('requires a key before it validates %s', async (url) => {
      expect((await tipline.get(url, { key: null })).statusCode).toBe(401);
      expect((await tipline.get(url, { key: null, method: 'POST' })).statusCode).toBe(401);
    });

    it.each(FORMAT_NAMES)('accepts and requests HTTP Basic for exports as %s', async (format) => {
      const key = await tipline.newKey();
      const url = `${LIST}?format=${format}`;
      const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
      const ask = (authorization?: string) =>
        tipline.get(url, { key: null, headers: authorization === undefined ? {} : { authorization } });
      const taken = await Promise.all([basic(`any:${key}`), basic(`${key}:`), `Bearer ${key}`].map(ask));
      expect(taken.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
      const refused = await Promise.all([undefined, basic('any:tip_wrong')].map(ask));
      for (const { statusCode, headers } of refused)
        expect([statusCode, headers['www-authenticate']]).toEqual([
          401,
          expect.stringMatching(/^Bearer.*, Basic realm="Tipline"/),
        ]);
    });

    it('rejects HTTP Basic for the JSON list', async () => {
      const authorization = `Basic ${Buffer.from(`any:${await tipline.newKey()}`).toString('base64')}`;
      for (const url of [LIST, `${LIST}?format=json`, '/api/v1/actors']) {
        const response = await tipline.get(url, { key: null, headers: { authorization } });
        const { statusCode, headers } = response;
        expect([statusCode, headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"']);
        expect(response.json()).toEqual({
          error: 'The API key must be sent as "Authorization: Bearer <API_KEY>" here.',
          code: 'invalid_api_key',
        });
      }
    });

    it('explains the scheme only to requests that use another', async () => {
      const key = await tipline.newKey();
      const messageFor = async (authorization: string, url = LIST) =>
        (await tipline.get(url, { key: null, headers: { authorization } })).json().error;
      expect(await messageFor(key)).toContain('must be sent as');
      const invalid = 'The API key is not valid.';
      expect(await messageFor(`Bearer ${key} x`)).toBe(invalid);
      expect(await messageFor('Bearer')).toBe(invalid);
      expect(await messageFor('Basic dGlwOnRpcA==', `${LIST}?format=csv`)).toBe(invalid);
    });

    it('accepts the scheme in any case', async () => {
      const key = await tipline.newKey();
      for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
        const headers = { authorization: `${scheme} ${key}` };
        expect((await tipline.get(LIST, { key: null, headers })).statusCode).toBe(200);
      }
    });

    it('restricts a key to the routes of its scopes', async () => {
      const routes = {
        'indicators:read': ['/api/v1/indicators', '/api/v1/indicators/x', '/api/v1/indicators/x/context'],
        'actors:read': ['/api/v1/actors', '/api/v1/actors/x'],
        'campaigns:read': ['/api/v1/campaigns', '/api/v1/campaigns/x'],
      } as const;
      for (const scope of Object.keys(routes) as (keyof typeof routes)[]) {
        const key = await tipline.newKey({ scopes: [scope] });
        for (const [needed, urls] of Object.entries(routes)) {
          for (const url of urls) {
            const response = await tipline.get(url, { key });
            const open = url.includes('/x') ? 404 : 200;
            expect([scope, url, response.statusCode]).toEqual([scope, url, needed === scope ? open : 403]);
            expect(response.headers['x-ratelimit-limit']).toBe('1000000');
          }
        }
      }
    });

    it('rejects a key from the instant it expires', async () => {
      const key = await tipline.newKey({ expiresAt: later(10) });
      tipline.clock.now = later(9.999);
      expect((await tipline.get(LIST, { key })).statusCode).toBe(200);
      tipline.clock.now = later(10);
      expect((await tipline.get(LIST, { key })).statusCode).toBe(401);
      tipline.clock.now = NOW;
    });

    it('rejects a revoked key at once, with the same response as for an unknown key', async () => {
      const key = await tipline.newKey({ name: 'gone' });
      expect((await tipline.get(LIST, { key })).statusCode).toBe(200);
      await revoke(tipline.db, 'gone', by(NOW));
      const [revoked, never] = [
        await tipline.get(LIST, { key }),
        await tipline.get(LIST, { key: `tip_${'B'.repeat(43)}` }),
      ];
      expect([revoked.statusCode, revoked.body]).toEqual([never.statusCode, never.body]);
      expect(Object.keys(revoked.headers).sort()).toEqual(Object.keys(never.headers).sort());
    });

    it('accepts the old key beside the new one during the rotation overlap', async () => {
      const old = await tipline.newKey({ name: 'turning', scopes: ['actors:read'], tlpCeiling: 'GREEN' });
      const { key, record } = await rotate(tipline.db, 'turning', 60, by(NOW));
      expect(record).toMatchObject({ name: 'turning', scopes: ['actors:read'], tlpCeiling: 'GREEN' });
      const statuses = async () => [
        (await tipline.get('/api/v1/actors', { key: old })).statusCode,
        (await tipline.get('/api/v1/actors', { key })).statusCode,
      ];
      expect(await statuses()).toEqual([200, 200]);
      tipline.clock.now = later(60);
      expect(await statuses()).toEqual([401, 200]);
      tipline.clock.now = NOW;
    });

    it('rotates no key that is revoked at the same time', async () => {
      await tipline.newKey({ name: 'revoked' });
      const rotation = await tipline.db.transaction().execute(async (trx) => {
        await trx.updateTable('api_key').set({ revoked_at: NOW }).where('name', '=', 'revoked').execute();
        const rotated = rotate(tipline.db, 'revoked', 60, by(NOW)).catch((error: Error) => error.message);
        if (engine.name === 'postgresql')
          await expect.poll(() => waitingForLock(tipline.db), { timeout: 60_000 }).toBe(1);
        return { rotated };
      });
      expect(await rotation.rotated).toBe('The API key "revoked" is revoked or expired.');
    });

    it('requires the id when several usable keys share a name', async () => {
      await tipline.newKey({ name: 'again' });
      const { record: second } = await rotate(tipline.db, 'again', 60, by(later(1)));
      const ambiguous = /give the id:\n {2}[0-9a-f-]{36} {2}created/;
      await expect(revoke(tipline.db, 'again', by(later(1)))).rejects.toThrow(ambiguous);
      await expect(rotate(tipline.db, 'again', 60, by(later(2)))).rejects.toThrow(ambiguous);
      const { record } = await rotate(tipline.db, second.id, 60, by(later(2)));
      expect((await revoke(tipline.db, 'again', by(later(120)))).id).toBe(record.id);
    });

    it('can restrict a key to networks, and treats IPv4-mapped addresses as IPv4', async () => {
      const key = await tipline.newKey({ networks: ['192.0.2.0/24', '2001:db8::/32'] });
      const from = async (remoteAddress: string, headers = {}) =>
        (await tipline.get(LIST, { key, remoteAddress, headers })).statusCode;
      expect(await from('192.0.2.9')).toBe(200);
      expect(await from('::ffff:192.0.2.9')).toBe(200);
      expect(await from('2001:db8::1')).toBe(200);
      expect(await from('198.51.100.1')).toBe(403);
      expect(await from('198.51.100.1', { 'x-forwarded-for': '192.0.2.9' })).toBe(403);
    });

    it('refuses a key of the network of the proxy where the proxy does not name the client', async () => {
      const behind = await startHarness(engine, { trustedProxies: ['127.0.0.1'] });
      const key = await behind.newKey({ networks: ['127.0.0.0/8'] });
      const from = async (forwarded: string) =>
        (await behind.get(LIST, { key, headers: { 'x-forwarded-for': forwarded } })).statusCode;
      expect(await from('127.0.0.9')).toBe(200);
      for (const hop of [
        '203.0.113.9',
        '203.0.113.9:51234',
        '[2001:db8::9]:4711',
        'unknown',
        '"203.0.113.9"',
      ])
        expect([hop, await from(hop)]).toEqual([hop, 403]);
      await behind.close();
    });

    it('counts requests from other networks apart, so that these use up none of the key', async () => {
      const limited = await startHarness(engine, { rateLimit: { limit: 2, windowSeconds: 60 } });
      const key = await limited.newKey({ networks: ['192.0.2.0/24'] });
      const from = async (remoteAddress: string) => {
        const { statusCode, headers } = await limited.get(LIST, { key, remoteAddress });
        return [statusCode, headers['x-ratelimit-remaining']];
      };
      const refused = [await from('198.51.100.1'), await from('198.51.100.1'), await from('198.51.100.1')];
      expect(refused).toEqual([
        [403, '1'],
        [403, '0'],
        [429, '0'],
      ]);
      expect(await from('192.0.2.9')).toEqual([200, '1']);
      await limited.close();
    });

    it('returns 429 after 60 wrong keys from one address, while valid keys still work', async () => {
      const guess = () => tipline.get(LIST, { key: `tip_${'C'.repeat(43)}`, remoteAddress: '203.0.113.66' });
      for (let i = 0; i < 60; i++) expect((await guess()).statusCode).toBe(401);
      const told = await guess();
      expect(told.statusCode).toBe(429);
      expect(Number(told.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect((await tipline.get(LIST, { remoteAddress: '203.0.113.66' })).statusCode).toBe(200);
    });

    it('stores keys only as hashes', async () => {
      const key = await tipline.newKey();
      const rows = JSON.stringify(await tipline.db.selectFrom('api_key').selectAll().execute());
      expect(rows).not.toContain(key.slice(10));
    });
  });

  describe('rate limits', () => {
    it('are in the headers of every authenticated response, and return 429 at the limit', async () => {
      const tipline = await startHarness(engine, {
        rateLimit: { limit: 5, windowSeconds: 60 },
        rateLimits: memoryStore(),
      });
      const urls = [LIST, `${LIST}?page=0`, '/api/v1/nothing', `${LIST}/x`];
      for (const [i, url] of urls.entries()) {
        const { headers } = await tipline.get(url);
        expect(headers['x-ratelimit-limit']).toBe('5');
        expect(headers['x-ratelimit-remaining']).toBe(String(4 - i));
        const reset = Number(headers['x-ratelimit-reset']);
        expect(reset).toBeGreaterThan(NOW.getTime() / 1000 + 50);
        expect(reset).toBeLessThanOrEqual(NOW.getTime() / 1000 + 60);
      }
      const { headers: last } = await tipline.get(LIST, { method: 'DELETE' });
      expect(last['x-ratelimit-remaining']).toBe('0');
      const refused = await tipline.get(LIST);
      expect(refused.statusCode).toBe(429);
      expect(refused.json()).toMatchObject({ code: 'rate_limit_exceeded' });
      expect(refused.headers['x-ratelimit-remaining']).toBe('0');
      expect(refused.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
      const other = await tipline.newKey();
      expect((await tipline.get(LIST, { key: other })).statusCode).toBe(200);
      await tipline.close();
    });

    it('count 304 responses', async () => {
      const tipline = await startHarness(engine);
      const { headers } = await tipline.get(LIST);
      const again = await tipline.get(LIST, { headers: { 'if-none-match': String(headers.etag) } });
      expect(again.statusCode).toBe(304);
      expect(Number(again.headers['x-ratelimit-remaining'])).toBe(
        Number(headers['x-ratelimit-remaining']) - 1,
      );
      await tipline.close();
    });
  });
});
