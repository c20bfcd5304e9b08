import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { outbound, serveBytes, serveHttp } from './local-servers.ts';
import { codeOf, failureOf } from './test-outbound.ts';

const LIMITS = { maxBytes: 5_000_000, timeoutMs: 10_000 };

describe('a download', () => {
  it('is a file of the decoded body with mode 0600, until it is disposed of', async () => {
    const bytes = randomBytes(3_000_000);
    const headers = { 'content-encoding': 'gzip', etag: '"1"' };
    const url = await serveHttp((_, response) => response.writeHead(200, headers).end(gzipSync(bytes)));
    const directory = temporaryDirectory();
    const download = await outbound().download({ url, ...LIMITS }, directory);
    const path = download.file?.path ?? '';
    expect(download).toMatchObject({ status: 200, headers: { etag: '"1"' }, url: `${url}/` });
    expect(download.file).toMatchObject({
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await download.dispose();
    await download.dispose();
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each([304, 403, 404, 500, 503])(
    'with status %s has no file, and does not wait for the body',
    async (status) => {
      const url = await serveHttp((_, response) => {
        response.writeHead(status).write('never ends');
        if (status === 304) response.end();
      });
      const directory = temporaryDirectory();
      const download = await outbound().download({ url, ...LIMITS }, directory);
      expect([download.status, download.file]).toEqual([status, null]);
      await download.dispose();
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it('of an empty body is an empty file', async () => {
    const url = await serveHttp((_, response) => response.end());
    const download = await outbound().download({ url, ...LIMITS }, temporaryDirectory());
    expect(download.file?.bytes).toBe(0);
  });

  it.each([
    ['too_large', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(200_000)}`, { maxBytes: 100_000 }],
    ['broken_transfer', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', {}],
    ['bad_encoding', 'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nx', {}],
  ])('that fails leaves no file behind: %s', async (code, answer, limits) => {
    const url = await serveBytes((socket) => socket.end(answer));
    const directory = temporaryDirectory();
    expect(await codeOf(outbound().download({ url, ...LIMITS, ...limits }, directory))).toBe(code);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('that stalls leaves no file behind', async () => {
    const url = await serveBytes((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
    );
    const directory = temporaryDirectory();
    expect(await codeOf(outbound().download({ url, ...LIMITS, timeoutMs: 100 }, directory))).toBe('timeout');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('to an unwritable directory fails without naming the path', async () => {
    const url = await serveHttp((_, response) => response.end('x'));
    const directory = join(temporaryDirectory(), 'missing');
    const failure = await failureOf(outbound().download({ url, ...LIMITS }, directory));
    expect([failure.code, failure.reason]).toEqual(['not_stored', 'the file system refuses (ENOENT)']);
  });
});
