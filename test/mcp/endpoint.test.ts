import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';
import { ask, callTool, message, post } from '../support/mcp.ts';
import { loadActor } from './fixture.ts';

const TOOLS = [
  ...['look_up', 'explain_indicator', 'search', 'list_indicators', 'whats_new'],
  ...['actor_profile', 'campaign_profile', 'hunting_package', 'sigma_rules'],
];

onEveryEngine((engine) => {
  describe('/mcp', () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await startHarness(engine, { publicAddress: 'https://tipline.example.org' });
      await loadActor(harness);
    });
    afterAll(() => harness.close());

    const toolNames = async (key?: string) => {
      const { result } = await ask(harness, 'tools/list', {}, { key });
      return (result.tools as { name: string }[]).map(({ name }) => name);
    };

    it('needs a key, and says so in JSON-RPC', async () => {
      for (const [headers, code] of [
        [{}, 'missing_api_key'],
        [{ authorization: `Bearer tip_${'A'.repeat(43)}` }, 'invalid_api_key'],
      ] as const) {
        const response = await post(harness, message('tools/list'), { key: null, headers });
        expect(response.statusCode).toBe(401);
        expect(response.headers['www-authenticate']).toMatch(/^Bearer/);
        expect(response.json()).toMatchObject({
          jsonrpc: '2.0',
          id: null,
          error: { code: -32000, data: { code } },
        });
      }
    });

    it('lists all tools for a key without scopes', async () => {
      expect(await toolNames()).toEqual(TOOLS);
    });

    it.each([
      [['indicators:read'], ['look_up', 'explain_indicator', 'search', 'list_indicators', 'whats_new']],
      [['actors:read'], ['search', 'actor_profile', 'sigma_rules']],
      [['campaigns:read'], ['search', 'campaign_profile', 'sigma_rules']],
      [['actors:read', 'indicators:read'], TOOLS.filter((name) => name !== 'campaign_profile')],
    ] as const)(
      'lists for a key with the scopes %j only what it may use, and names the scope that a call lacks',
      async (scopes, expected) => {
        const key = await harness.newKey({ scopes: [...scopes] });
        expect(await toolNames(key)).toEqual(expected);
        for (const name of TOOLS.filter((one) => !(expected as readonly string[]).includes(one))) {
          const { error } = await ask(harness, 'tools/call', { name, arguments: {} }, { key });
          expect(error?.message).toMatch(
            /^The tool \w+ needs the scope \w+:read.*, which the API key lacks\.$/,
          );
        }
      },
    );

    it('gives no part of an answer that needs another scope', async () => {
      const key = await harness.newKey({ scopes: ['actors:read'] });
      const call = (name: string, args: object) => callTool(harness, name, args, { key });
      const { answer } = await call('actor_profile', { actor: 'Fancy Cat' });
      expect(answer).toMatchObject({ campaigns: null, reports: null, indicatorCount: null });
      const { answer: found } = await call('search', { query: 'a' });
      expect(Object.keys(found).sort()).toEqual(['actors', 'notice', 'software', 'techniques']);
      const refused = [
        await call('search', { query: 'a', kinds: ['reports'] }),
        await call('sigma_rules', { campaign: 'Mouse hunt' }),
      ];
      expect(refused.map(({ text }) => text)).toEqual([
        'A search for reports needs the scope indicators:read, which the API key lacks.',
        'Rules for campaigns needs the scope campaigns:read, which the API key lacks.',
      ]);
      const { result } = await ask(harness, 'resources/templates/list', {}, { key });
      expect(result.resourceTemplates).toMatchObject([{ name: 'actor' }]);
      expect((await ask(harness, 'prompts/list', {}, { key })).result.prompts).toEqual([]);
      const { error } = await ask(harness, 'resources/read', { uri: 'tipline://reports/x' }, { key });
      expect(error?.message).toContain('needs the scope indicators:read');
      const listed = await ask(harness, 'resources/list', {}, { key });
      expect(JSON.stringify(listed.result)).not.toContain('tipline://reports/');
      const indicators = await harness.newKey({ scopes: ['indicators:read'] });
      for (const [argument, scope] of [
        [{ actor: 'Fancy Cat' }, 'actors:read'],
        [{ campaign: 'Mouse hunt' }, 'campaigns:read'],
      ] as const) {
        const { text } = await callTool(harness, 'list_indicators', argument, { key: indicators });
        expect(text).toContain(`needs the scope ${scope}`);
      }
      const completed = await ask(
        harness,
        'completion/complete',
        {
          ref: { type: 'ref/resource', uri: 'tipline://actors/{actor}' },
          argument: { name: 'actor', value: '' },
        },
        { key: indicators },
      );
      expect(completed.result.completion).toMatchObject({ values: [] });
    });

    it('rejects a key whose scopes are for no tool', async () => {
      const key = await harness.newKey({ scopes: ['feeds:read'] });
      const response = await post(harness, message('tools/list'), { key });
      expect(response.statusCode).toBe(403);
      expect(response.json().error.message).toMatch(/lacks the scope indicators:read or /);
    });

    it('rejects a key that is bound to feeds', async () => {
      const feed = {
        slug: 'edge',
        name: 'Edge',
        description: '',
        format: 'txt',
        query: '',
        tlpCeiling: 'GREEN',
      } as const;
      await createFeed(harness.db, feed, { who: 'test', now: NOW });
      const key = await harness.newKey({ feeds: ['edge'] });
      const response = await post(harness, message('tools/list'), { key });
      expect(response.statusCode).toBe(403);
      expect(response.json().error).toMatchObject({ data: { code: 'insufficient_scope' } });
    });

    it.each(['GET', 'DELETE', 'PUT'] as const)(
      'responds 405 to %s: there are no streams and sessions',
      async (method) => {
        const response = await harness.get('/mcp', { method, headers: { accept: 'text/event-stream' } });
        expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST']);
      },
    );

    it.each([
      ['https://evil.example', 403],
      ['http://evil.example', 403],
      ['null', 403],
      ['https://tipline.example.org.evil.example', 403],
      ['https://tipline.example.org', 200],
      ['http://localhost:6274', 200],
      ['http://127.0.0.1', 200],
    ])('with the Origin %s responds %i, whatever the Host', async (origin, status) => {
      const host = URL.canParse(origin) ? new URL(origin).host : 'evil.example';
      const response = await post(harness, message('ping'), { headers: { origin, host } });
      expect(response.statusCode).toBe(status);
    });

    it.each([
      ['no JSON', '{"jsonrpc":', 400, -32700],
      ['nothing', '', 400, -32700],
      ['no message', '{"hello":1}', 400, -32600],
      ['a text', '"text"', 400, -32600],
      ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}', 400, -32700],
      [
        'a deep body',
        `{"jsonrpc":"2.0","id":1,"method":"x","params":${'['.repeat(40)}${']'.repeat(40)}}`,
        400,
        -32600,
      ],
      ['a very deep body', '['.repeat(500_000) + ']'.repeat(500_000), 400, -32600],
      ['a large body', JSON.stringify('x'.repeat(1024 * 1024)), 413, -32600],
      ['too many messages', `[${Array(21).fill(message('ping')).join()}]`, 400, -32600],
    ])('rejects %s as an error of JSON-RPC', async (_, body, status, code) => {
      const response = await post(harness, body);
      const { error } = response.json();
      expect([response.statusCode, error.code]).toEqual([status, code]);
    });

    it('rejects media types that the protocol does not have', async () => {
      const text = await post(harness, message('ping'), { headers: { 'content-type': 'text/plain' } });
      expect(text.statusCode).toBe(415);
      const html = await post(harness, message('ping'), { headers: { accept: 'text/html' } });
      expect(html.statusCode).toBe(406);
      const half = await post(harness, message('ping'), { headers: { accept: 'application/json' } });
      expect(half.statusCode).toBe(406);
    });

    it('has no method that it does not list, and no subscriptions', async () => {
      for (const method of [
        'tools/delete',
        'resources/subscribe',
        'logging/setLevel',
        'subscriptions/listen',
      ]) {
        const { error } = await ask(harness, method, { uri: 'tipline://actors/x', level: 'info' });
        expect([method, error?.code]).toEqual([method, -32601]);
      }
    });

    it('answers a notification with 202 and nothing', async () => {
      const response = await post(harness, message('notifications/initialized', {}, null));
      expect([response.statusCode, response.body]).toEqual([202, '']);
    });

    it('is compressed for clients that accept that', async () => {
      const response = await post(harness, message('tools/list'), { headers: { 'accept-encoding': 'gzip' } });
      expect(response.headers['content-encoding']).toBe('gzip');
    });

    it('reveals no internals when the database fails', async () => {
      const broken = await startHarness({
        async open() {
          const database = await engine.open();
          const read = async () => {
            throw Object.assign(new Error('relation "secret" does not exist'), { code: '42P01' });
          };
          return { ...database, read };
        },
      });
      const call = await ask(broken, 'tools/call', { name: 'actor_profile', arguments: { actor: 'x' } });
      expect(call.error).toEqual({ code: -32603, message: 'Internal server error.' });
      const read = await ask(broken, 'resources/list');
      expect(read.error).toEqual({ code: -32603, message: 'Internal server error.' });
      await broken.close();
    });
  });

  describe('the rate limit of /mcp', () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await startHarness(engine, {
        rateLimits: memoryStore(),
        rateLimit: { limit: 10, windowSeconds: 60 },
      });
    });
    afterAll(() => harness.close());

    it('counts each request, and each message of a batch', async () => {
      const key = await harness.newKey();
      const first = await post(harness, message('tools/list'), { key });
      expect(first.headers['x-ratelimit-remaining']).toBe('9');
      const batch = await post(harness, `[${[1, 2, 3].map((id) => message('ping', {}, id)).join()}]`, {
        key,
      });
      expect([batch.statusCode, batch.headers['x-ratelimit-remaining']]).toEqual([200, '6']);
      expect(batch.json().map(({ id }: { id: number }) => id)).toEqual([1, 2, 3]);
      const call = await post(harness, message('tools/call', { name: 'search', arguments: { query: 'x' } }), {
        key,
      });
      expect(call.headers['x-ratelimit-remaining']).toBe('5');
      const excess = await post(harness, `[${Array(7).fill(message('ping')).join()}]`, { key });
      expect(excess.statusCode).toBe(429);
      expect(excess.json().error.message).toMatch(/^Too many requests\. Try again in \d+ s\.$/);
      expect(excess.headers['retry-after']).toBeDefined();
      const api = await harness.get('/api/v1/indicators', { key });
      expect(api.statusCode).toBe(429);
    });
  });
});
