import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseQuerystring } from '../../src/http/validation.ts';
import { cpuTime } from '../support/cpu-time.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { exchange, type RawAnswer, type RawRequest, rawClient } from './raw-http.ts';
import { runs } from './runs.ts';

const ID = '0b1f7f5c-2f1e-4c55-8d39-9f2c1a0b7e64';
const ROUTES = [
  ...['/api/v1/indicators', `/api/v1/indicators/${ID}`, `/api/v1/indicators/${ID}/context`],
  ...['/api/v1/actors', `/api/v1/actors/${ID}`, '/api/v1/campaigns', `/api/v1/campaigns/${ID}`],
  ...[
    '/api/health',
    '/api/openapi.json',
    '/api/openapi.yaml',
    '/api/docs',
    '/api/docs/static/index.html',
    '/metrics',
  ],
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const NAMES = [
  ...[
    'page',
    'pageSize',
    'q',
    'type',
    'severity',
    'tag',
    'format',
    'actorId',
    'campaignId',
    'minConfidence',
    'forDetection',
    'since',
  ],
  ...[
    'active',
    'status',
    'deep',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    'page[]',
    'q.x',
    '',
  ],
];
const VALUES = [
  ...[
    '',
    '0',
    '1',
    '500',
    '501',
    '-1',
    '1e3',
    '0x1',
    '1.0',
    '%EF%BC%91',
    '999999999999999',
    '1000000000000',
    'true',
    'null',
  ],
  ...[
    'IPV4',
    'ipv4',
    'LOW',
    'ACTIVE',
    'json',
    'csv',
    ID,
    ID.toUpperCase(),
    '%00',
    '%',
    '%zz',
    '%ff',
    '%ed%a0%80',
    '[]',
  ],
  ...['0000-01-01', '0001-01-01', '9999-12-31', '2026-02-30', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z'],
  ...[
    '0001-01-01T00:00:00%2B14:00',
    '9999-12-31T23:59:59-14:00',
    '2026-01-01t00:00:00z',
    '2026-01-01%2000:00:00Z',
  ],
  ...[
    '2026-01-01T00:00:00.123456789Z',
    '2026-01-01T00:00:00%2B99:99',
    '2026-12-31T23:59:60Z',
    '-000001-01-01',
  ],
  ...['%25', '_', '%5C', '%27', '%22', '$1', ':x', "'", '__proto__', 'constructor'],
];

/** What Node's parser lets stand in a request line; other bytes are broken HTTP, unless written with %. */
const byte = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const encoded = fc.integer({ min: 0, max: 255 }).map((code) => `%${code.toString(16).padStart(2, '0')}`);
const garbage = fc.string({
  unit: fc.oneof(
    byte,
    encoded,
    fc.constantFrom('/', '//', '..', '.', '%', '%2', ';', '#', '\\', '*', ':', '@', '%2f'),
  ),
  maxLength: 30,
});
const long = fc.integer({ min: 1, max: 9_000 }).map((length) => 'a'.repeat(length));

const path = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ROUTES) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...ROUTES, '/api/v1', '/api', ''), garbage)
      .map(([a, b]) => `${a}/${b}`),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...ROUTES, '/api/v1'), garbage).map(([a, b]) => `${a}${b}`),
  },
  { weight: 1, arbitrary: garbage.map((text) => `/${text}`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('/api/v1/indicators/', '/', '/api/docs/'), long)
      .map(([a, b]) => a + b),
  },
);
const parameter = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...NAMES) }, { weight: 1, arbitrary: garbage }),
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...VALUES) }, { weight: 1, arbitrary: garbage }),
  )
  .map(([name, value]) => `${name}=${value}`);
const query = fc.oneof(
  { weight: 1, arbitrary: fc.constant('') },
  {
    weight: 5,
    arbitrary: fc.array(parameter, { minLength: 1, maxLength: 4 }).map((all) => `?${all.join('&')}`),
  },
  { weight: 1, arbitrary: garbage.map((text) => `?${text}`) },
);

