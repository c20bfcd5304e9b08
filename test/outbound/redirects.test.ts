import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstStep, nextStep } from '../../src/outbound/redirect.ts';
import { selfSigned } from '../support/certificates.ts';
import { outbound, serveHttp, serveHttps } from './local-servers.ts';
import { codeOf, failureOf } from './test-outbound.ts';

interface Seen {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

async function read(request: IncomingMessage): Promise<Seen> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return { method: request.method, path: request.url, headers: request.headers, body };
}

/** A server that redirects by `status` as often as there are locations, then answers; and what it was asked. */
async function redirecting(status: number, ...locations: string[]) {
  const seen: Seen[] = [];
  const url = await serveHttp(async (request, response) => {
    seen.push(await read(request));
    const location = locations[seen.length - 1];
    if (location === undefined) response.end('there');
    else response.writeHead(status, { location }).end('elsewhere');
  });
  return { url, seen };
}

describe('a redirect', () => {
  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [307, 'POST', 'POST', 'a question'],
    [308, 'POST', 'POST', 'a question'],
    [301, 'GET', 'GET', ''],
    [303, 'GET', 'GET', ''],
    [307, 'GET', 'GET', ''],
  ] as const)('with status %s turns %s into %s', async (status, method, then, body) => {
    const { url, seen } = await redirecting(status, '/there');
    const question =
      method === 'POST' ? { body: 'a question', headers: { 'Content-Type': 'text/plain' } } : {};
    const answer = await outbound().get(url, { method, ...question });
    expect(answer.body.toString()).toBe('there');
    expect(seen[1]).toMatchObject({ method: then, body });
    expect(seen[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/plain');
  });

  it('is resolved relative to the previous location', async () => {
    const { url, seen } = await redirecting(302, '/a/b/c?x=1', '../d', '?y=2');
    expect((await outbound().get(url)).url).toBe(`${url}/a/d?y=2`);
    expect(seen.map(({ path }) => path)).toEqual(['/', '/a/b/c?x=1', '/a/d', '/a/d?y=2']);
  });

  it('is followed five times, not six', async () => {
    const { url } = await redirecting(302, '/1', '/2', '/3', '/4', '/5');
    expect((await outbound().get(url)).status).toBe(200);
    const endless = await serveHttp((_, response) => response.writeHead(302, { location: '/' }).end());
    expect(await codeOf(outbound().get(endless))).toBe('too_many_redirects');
  });

  it.each([[300], [304], [305], [306]])('is not followed for status %s', async (status) => {
    const { url } = await redirecting(status, '/there');
    expect((await outbound().get(url)).status).toBe(status);
  });

  it('without a Location is returned as the response', async () => {
    const url = await serveHttp((_, response) => response.writeHead(302).end('text'));
    expect(await outbound().get(url)).toMatchObject({ status: 302, body: Buffer.from('text') });
  });

  it.each([['http://['], ['http://a b/'], ['http://1.2.3.256/'], ['//']])(
    'to the invalid location %j is an error',
    async (location) => {
      const url = await serveHttp((_, response) => response.writeHead(302, { location }).end());
      expect(await codeOf(outbound().get(url))).toBe('bad_redirect');
    },
  );

  it('to a URL with a password is rejected', async () => {
    const { url } = await redirecting(302, 'http://user:hush@example.com/');
    const failure = await failureOf(outbound().get(url));
    expect([failure.code, failure.message.includes('hush')]).toEqual(['bad_url', false]);
  });

  it('does not wait for its body', async () => {
    const url = await serveHttp((request, response) => {
      if (request.url === '/there') return response.end('there');
      return response.writeHead(302, { location: '/there' }).write('never ends');
    });
    expect((await outbound().get(url)).body.toString()).toBe('there');
  });
});

const CREDENTIALS = { 'Auth-Key': 'hush', Authorization: 'Basic hush', Cookie: 'a=hush', 'x-apikey': 'hush' };
const NAMES = ['auth-key', 'authorization', 'cookie', 'x-apikey'];
const credentialsIn = (seen: Seen | undefined) => NAMES.filter((name) => seen?.headers[name] !== undefined);

