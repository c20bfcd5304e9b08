import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { outbound, serveBytes, serveHttp } from './local-servers.ts';
import { codeOf, failureOf } from './test-outbound.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const GZIP = { 'content-encoding': 'gzip' };

describe('an outbound response', () => {
  it.each([200, 204, 304, 404, 429, 500, 503])('is returned for any status: %s', async (status) => {
    const url = await serveHttp((_, response) => response.writeHead(status).end());
    expect((await outbound().get(url)).status).toBe(status);
  });

  it('has lower-case headers, joined when repeated, without cookies', async () => {
    const url = await serveHttp((_, response) =>
      response
        .writeHead(200, { ETag: '"a"', Link: ['<a>', '<b>'], 'Set-Cookie': 'session=hush' })
        .end('body'),
    );
    const { headers, body } = await outbound().get(url);
    expect(headers).toMatchObject({ etag: '"a"', link: '<a>, <b>' });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(body.toString()).toBe('body');
  });

  it('may have headers named like object properties', async () => {
    const url = await serveBytes((socket) =>
      socket.end(`${HEAD}__proto__: a\r\nconstructor: b\r\nContent-Length: 0\r\n\r\n`),
    );
    const { headers } = await outbound().get(url);
    expect(Object.entries(headers)).toEqual(
      expect.arrayContaining([
        ['__proto__', 'a'],
        ['constructor', 'b'],
      ]),
    );
  });

  it('is complete when the server ends it by closing the connection', async () => {
    const url = await serveBytes((socket) => socket.end(`${HEAD}\r\nall of it`));
    expect((await outbound().get(url)).body.toString()).toBe('all of it');
  });
});

describe('a compressed response', () => {
  it.each(['gzip', 'x-gzip', 'GZip'])(
    'is decompressed, and its headers describe the result: %s',
    async (encoding) => {
      const packed = gzipSync('the list');
      const url = await serveHttp((_, response) =>
        response
          .writeHead(200, { 'content-encoding': encoding, 'content-length': packed.length })
          .end(packed),
      );
      const { body, headers } = await outbound().get(url);
      expect(body.toString()).toBe('the list');
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['content-encoding']));
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['content-length']));
    },
  );

  it('may have several gzip members', async () => {
    const packed = Buffer.concat([gzipSync('one '), gzipSync('two')]);
    const url = await serveHttp((_, response) => response.writeHead(200, GZIP).end(packed));
    expect((await outbound().get(url)).body.toString()).toBe('one two');
  });

  it.each([200, 304, 404])('may have no body: %s', async (status) => {
    const url = await serveHttp((_, response) => response.writeHead(status, GZIP).end());
    expect((await outbound().get(url)).body).toHaveLength(0);
  });

  it('of maximum size that does not shrink is accepted', async () => {
    const bytes = randomBytes(100_000);
    const url = await serveHttp((_, response) => response.writeHead(200, GZIP).end(gzipSync(bytes)));
    expect((await outbound().get(url, { maxBytes: bytes.length })).body.equals(bytes)).toBe(true);
  });

  it('is requested as gzip only', async () => {
    const url = await serveHttp((request, response) => response.end(request.headers['accept-encoding']));
    expect((await outbound().get(url)).body.toString()).toBe('gzip');
  });

  it.each([
    ['in another way', 'deflate', deflateSync('x')],
    ['twice', 'gzip, gzip', gzipSync(gzipSync('x'))],
    ['not at all', 'gzip', Buffer.from('<html>not packed</html>')],
    ['with a little behind it', 'gzip', Buffer.concat([gzipSync('x'), Buffer.alloc(1)])],
    ['with much behind it', 'gzip', Buffer.concat([gzipSync('x'), Buffer.alloc(200_000)])],
    ['with a wrong checksum', 'gzip', corrupted(gzipSync('some text, some text'))],
  ])('%s fails with bad_encoding', async (_, encoding, packed) => {
    const headers = { 'content-encoding': encoding };
    const url = await serveHttp((_request, response) => response.writeHead(200, headers).end(packed));
    expect(await codeOf(outbound().get(url))).toBe('bad_encoding');
  });
});

