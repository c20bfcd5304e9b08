import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { redirectServer } from '../../src/http/redirect-server.ts';
import { identity } from '../support/certificates.ts';

const { cert } = identity({ names: ['tipline.example.org', '*.internal.example.org', '192.0.2.7'] });
const tls = { certificate: () => new X509Certificate(cert) };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(options: Partial<Parameters<typeof redirectServer>[0]> = {}): Promise<number> {
  const server = redirectServer({ tls, port: 8443, publicAddress: null, ...options });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** What comes back until the server closes the connection. */
async function exchange(
  port: number,
  ...lines: string[]
): Promise<{ status: number; location?: string; text: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.write([...lines, '', ''].join('\r\n'), 'latin1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part) => (text += part));
  await once(socket, 'close');
  const [, location] = text.match(/^location: (.*)\r$/im) ?? [];
  return { status: Number(text.split(' ')[1]), ...(location !== undefined && { location }), text };
}

describe('a request without TLS is redirected', () => {
  it.each([
    [
      'to the host of the request',
      'GET /indicators?q=a%20b HTTP/1.1',
      'tipline.example.org',
      'https://tipline.example.org:8443/indicators?q=a%20b',
    ],
    [
      'also from another port',
      'GET / HTTP/1.1',
      'tipline.example.org:8080',
      'https://tipline.example.org:8443/',
    ],
    [
      'by a wildcard of the certificate',
      'GET / HTTP/1.1',
      'a.internal.example.org',
      'https://a.internal.example.org:8443/',
    ],
    ['to an address of the certificate', 'GET / HTTP/1.1', '192.0.2.7', 'https://192.0.2.7:8443/'],
    [
      'with any method',
      'POST /app/sign-in HTTP/1.1',
      'tipline.example.org',
      'https://tipline.example.org:8443/app/sign-in',
    ],
    [
      'of the absolute form',
      'GET http://evil.example/x HTTP/1.1',
      'tipline.example.org',
      'https://tipline.example.org:8443/x',
    ],
    [
      'with a path that begins with two slashes',
      'GET //evil.example/ HTTP/1.1',
      'tipline.example.org',
      'https://tipline.example.org:8443//evil.example/',
    ],
    [
      'for all of the server',
      'OPTIONS * HTTP/1.1',
      'tipline.example.org',
      'https://tipline.example.org:8443/*',
    ],
  ])('%s', async (_, line, host, location) => {
    const answer = await exchange(await serve(), line, `Host: ${host}`);
    expect(answer).toMatchObject({ status: 308, location });
  });

  it('without the port where it is 443', async () => {
    const port = await serve({ port: 443 });
    const answer = await exchange(port, 'GET /x HTTP/1.1', 'Host: tipline.example.org');
    expect(answer).toMatchObject({ status: 308, location: 'https://tipline.example.org/x' });
  });

  it('to the public address, whatever the host', async () => {
    const port = await serve({ publicAddress: 'https://cti.example.org' });
    for (const host of ['Host: evil.example', 'Host: '])
      expect(await exchange(port, 'GET /x HTTP/1.1', host)).toMatchObject({
        status: 308,
        location: 'https://cti.example.org/x',
      });
  });

  it('and the connection is closed, and nothing is cached', async () => {
    const { text } = await exchange(await serve(), 'GET / HTTP/1.1', 'Host: tipline.example.org');
    expect(text).toMatch(/^cache-control: no-store\r$/im);
    expect(text).toMatch(/^connection: close\r$/im);
  });
});

it('bytes that no URL has are a 400', async () => {
  const answer = await exchange(await serve(), 'GET /caf\xc3\xa9 HTTP/1.1', 'Host: tipline.example.org');
  expect(answer.status).toBe(400);
});

describe('a request without TLS is a 400', () => {
  it.each([
    ['for a host that the certificate is not for', ['Host: evil.example']],
    ['for an address that the certificate is not for', ['Host: 192.0.2.8']],
    ['for an IPv6 address that the certificate is not for', ['Host: [2001:db8::1]:80']],
    ['with user info in the host', ['Host: tipline.example.org@evil.example']],
    ['with a path in the host', ['Host: tipline.example.org/x']],
    ['with an empty host', ['Host: ']],
  ])('%s', async (_, headers) => {
    const answer = await exchange(await serve(), 'GET / HTTP/1.1', ...headers);
    expect(answer.status).toBe(400);
    expect(answer).not.toHaveProperty('location');
    expect(answer.text).toContain('"code":"bad_request"');
  });
});