describe('credentials', () => {
  it("are sent to the URL's origin, also along redirects", async () => {
    const { url, seen } = await redirecting(302, '/there');
    await outbound().get(url, { credentials: CREDENTIALS, headers: { Accept: 'text/csv' } });
    expect(seen.map(credentialsIn)).toEqual([NAMES, NAMES]);
    expect(seen[1]?.headers).toMatchObject({ accept: 'text/csv', 'user-agent': 'Tipline/test' });
  });

  it.each([
    ['another port', (url: string) => url],
    ['another host', (url: string) => url.replace('127.0.0.1', 'localhost')],
  ])('are not sent to %s', async (_, at) => {
    const there = await redirecting(200);
    const { url } = await redirecting(302, at(there.url));
    const { get } = outbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    await get(url, { credentials: CREDENTIALS });
    expect(there.seen.map(credentialsIn)).toEqual([[]]);
  });

  it('are not sent again after a redirect left the origin', async () => {
    const back = await serveHttp((_, response) => response.writeHead(302, { location: `${url}/back` }).end());
    const { url, seen } = await redirecting(302, back);
    await outbound().get(url, { credentials: CREDENTIALS });
    expect(seen.map(({ path }) => path)).toEqual(['/', '/back']);
    expect(seen.map(credentialsIn)).toEqual([NAMES, []]);
  });

  it('are not sent from HTTPS to HTTP on the same host', async () => {
    const identity = selfSigned('feed.example.com');
    const { url, seen } = await redirecting(200);
    const plain = `http://feed.example.com:${new URL(url).port}/`;
    const port = await serveHttps(identity, (_, response) =>
      response.writeHead(307, { location: plain }).end(),
    );
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const { get } = outbound({ resolve, certificateAuthorities: identity.cert });
    await get(`https://feed.example.com:${port}/`, { credentials: CREDENTIALS });
    expect(seen.map(credentialsIn)).toEqual([[]]);
  });

  it('in ordinary headers are recognized by name', async () => {
    const there = await redirecting(200);
    const { url, seen } = await redirecting(302, there.url);
    await outbound().get(url, { headers: { AUTHORIZATION: 'Basic hush', cookie: 'a=hush' } });
    expect(credentialsIn(seen[0])).toEqual(['authorization', 'cookie']);
    expect(credentialsIn(there.seen[0])).toEqual([]);
  });

  it('never leave the origin, for any chain of redirects', () => {
    const origin = fc.constantFrom(
      'http://a.example',
      'https://a.example',
      'http://a.example:81',
      '//b.example',
      '',
    );
    const hop = fc.tuple(
      fc.constantFrom(301, 302, 303, 307, 308),
      origin,
      fc.constantFrom('', '?a=b', '/../..', '//b.example/', '#c'),
    );
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST'), fc.array(hop, { maxLength: 6 }), (method, hops) => {
        let step = firstStep({ url: 'https://a.example/', method, credentials: { 'auth-key': 'hush' } });
        for (const [status, place, path] of hops) {
          step = nextStep(step, status, `${place}/at${path}`) ?? step;
          if (step.url.origin !== 'https://a.example') expect(step.credentials).toEqual({});
        }
      }),
    );
  });
});

describe('a request', () => {
  it.each(['', 'feed', '/feed', 'http://', 'http://[', 'http://user@127.0.0.1/', 'http://u:p@127.0.0.1/'])(
    'to the invalid or credentialed URL %j is rejected',
    async (url) => {
      expect(await codeOf(outbound().get(url))).toBe('bad_url');
    },
  );

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'data:,x', 'ws://example.com/'])(
    'with a scheme other than HTTP or HTTPS is rejected: %s',
    async (url) => {
      expect(await codeOf(outbound().get(url))).toBe('not_allowed');
    },
  );

  it.each([
    ['a line break in a credential', { credentials: { 'Auth-Key': 'hush\r\nX: y' } }],
    ['a character that HTTP does not carry', { credentials: { 'Auth-Key': 'hush\u20ac' } }],
    ['a name that is none', { headers: { 'a b': 'hush' } }],
    ['a Host of its own', { headers: { Host: 'inside.example.com' } }],
    ['a length of its own', { headers: { 'Content-Length': '1' } }],
    ['a coding of its own', { headers: { 'Accept-Encoding': 'br' } }],
    ['a body of a GET', { body: 'hush' }],
  ])('with %s is rejected, and not quoted', async (_, wanted) => {
    const { url, seen } = await redirecting(200);
    const failure = await failureOf(outbound().get(url, wanted));
    expect([failure.code, failure.message.includes('hush'), seen]).toEqual(['bad_request', false, []]);
  });

  it('ignores proxies from the environment', async () => {
    const { url } = await redirecting(200);
    const before = { ...process.env };
    process.env.HTTP_PROXY = process.env.http_proxy = 'http://127.0.0.1:1';
    try {
      expect((await outbound().get(url)).status).toBe(200);
    } finally {
      process.env = before;
    }
  });
});