describe('an oversized response', () => {
  it('is rejected at one byte more than allowed', async () => {
    const url = await serveHttp((_, response) => response.end('12345'));
    expect((await outbound().get(url, { maxBytes: 5 })).body).toHaveLength(5);
    expect(await codeOf(outbound().get(url, { maxBytes: 4 }))).toBe('too_large');
  });

  it('is aborted while the server still sends', async () => {
    const dropped = vi.fn();
    const url = await serveHttp((_, response) => {
      const more = () => response.write(Buffer.alloc(65_536));
      response.on('drain', more).on('close', dropped);
      while (more());
    });
    expect(await codeOf(outbound().get(url, { maxBytes: 100_000 }))).toBe('too_large');
    await vi.waitFor(() => expect(dropped).toHaveBeenCalled());
  });

  it('is aborted early for a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const url = await serveHttp((_, response) => response.writeHead(200, GZIP).end(bomb));
    const before = process.memoryUsage().arrayBuffers;
    expect(await codeOf(outbound().get(url, { maxBytes: 1_000_000 }))).toBe('too_large');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  it('is aborted when it decompresses endlessly to nothing', async () => {
    const nothing = Buffer.concat(Array.from({ length: 5_000 }, () => gzipSync('')));
    const url = await serveHttp((_, response) => response.writeHead(200, GZIP).end(nothing));
    expect(await codeOf(outbound().get(url, { maxBytes: 10_000 }))).toBe('too_large');
  });

  it('may be oversized by its headers', async () => {
    const url = await serveBytes((socket) => socket.end(`${HEAD}X: ${'x'.repeat(100_000)}\r\n\r\n`));
    expect(await codeOf(outbound().get(url))).toBe('too_large');
  });
});

describe('a truncated response', () => {
  const half = gzipSync(randomBytes(5_000)).subarray(0, 2_500);
  it.each([
    ['before its headers', ''],
    ['within its headers', `${HEAD}Content-Le`],
    ['before its Content-Length', `${HEAD}Content-Length: 10\r\n\r\nhalf`],
    ['within a chunk', `${HEAD}Transfer-Encoding: chunked\r\n\r\na\r\nhalf`],
    ['between two chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n`],
    ['within gzip, though HTTP is content', [`${HEAD}Content-Encoding: gzip\r\n\r\n`, half]],
    ['within gzip with its length', [`${HEAD}Content-Encoding: gzip\r\nContent-Length: 9999\r\n\r\n`, half]],
    [
      'between two gzip members',
      [`${HEAD}Content-Encoding: gzip\r\nContent-Length: 9999\r\n\r\n`, gzipSync('member')],
    ],
  ])('fails with broken_transfer: %s', async (_, parts) => {
    const bytes = Buffer.concat([parts].flat().map((part) => Buffer.from(part)));
    const url = await serveBytes((socket) => socket.end(bytes));
    expect(await codeOf(outbound().get(url))).toBe('broken_transfer');
  });

  it('after a connection reset fails with broken_transfer', async () => {
    const url = await serveBytes((socket) =>
      socket.write(`${HEAD}Content-Length: 10\r\n\r\nhalf`, () => socket.resetAndDestroy()),
    );
    expect(await codeOf(outbound().get(url))).toBe('broken_transfer');
  });

  it.each([
    'SSH-2.0-OpenSSH\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    '\u0000\u0001',
  ])('that is not HTTP fails with broken_transfer, and is not quoted: %j', async (bytes) => {
    const url = await serveBytes((socket) => socket.end(bytes));
    const failure = await failureOf(outbound().get(url));
    expect([failure.code, failure.cause, Object.keys(failure)]).toEqual([
      'broken_transfer',
      undefined,
      ['name', 'code', 'reason', 'host'],
    ]);
  });
});

describe('the timeout', () => {
  const soon = { timeoutMs: 150 };

  it.each<[string, (socket: Socket) => void]>([
    ['never answers', () => {}],
    ['stops within its headers', (socket) => socket.write(HEAD)],
    ['stops within its body', (socket) => socket.write(`${HEAD}Content-Length: 10\r\n\r\nhalf`)],
    [
      'stops within gzip',
      (socket) =>
        socket.write(
          Buffer.concat([
            Buffer.from(`${HEAD}Content-Encoding: gzip\r\n\r\n`),
            gzipSync('x').subarray(0, 12),
          ]),
        ),
    ],
    ['sends interim answers for ever', (socket) => dripping(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['drips its headers', (socket) => dripping(socket, 'H', HEAD)],
    ['drips its body', (socket) => dripping(socket, '.', `${HEAD}\r\n`)],
  ])('aborts a server that %s', async (_, answer) => {
    const url = await serveBytes(answer);
    const { code, message } = await failureOf(outbound().get(url, soon));
    expect([code, message]).toEqual(['timeout', `${new URL(url).host}: no complete answer in time`]);
  });

  it('covers all redirects', async () => {
    let late = 0;
    const url = await serveHttp((_, response) => {
      setTimeout(() => response.writeHead(302, { location: `/${late++}` }).end(), 60);
    });
    expect(await codeOf(outbound().get(url, soon))).toBe('timeout');
  });

  it("can be preempted by the caller's signal, before or during the request", async () => {
    const caller = new AbortController();
    const url = await serveBytes(() => caller.abort());
    const { get } = outbound();
    expect(await codeOf(get(url, { signal: caller.signal }))).toBe('aborted');
    expect(await codeOf(get(url, { signal: caller.signal }))).toBe('aborted');
  });

  it('is preempted by close(), also for later requests', async () => {
    const opened = outbound();
    const url = await serveBytes(() => void opened.close());
    expect(await codeOf(opened.get(url))).toBe('aborted');
    expect(await codeOf(opened.get(url))).toBe('aborted');
  });
});

/** Flips a bit of the CRC-32 in the trailer. */
function corrupted(packed: Buffer): Buffer {
  const at = packed.length - 8;
  packed.writeUInt8(packed.readUInt8(at) ^ 1, at);
  return packed;
}

function dripping(socket: Socket, drop: string, start = ''): void {
  socket.write(start);
  const drip = setInterval(() => socket.write(drop), 20);
  socket.on('close', () => clearInterval(drip));
}
