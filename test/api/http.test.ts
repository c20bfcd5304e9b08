import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_PIPELINED } from '../../src/http/connections.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, METRICS_TOKEN, startHarness } from '../support/harness.ts';

onEveryEngine((engine) => {
  describe('HTTP', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(engine);
      await tipline.load([indicatorRecord('IPV4', '203.0.113.7')]);
    });
    afterAll(() => tipline.close());

    it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)(
      'rejects %s with 405 where GET is allowed',
      async (method) => {
        for (const url of ['/api/v1/indicators', '/api/v1/actors/x', '/api/health', '/api/openapi.json']) {
          const response = await tipline.get(url, { method });
          expect([url, response.statusCode, response.headers.allow]).toEqual([url, 405, 'GET, HEAD']);
        }
        expect((await tipline.get('/api/v1/nothing', { method })).statusCode).toBe(404);
        expect((await tipline.get('/nothing', { method })).statusCode).toBe(404);
      },
    );

    it('handles pipelined requests sequentially, and closes the connection after too many', async () => {
      await tipline.app.listen({ port: 0, host: '127.0.0.1' });
      const client = connect((tipline.app.server.address() as AddressInfo).port, '127.0.0.1');
      client.write('GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(MAX_PIPELINED + 50));
      let answers = '';
      for await (const chunk of client) answers += chunk;
      expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(MAX_PIPELINED + 1);
    });

    it.each(['/api/v1/indicators', '/api/v1/exports/csv', '/api/openapi.yaml', '/api/openapi.json'])(
      'returns the same 304 for a conditional HEAD of %s as for GET, without Content-Length',
      async (url) => {
        const { headers } = await tipline.get(url);
        for (const given of [String(headers.etag), '*'])
          for (const method of ['GET', 'HEAD'] as const) {
            const answer = await tipline.get(url, { method, headers: { 'if-none-match': given } });
            expect({
              method,
              given,
              status: answer.statusCode,
              etag: answer.headers.etag,
              length: answer.headers['content-length'],
              body: answer.body,
            }).toEqual({ method, given, status: 304, etag: headers.etag, length: undefined, body: '' });
          }
      },
    );

    it('returns the GET headers for HEAD, without the body', async () => {
      for (const url of ['/api/v1/indicators', '/api/health', '/api/v1/actors', '/api/v1/indicators/x']) {
        const [get, head] = [await tipline.get(url), await tipline.get(url, { method: 'HEAD' })];
        expect(head.statusCode).toBe(get.statusCode);
        expect(head.body).toBe('');
        for (const name of ['content-type', 'content-length', 'etag', 'cache-control']) {
          if (url !== '/api/health' || name !== 'content-length')
            expect([url, name, head.headers[name]]).toEqual([url, name, get.headers[name]]);
        }
      }
    });

    it('keeps an ETag valid until the content changes', async () => {
      const url = '/api/v1/indicators';
      const { etag } = (await tipline.get(url)).headers as { etag: string };
      const status = async (tag: string) =>
        (await tipline.get(url, { headers: { 'if-none-match': tag } })).statusCode;
      expect(etag).toMatch(/^"[^"]+"$/);
      expect(await status(etag)).toBe(304);
      expect(await status(`"x", W/${etag}`)).toBe(304);
      expect(await status('*')).toBe(304);
      expect(await status('"x"')).toBe(200);
      const { headers, body } = await tipline.get(url, { headers: { 'if-none-match': etag } });
      expect(body).toBe('');
      expect(headers).toMatchObject({
        etag,
        'cache-control': 'private, no-cache',
        'x-request-id': expect.any(String),
        'x-ratelimit-remaining': expect.any(String),
      });
      // What is said of content is known by who has it.
      const said = Object.keys(headers).filter(
        (name) => !/^(x-request-id|x-ratelimit-.*|date|connection)$/.test(name),
      );
      expect(said.sort()).toEqual(['cache-control', 'etag', 'vary']);
      await tipline.load([indicatorRecord('IPV4', '203.0.113.8')]);
      expect(await status(etag)).toBe(200);
    });

    it('serves JSON when accepted, 406 when only other types are, and 431 for an oversized Accept', async () => {
      const status = async (accept: string) =>
        (await tipline.get('/api/v1/indicators', { headers: { accept } })).statusCode;
      expect(await status('application/json')).toBe(200);
      expect(await status('*/*')).toBe(200);
      expect(await status('text/html, application/*;q=0.5')).toBe(200);
      expect(await status('text/html')).toBe(406);
      expect(await status('application/json;q=0')).toBe(406);
      expect(await status('application/json; charset=UTF-8')).toBe(200);
      expect(await status('application/json; charset=utf-16')).toBe(406);
      expect(await status(`${'text/a,'.repeat(145)}*/*`)).toBe(200);
      expect(await status(`${'text/a,'.repeat(146)}*/*`)).toBe(431);
    });

    it('returns 414 for a URL that is too long', async () => {
      expect((await tipline.get(`/api/v1/indicators?q=${'a'.repeat(20_000)}`)).statusCode).toBe(414);
    });

    it('checks and counts the key first where the URL or the Accept header is too long', async () => {
      const url = `/api/v1/indicators?q=${'a'.repeat(20_000)}`;
      const headers = { accept: `${'text/a,'.repeat(146)}*/*` };
      const limits = [await tipline.get(url), await tipline.get('/api/v1/unknown', { headers })];
      expect(limits.map(({ statusCode }) => statusCode)).toEqual([414, 431]);
      const [first, second] = limits.map((answer) => Number(answer.headers['x-ratelimit-remaining']));
      expect(second).toBe(Number(first) - 1);
      expect((await tipline.get(url, { key: null })).statusCode).toBe(401);
      expect((await tipline.get('/api/v1/indicators', { key: null, headers })).statusCode).toBe(401);
      expect((await tipline.get(`/api/health?${'a'.repeat(20_000)}`, { key: null })).statusCode).toBe(414);
    });

    it('names in an error what is allowed: the media types, and the length of a URL', async () => {
      const errorOf = async (url: string, headers: Record<string, string> = {}) =>
        (await tipline.get(url, { headers })).json().error;
      expect(await errorOf('/api/v1/indicators', { accept: 'text/csv' })).toBe(
        'The header accept allows no media type of the response. Available: application/json.',
      );
      expect(await errorOf(`/api/v1/indicators?q=${'a'.repeat(20_000)}`)).toBe(
        'The URL of the request has more than 8192 characters.',
      );
      expect(await errorOf(`/api/v1/lookup?value=${'a'.repeat(40_000)}`)).toBe(
        'The URL of the request has more than 32768 characters.',
      );
    });

    it('assigns each request a unique X-Request-Id', async () => {
      const [a, b] = [await tipline.get('/api/health'), await tipline.get('/api/health')];
      expect(a.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(a.headers['x-request-id']).not.toBe(b.headers['x-request-id']);
    });
  });

  describe('GET /api/health', () => {
    it('needs no key, and checks the dependencies only with deep=1', async () => {
      const tipline = await startHarness(engine);
      const shallow = await tipline.get('/api/health', { key: null });
      expect(shallow.statusCode).toBe(200);
      expect(shallow.json()).toEqual({
        status: 'ok',
        service: 'tipline',
        version: expect.any(String),
        uptimeSeconds: expect.any(Number),
        timestamp: tipline.clock.now.toISOString(),
      });
      const deep = await tipline.get('/api/health?deep=1', { key: null });
      expect(deep.statusCode).toBe(200);
      const check = { status: 'ok', latencyMs: expect.any(Number) };
      expect(deep.json().checks).toEqual({ database: check, keyValueStore: check });
      for (const query of ['deep=0', 'deep=true', 'deep=', 'deep=1&deep=1', 'shallow=1']) {
        expect((await tipline.get(`/api/health?${query}`, { key: null })).statusCode).toBe(400);
      }
      await tipline.close();
    });

    it('returns 503 without error details when a dependency fails', async () => {
      const rateLimits = {
        kind: 'redis' as const,
        stats: { leased: 0, asked: 0, unanswered: 0 },
        consume: async () => ({ consumed: 1, msBeforeNext: 1 }),
        refund: async () => {},
        usage: async () => 0,
        ping: () => Promise.reject(new Error('secret host')),
        close: async () => {},
      };
      const tipline = await startHarness(engine, { rateLimits });
      const response = await tipline.get('/api/health?deep=1', { key: null });
      expect(response.statusCode).toBe(503);
      expect(response.json()).toMatchObject({
        status: 'degraded',
        checks: {
          database: { status: 'ok' },
          keyValueStore: { status: 'degraded', message: expect.any(String) },
        },
      });
      expect(response.body).not.toContain('secret host');
      await tipline.close();
    });
  });

  describe('GET /api/health/ready', () => {
    it('returns 200 without the key-value store, and 503 without the database', async () => {
      const away = () => Promise.reject(new Error('away'));
      const tipline = await startHarness(engine, { rateLimits: { ...memoryStore(), ping: away } });
      const ready = await tipline.get('/api/health/ready', { key: null });
      expect({ status: ready.statusCode, body: ready.json() }).toMatchObject({
        status: 200,
        body: { status: 'ok', service: 'tipline' },
      });
      expect((await tipline.get('/api/health?deep=1', { key: null })).statusCode).toBe(503);
      expect((await tipline.get('/api/health/ready', { key: null, method: 'HEAD' })).statusCode).toBe(200);
      expect((await tipline.get('/api/health/ready?deep=1', { key: null })).statusCode).toBe(400);
      await tipline.close();
    });

    it('returns 503 while shutting down, and requests are served with Connection: close', async () => {
      const stopping = new AbortController();
      const tipline = await startHarness(engine, { stopping: stopping.signal });
      expect((await tipline.get('/api/v1/indicators')).headers.connection).not.toBe('close');
      stopping.abort();
      const ready = await tipline.get('/api/health/ready', { key: null });
      expect([ready.statusCode, ready.json().status]).toEqual([503, 'degraded']);
      const list = await tipline.get('/api/v1/indicators');
      expect([list.statusCode, list.headers.connection]).toEqual([200, 'close']);
      await tipline.close();
    });
  });

  describe('GET /metrics', () => {
    it('rejects every request when no token is configured', async () => {
      const tipline = await startHarness(engine, { metricsToken: undefined });
      expect((await tipline.get('/metrics', { key: 'undefined' })).statusCode).toBe(401);
      await tipline.close();
    });

    it('accepts only its own token', async () => {
      const tipline = await startHarness(engine);
      const status = async (key: string | null, headers = {}) =>
        (await tipline.get('/metrics', { key, headers })).statusCode;
      expect(await status(METRICS_TOKEN)).toBe(200);
      expect(await status(METRICS_TOKEN, { 'x-forwarded-for': '192.0.2.1' })).toBe(200);
      expect(await status(null)).toBe(401);
      expect(await status(`${METRICS_TOKEN}x`)).toBe(401);
      expect(await status(await tipline.newKey())).toBe(401);
      await tipline.close();
    });
  });
});