const headerText = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    fc.integer({ min: 0x80, max: 0xff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom(',', ';', 'q=', '*/*', '"', 'W/"', '/', '=', 'bytes=', 'text/html', '\t'),
  ),
  maxLength: 40,
});
const headers = fc.dictionary(
  fc.constantFrom(
    ...[
      'accept',
      'if-none-match',
      'if-modified-since',
      'if-match',
      'if-range',
      'x-forwarded-for',
      'range',
      'cookie',
    ],
    ...[
      'accept-encoding',
      'accept-version',
      'content-type',
      'origin',
      'x-http-method-override',
      'forwarded',
      'referer',
    ],
    ...['x-request-id', 'request-id', 'host', 'user-agent', '__proto__'],
  ),
  fc.oneof(
    headerText,
    fc.constantFrom('::ffff:1.2.3.4', '1.2.3.4, 5.6.7.8', 'bytes=0-0', 'bytes=9999999-', '*'),
  ),
  { maxKeys: 4, noNullPrototype: true },
);
const method = fc.oneof(
  { weight: 3, arbitrary: fc.constant('GET') },
  { weight: 2, arbitrary: fc.constantFrom(...METHODS) },
);
const request: fc.Arbitrary<RawRequest> = fc
  .tuple(method, path, query, headers)
  .map(([verb, where, what, given]) => ({ method: verb, path: where + what, headers: given }));

/** An answer that is an error says so the one way, whatever was asked. */
function expectOrderly(asked: unknown, verb: string, { status, headers: given, body }: RawAnswer): void {
  expect({ asked, status }).toEqual({
    asked,
    status: expect.toSatisfy((code: number) => code >= 200 && code < 500),
  });
  if (status < 400) return;
  expect({ asked, type: given['content-type'], cache: given['cache-control'] }).toEqual({
    asked,
    type: 'application/json; charset=utf-8',
    cache: 'no-store',
  });
  if (verb === 'HEAD') {
    expect(body).toBe('');
    return;
  }
  expect({ asked, body: JSON.parse(body) }).toEqual({
    asked,
    body: { error: expect.stringMatching(/./), code: expect.stringMatching(/^[a-z_]+$/) },
  });
}

