import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const BY = { who: 'test', now: NOW, reason: 'ours' };
const FEED = {
  slug: 'edge',
  name: 'Edge',
  description: '',
  format: 'txt' as const,
  query: 'types=IPV4,IPV6',
  tlpCeiling: 'AMBER' as const,
};

onEveryEngine((engine) => {
  let harness: Harness;
  let key: string;
  beforeEach(async () => {
    harness = await startHarness(engine, { rateLimit: { limit: 40, windowSeconds: 60 } });
    await createFeed(harness.db, FEED, BY);
    await createFeed(harness.db, { ...FEED, slug: 'first', query: 'limit=2&types=IPV4,IPV6' }, BY);
    key = await harness.newKey({ feeds: ['edge'] });
    await harness.load([
      indicatorRecord('IPV4', '192.0.2.1', { confidence: 90 }),
      indicatorRecord('IPV4', '192.0.2.0/24', { tags: ['scanner'], confidence: 80 }),
      indicatorRecord('IPV4', '198.51.100.0/24', { confidence: 70 }),
      indicatorRecord('IPV6', '2001:db8:1::/48'),
      indicatorRecord('IPV4', '192.0.2.2', { tlp: 'RED' }),
      indicatorRecord('IPV4', '192.0.2.3', { forDetection: false }),
    ]);
    await addEntry(harness.db, '198.51.100.128/25', undefined, BY, 'RED');
  });
  afterEach(() => harness.close());

  const ask = (path: string, { headers = {}, ...options }: Parameters<Harness['get']>[1] = {}) =>
    harness.get(`/v1/${path}`, { key: null, headers: { 'x-api-key': key, ...headers }, ...options });

  describe('a query for decisions', () => {
    it.each([
      ['ip=192.0.2.1', ['192.0.2.0/24', '192.0.2.1']],
      ['ip=192.0.2.2', ['192.0.2.0/24']],
      ['ip=192.0.2.77&scope=Range', ['192.0.2.0/24']],
      ['ip=192.0.2.1&scope=ip', ['192.0.2.1']],
      ['ip=192.0.2.1&scenarios_containing=SCAN', ['192.0.2.0/24']],
      ['ip=192.0.2.1&type=ban', ['192.0.2.0/24', '192.0.2.1']],
      ['ip=198.51.100.5', ['198.51.100.0/25']],
      ['ip=2001:db8:1:0:0::5', ['2001:db8:1::/48']],
      ['range=192.0.2.0/25', ['192.0.2.0/24']],
      ['range=192.0.2.7/25', ['192.0.2.0/24']],
      ['range=192.0.0.0/16&contains=false', ['192.0.2.0/24', '192.0.2.1']],
      ['range=198.51.100.64/26', ['198.51.100.0/25']],
      ['scope=Ip&value=192.0.2.1', ['192.0.2.1']],
      ['value=198.51.100.0/25', ['198.51.100.0/25']],
      ['scope=range', ['192.0.2.0/24', '198.51.100.0/25', '2001:db8:1::/48']],
      ['', ['192.0.2.0/24', '192.0.2.1', '198.51.100.0/25', '2001:db8:1::/48']],
    ])('%s', async (query, expected) => {
      const response = await ask(`decisions?${query}`);
      expect(response.statusCode).toBe(200);
      expect(
        response
          .json()
          .map(({ value }: { value: string }) => value)
          .sort(),
      ).toEqual(expected);
      expect(response.json()[0]).toMatchObject({ type: 'ban', origin: 'tipline', duration: '24h0m0s' });
      const head = await ask(`decisions?${query}`, { method: 'HEAD' });
      expect([head.statusCode, head.body]).toEqual([200, '']);
    });

    it.each([
      'ip=203.0.113.9',
      // In the whitelisted part of a network.
      'ip=198.51.100.200',
      'value=198.51.100.0/24',
      'value=192.0.2.2',
      'value=evil.example',
      'type=captcha',
      'scope=Country',
      'ip=192.0.2.1&origins=crowdsec',
      'range=203.0.113.0/24&contains=false',
    ])('%s that finds nothing is null', async (query) => {
      expect((await ask(`decisions?${query}`)).body).toBe('null');
    });

    it('finds only what is among the first of a feed with a limit', async () => {
      key = await harness.newKey({ feeds: ['first'] });
      expect((await ask('decisions?ip=192.0.2.1')).json()).toHaveLength(2);
      expect((await ask('decisions?ip=198.51.100.5')).body).toBe('null');
      expect((await ask('decisions')).json()).toHaveLength(2);
    });

    it.each([
      ['ip=evil', /ip must be an IPv4 or IPv6 address/],
      ['range=192.0.2.0/33', /range must be/],
      ['ip=192.0.2.1&contains=maybe', /contains must be true or false/],
    ])('%s is an error that names the parameter', async (query, message) => {
      const response = await ask(`decisions?${query}`);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toEqual({
        message: expect.stringMatching(message),
        errors: 'invalid_parameter',
      });
    });
  });

  describe('access', () => {
    it.each([
      ['without a key', undefined, /An API key is required in the header x-api-key/],
      ['with a wrong key', `tip_${'x'.repeat(43)}`, /not valid/],
      ['with no key of Tipline', 'abc', /not valid/],
    ])('%s is 403, as in crowdsec', async (_, wrong, message) => {
      const response = await harness.get('/v1/decisions/stream', {
        key: null,
        headers: wrong === undefined ? {} : { 'x-api-key': wrong },
      });
      expect(response.statusCode).toBe(403);
      expect(response.headers['www-authenticate']).toBeUndefined();
      expect(response.json()).toEqual({
        message: expect.stringMatching(message),
        errors: expect.any(String),
      });
    });

    it.each([
      ['that is bound to no feed', { scopes: [] }, /bound to no saved feed/],
      ['with another scope', { scopes: ['indicators:read' as const] }, /lacks the scope feeds:read/],
      ['from another network', { feeds: ['edge'], networks: ['203.0.113.0/24'] }, /may not be used/],
    ])('of a key %s is 403', async (_, wanted, message) => {
      key = await harness.newKey(wanted);
      for (const path of ['decisions/stream', 'decisions', 'decisions?ip=192.0.2.1']) {
        const response = await ask(path);
        expect([response.statusCode, response.json().message]).toEqual([403, expect.stringMatching(message)]);
      }
    });

    it('does not take the key from Authorization', async () => {
      const response = await harness.get('/v1/decisions', { key });
      expect(response.statusCode).toBe(403);
    });

    it('is limited by the ceiling of the key', async () => {
      key = await harness.newKey({ feeds: ['edge'], tlpCeiling: 'CLEAR' });
      await harness.load([indicatorRecord('IPV4', '203.0.113.1', { tlp: 'GREEN' })]);
      expect((await ask('decisions?ip=203.0.113.1')).body).toBe('null');
      expect((await ask('decisions/stream?startup=true')).body).not.toContain('203.0.113.1');
    });

    it('is limited in its rate, with the headers of every route', async () => {
      const first = await ask('decisions?ip=192.0.2.1');
      expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '40', 'x-ratelimit-remaining': '39' });
      for (let i = 0; i < 39; i++) await ask('usage-metrics', { method: 'POST' });
      const last = await ask('decisions?ip=192.0.2.1');
      expect([last.statusCode, last.json().errors]).toEqual([429, 'rate_limit_exceeded']);
      expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    });
  });

  describe('other requests of bouncers', () => {
    it('HEAD of the stream finds out whether the key is valid, and moves no position', async () => {
      expect((await ask('decisions/stream', { method: 'HEAD' })).statusCode).toBe(200);
      expect(
        (await ask('decisions/stream', { method: 'HEAD', headers: { 'x-api-key': 'x' } })).statusCode,
      ).toBe(403);
      expect((await ask('decisions/stream')).json().new).toHaveLength(4);
    });

    it('usage metrics are accepted and dropped, also compressed', async () => {
      const metrics = JSON.stringify({ remediation_components: [{ type: 'crowdsec-firewall-bouncer' }] });
      const plain = await ask('usage-metrics', {
        method: 'POST',
        payload: metrics.repeat(100),
        headers: { 'content-type': 'application/json' },
      });
      expect([plain.statusCode, plain.body]).toEqual([201, '']);
      const packed = await ask('usage-metrics', {
        method: 'POST',
        payload: gzipSync(metrics) as unknown as string,
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      });
      expect(packed.statusCode).toBe(201);
      const large = await ask('usage-metrics', {
        method: 'POST',
        payload: 'x'.repeat(1024 * 1024 + 1),
        headers: { 'content-type': 'application/json' },
      });
      expect([large.statusCode, large.json().errors]).toEqual([413, 'content_too_large']);
      expect((await ask('usage-metrics', { method: 'POST', headers: { 'x-api-key': 'x' } })).statusCode).toBe(
        403,
      );
    });

    it('decisions cannot be deleted', async () => {
      expect((await ask('decisions', { method: 'DELETE' })).statusCode).toBe(405);
    });
  });
});
