import { describe, expect, it, vi } from 'vitest';
import { selfSigned } from '../support/certificates.ts';
import { outbound, serveHttp, serveHttps } from './local-servers.ts';
import { codeOf, failureOf } from './test-outbound.ts';

const LOOPBACK = { address: '127.0.0.1', family: 4 };

/** A server whose port is known, and whether it was reached. */
async function target() {
  const reached = vi.fn();
  const url = await serveHttp((_, response) => {
    reached();
    response.end('inside');
  });
  return { reached, url, port: new URL(url).port };
}

describe('without allowed networks', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '0x7f000001',
    '127.0.0.1.',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
    '0.0.0.0',
    '0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[ff02::1]',
  ])('a URL with the address %s is rejected', async (host) => {
    const { reached, port } = await target();
    expect(await codeOf(outbound({ allowedNetworks: [] }).get(`http://${host}:${port}/`))).toBe(
      'not_allowed',
    );
    expect(await codeOf(outbound({ allowedNetworks: [] }).get(`https://${host}:${port}/`))).toBe(
      'not_allowed',
    );
    expect(reached).not.toHaveBeenCalled();
  });

  it('localhost is rejected', async () => {
    const { reached, port } = await target();
    expect(await codeOf(outbound({ allowedNetworks: [] }).get(`http://localhost:${port}/`))).toBe(
      'not_allowed',
    );
    expect(reached).not.toHaveBeenCalled();
  });

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'fe80::1%lo',
  ])('a name that resolves to %s is rejected', async (address) => {
    const resolve = async () => [{ address, family: address.includes(':') ? 6 : 4 }];
    const { get } = outbound({ allowedNetworks: [], resolve });
    expect(await codeOf(get('http://feed.example.com/'))).toBe('not_allowed');
  });

  it('the error names the host, not the path', async () => {
    const failure = await failureOf(outbound({ allowedNetworks: [] }).get('http://127.0.0.1/a?key=hush'));
    expect(failure.message).toBe('127.0.0.1: its address is neither public nor in an allowed network');
  });
});

describe('a host name', () => {
  it('is resolved once per connection, which prevents DNS rebinding', async () => {
    const { port } = await target();
    const resolve = vi.fn(async () => [LOOPBACK]);
    const answer = await outbound({ resolve }).get(`http://feed.example.com:${port}/`);
    expect(answer.body.toString()).toBe('inside');
    expect(resolve).toHaveBeenCalledTimes(1);
  });

  it('is checked again for each connection', async () => {
    const url = await serveHttp((_, response) => response.setHeader('connection', 'close').end());
    const resolve = vi.fn(async () => [{ address: '10.0.0.1', family: 4 }]).mockResolvedValueOnce([LOOPBACK]);
    const { get } = outbound({ resolve });
    const named = `http://feed.example.com:${new URL(url).port}/`;
    expect((await get(named)).status).toBe(200);
    expect(await codeOf(get(named))).toBe('not_allowed');
  });

  it('with several addresses is reached at an allowed one', async () => {
    const { port } = await target();
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }, { address: '::1', family: 6 }, LOOPBACK];
    expect((await outbound({ resolve }).get(`http://feed.example.com:${port}/`)).status).toBe(200);
  });

  it.each([
    ['nothing', async () => []],
    ['an error', async () => Promise.reject(Object.assign(new Error('hush'), { code: 'ENOTFOUND' }))],
  ])('that resolves to %s is unreachable', async (_, resolve) => {
    const failure = await failureOf(outbound({ resolve }).get('http://feed.example.com/'));
    expect([failure.code, failure.message]).toEqual([
      'unreachable',
      'feed.example.com: the name does not resolve',
    ]);
  });

  it('whose resolution hangs times out', async () => {
    const { get } = outbound({ resolve: () => new Promise(() => {}) });
    expect(await codeOf(get('http://feed.example.com/', { timeoutMs: 50 }))).toBe('timeout');
  });
});

describe('a redirect', () => {
  it.each(['http://0x7f.2/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data/', '//10.0.0.1/'])(
    'from an allowed address to %s is rejected',
    async (location) => {
      const url = await serveHttp((_, response) => response.writeHead(302, { location }).end());
      expect(await codeOf(outbound({ allowedNetworks: ['127.0.0.1'] }).get(url))).toBe('not_allowed');
    },
  );

  it('to a name that resolves to a private address is rejected, naming the host', async () => {
    const location = 'http://inside.example.com/';
    const url = await serveHttp((_, response) => response.writeHead(302, { location }).end());
    const failure = await failureOf(
      outbound({ resolve: async () => [{ address: '192.168.0.1', family: 4 }] }).get(url),
    );
    expect([failure.code, failure.host]).toEqual(['not_allowed', 'inside.example.com']);
  });

  it.each(['file:///etc/passwd', 'ftp://example.com/', 'data:text/plain,x', 'javascript:1'])(
    'to %s is rejected',
    async (location) => {
      const url = await serveHttp((_, response) => response.writeHead(302, { location }).end());
      expect(await codeOf(outbound().get(url))).toBe('not_allowed');
    },
  );
});

describe('an HTTPS server', () => {
  const identity = selfSigned('feed.example.com');
  const resolve = async () => [LOOPBACK];

  it('with a trusted certificate is accepted', async () => {
    const port = await serveHttps(identity, (_, response) => response.end('safe'));
    const { get } = outbound({ resolve, certificateAuthorities: identity.cert });
    expect((await get(`https://feed.example.com:${port}/`)).body.toString()).toBe('safe');
  });

  it.each([
    ['of nobody we trust', 'feed.example.com', undefined],
    ['for another name', 'other.example.com', identity.cert],
  ])('with a certificate %s receives no request', async (_, name, certificateAuthorities) => {
    const asked = vi.fn();
    const port = await serveHttps(identity, asked);
    const { get } = outbound({ resolve, ...(certificateAuthorities && { certificateAuthorities }) });
    expect(await codeOf(get(`https://${name}:${port}/`))).toBe('bad_certificate');
    expect(asked).not.toHaveBeenCalled();
  });
});

describe('a closed port', () => {
  it('is reported as a refused connection', async () => {
    const { get } = outbound();
    const url = await serveHttp((_, response) => response.end());
    const closed = `http://127.0.0.2:${new URL(url).port}/`;
    expect((await failureOf(get(closed))).message).toBe(
      `${new URL(closed).host}: the connection was refused`,
    );
  });
});