onEveryEngine((engine) => {
  let harness: Harness;
  let key: string;
  let port: number;
  let client: ReturnType<typeof rawClient>;
  beforeAll(async () => {
    harness = await startHarness(engine, { trustedProxies: ['127.0.0.1'] });
    key = await harness.newKey();
    await harness.load([indicatorRecord('IPV4', '203.0.113.7'), indicatorRecord('MUTEX', 'a%b_c\\d')]);
    port = Number(new URL(await harness.app.listen({ host: '127.0.0.1', port: 0 })).port);
    client = rawClient(port);
  });
  afterAll(async () => {
    client.close();
    await harness.close();
  });

  const withKey = (asked: RawRequest) => ({
    ...asked,
    headers: { ...asked.headers, authorization: `Bearer ${key}` },
  });

  it('never returns 5xx for any authenticated request, and repeats the same status', async () => {
    const property = fc.asyncProperty(request, async (asked) => {
      const first = await client.send(withKey(asked));
      expectOrderly(asked, asked.method, first);
      const again = await client.send(withKey(asked));
      expect({ asked, status: again.status }).toEqual({ asked, status: first.status });
    });
    await fc.assert(property, runs(400));
  });

  it('returns 401 under /api/v1 for any request without a key', async () => {
    const property = fc.asyncProperty(request, async (asked) => {
      const answer = await client.send(asked);
      expectOrderly(asked, asked.method, answer);
      if (!/^\/api\/v1([/?]|$)/.test(asked.path)) return;
      const isTooLong = asked.path.length > 8_000 && answer.status === 414;
      expect({ asked, status: isTooLong ? 401 : answer.status }).toEqual({ asked, status: 401 });
    });
    await fc.assert(property, runs(250));
  });

  it('returns 401 or eventually 429 for any credentials', async () => {
    const credentials = fc.oneof(
      headerText,
      headerText.map((text) => `Bearer ${text}`),
      fc.constantFrom(
        `bearer  ${ID}`,
        'Bearer',
        'Basic YTpi',
        `Bearer tip_${'a'.repeat(43)}`,
        `Bearer ${'x'.repeat(9_000)}`,
      ),
    );
    const property = fc.asyncProperty(
      fc.constantFrom(...ROUTES),
      credentials,
      headerText,
      async (where, sent, from) => {
        const asked = {
          method: 'GET',
          path: where,
          headers: { authorization: sent, 'x-forwarded-for': from },
        };
        const answer = await client.send(asked);
        expectOrderly(asked, 'GET', answer);
        if (where.startsWith('/api/v1')) expect([401, 429]).toContain(answer.status);
      },
    );
    await fc.assert(property, runs(120));
  });

  it('responds to malformed HTTP with an error in the standard format', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'GET',
        'POST',
        ' ',
        '\r\n',
        '\n',
        '\r',
        '\0',
        ':',
        '/api/v1/indicators',
        'HTTP/1.1',
        'HTTP/9.9',
        'HTTP/1.0',
      ),
      fc.constantFrom(
        'Host: x',
        'Content-Length: 5',
        'Content-Length: -1',
        'Transfer-Encoding: chunked',
        'zz\r\n',
        'Expect: x',
      ),
      fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      garbage,
    );
    const line = fc.constantFrom(
      'GET /api/health HTTP/1.1',
      'GET /api/v1/actors HTTP/1.1',
      'POST /api/health HTTP/1.1',
    );
    const property = fc.asyncProperty(
      fc.option(line),
      fc.array(piece, { minLength: 1, maxLength: 12 }),
      async (first, rest) => {
        const text = `${first === null ? '' : `${first}\r\n`}${rest.join('')}\r\n\r\n`;
        const answer = await exchange(port, Buffer.from(text, 'latin1'));
        const isHead = text.startsWith('HEAD');
        if (answer && !isHead) expectOrderly(text, 'GET', answer);
      },
    );
    await fc.assert(property, runs(150));
  });

  it.each([
    ['headers of 50 KB', `GET /api/health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(50_000)}\r\n\r\n`, [431]],
    ['a URL of 20 KB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, [414]],
    [
      'a look-up of 30 KB without a key',
      `GET /api/v1/lookup?value=${'x'.repeat(30_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      [401],
    ],
    [
      'a look-up of 40 KB without a key',
      `GET /api/v1/lookup?value=${'x'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      [401],
    ],
    ['a request without Host', 'GET /api/health HTTP/1.1\r\n\r\n', [400]],
    [
      'two Content-Lengths',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      [400],
    ],
    ['a method that is none', 'GOT / HTTP/1.1\r\nHost: x\r\n\r\n', [400]],
    [
      'an expectation that is unknown',
      'GET /x HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
      [404, 417],
    ],
  ])('responds to %s with an error in the standard format', async (_what, text, statuses) => {
    const answer = await exchange(port, Buffer.from(text));
    expect(statuses).toContain(answer?.status);
    if (answer) expectOrderly(text.slice(0, 60), 'GET', answer);
  });

  it('names the limit of all headers, and the zone that a date lacks', async () => {
    const long = `GET /api/health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(50_000)}\r\n\r\n`;
    const answer = await exchange(port, Buffer.from(long));
    expect(answer?.body.toString()).toContain('more than 49152 bytes');
    const date = await harness.get('/api/v1/indicators?since=2026-01-31T12:00:00');
    expect(date.body).toContain('with its zone, such as 2026-01-31T12:00:00Z');
  });

  it.each(['0000-01-01', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00'])(
    "rejects the date %s, which is outside the database's range",
    async (since) => {
      const response = await harness.get(`/api/v1/indicators?since=${encodeURIComponent(since)}`);
      expect([response.statusCode, response.json().code]).toEqual([400, 'invalid_parameter']);
    },
  );

  it.each([
    ...[
      '/api/v1/feeds/%00',
      '/api/v1/feeds/%00/changes',
      '/api/v1/feeds/%00/navigator',
      '/api/v1/feeds/Edge',
    ],
    ...['/api/v1/feeds/misp/by-event/manifest.json', '/api/v1/feeds/misp/by-number/manifest.json'],
    ...['/api/v1/feeds/misp/by-event/hashes.csv', '/api/v1/feeds/misp/by-/manifest.json'],
    `/api/v1/feeds/misp/by-%00/${ID}.json`,
  ])('responds to %s, whose name there is not, with 404', async (url) => {
    const response = await harness.get(url);
    expect([response.statusCode, response.json().code]).toEqual([404, 'not_found']);
  });

  it.each(['/api/v1#x', '/api/%761/nothing', 'http://x/api/v1/nothing', '/api/v%31'])(
    'requires a key for %s, an alternative spelling of /api/v1',
    async (written) => {
      const text = `GET ${written} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      expect((await exchange(port, Buffer.from(text)))?.status).toBe(401);
    },
  );
});

it('parses a parameter repeated thousands of times fast', () => {
  const query = 'a&'.repeat(8_000);
  expect(parseQuerystring(query).a).toHaveLength(8_000);
  expect(cpuTime(() => parseQuerystring(query))).toBeLessThan(250);
});
