import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTls, type Tls } from '../../src/http/tls.ts';
import { createJobStats } from '../../src/metrics/state-metrics.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { buildWorkerApp } from '../../src/worker/worker-app.ts';
import { PASSWORD, signedIn } from '../app/browser.ts';
import { selfSigned } from '../support/certificates.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, METRICS_TOKEN, NOW, startHarness } from '../support/harness.ts';
import { handshake, send, type TlsResponse, writeIdentity } from '../support/tls-client.ts';

const LIST = '/api/v1/indicators?pageSize=10';
const own = selfSigned('localhost');
const SLOW = { intervalMs: 100, minBytes: 200 };

function open(): Promise<Tls> {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  return openTls(writeIdentity(own), { clock: () => NOW, log, ticketKeys: () => {} });
}

async function listening(tipline: Harness): Promise<number> {
  return Number(new URL(await tipline.app.listen({ port: 0, host: '127.0.0.1' })).port);
}

onEveryEngine((engine) => {
  let tipline: Harness;
  let port: number;
  let key: string;

  beforeAll(async () => {
    const tls = await open();
    tipline = await startHarness(engine, { tls, hstsDays: 30, slowBodies: SLOW });
    await tipline.load([indicatorRecord('DOMAIN', 'a.example')]);
    key = await tipline.newKey();
    port = await listening(tipline);
  });
  afterAll(() => tipline.close());

  const get = (path: string, headers: Record<string, string> = {}) =>
    send(`https://localhost:${port}${path}`, own.cert, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  const withoutPerResponse = ({ headers, ...rest }: TlsResponse) => {
    const { 'x-request-id': _, 'x-ratelimit-remaining': __, date: ___, ...same } = headers;
    return { ...rest, headers: same };
  };

  describe('with TLS', () => {
    it('a list comes from the cache as it does without', async () => {
      const hits = async () => {
        const { body } = await get('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` });
        return Number(body.match(/^tipline_response_cache_requests_total\{result="hit"\} (\d+)$/m)?.[1] ?? 0);
      };
      const first = await get(LIST);
      // A response is sent again once the node has read the latest revision.
      await vi.waitFor(async () => {
        const before = await hits();
        const cached = await get(LIST);
        expect((await hits()) - before).toBe(1);
        expect(withoutPerResponse(cached)).toEqual(withoutPerResponse(first));
      });
      expect(JSON.parse(first.body)).toMatchObject({ total: 1 });
    });

    it('a response that the client has is a 304', async () => {
      const { headers } = await get(LIST);
      expect((await get(LIST, { 'if-none-match': String(headers.etag) })).status).toBe(304);
    });

    it('responses ask browsers for HTTPS for the configured time, not those of other hosts', async () => {
      const paths = [LIST, LIST, '/api/health', '/api/v1/unknown'];
      for (const path of paths)
        expect((await get(path)).headers['strict-transport-security']).toBe('max-age=2592000');
    });

    it('cookies of a session are for TLS only', async () => {
      await signedIn(tipline, 'analyst');
      const { status, headers } = await send(`https://localhost:${port}/app/sign-in`, own.cert, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ email: 'analyst@example.org', password: PASSWORD }),
      });
      expect(status).toBe(200);
      expect(headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-tipline\.session=.*; Secure/)]);
    });

    it('a slow body is a 408', async () => {
      const socket = await handshake(port, { ca: own.cert });
      socket.write(
        'POST /app/sign-in HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n' +
          'Content-Type: application/json\r\nContent-Length: 400\r\n\r\n',
      );
      const timer = setInterval(() => socket.write('x'), 20);
      let text = '';
      socket.setEncoding('utf8').on('data', (part) => (text += part));
      socket.on('error', () => {});
      await new Promise((closed) => socket.once('close', closed));
      clearInterval(timer);
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
    });

    it('requests of one connection are answered one after the other', async () => {
      const socket = await handshake(port, { ca: own.cert });
      const one = `GET /api/health HTTP/1.1\r\nHost: localhost\r\n`;
      socket.write(`${`${one}\r\n`.repeat(20)}${one}Connection: close\r\n\r\n`);
      let text = '';
      socket.setEncoding('utf8').on('data', (part) => (text += part));
      await new Promise((closed) => socket.once('close', closed));
      expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(21);
    });

    it('reports when the certificate expires', async () => {
      const { body } = await get('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` });
      const seconds = body.match(/^tipline_tls_certificate_expiry_timestamp_seconds (\S+)$/m)?.[1];
      expect(Number(seconds)).toBe(Date.parse('2099-12-31T23:59:59Z') / 1000);
    });
  });

  it('a worker serves its metrics with TLS, too', async () => {
    const tls = await open();
    const worker = await buildWorkerApp({
      database: tipline,
      rateLimits: memoryStore(),
      clock: () => NOW,
      metricsToken: METRICS_TOKEN,
      jobStats: createJobStats(),
      tls,
      stopping: new AbortController().signal,
      logger: pino({ level: 'silent' }),
    });
    const address = await worker.listen({ port: 0, host: '127.0.0.1' });
    const { body } = await send(`${address.replace('127.0.0.1', 'localhost')}/metrics`, own.cert, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}`, connection: 'close' },
    });
    await worker.close();
    await tls.close();
    expect(body).toMatch(/^tipline_tls_certificate_expiry_timestamp_seconds \d+$/m);
  });

  it('without TLS no response asks browsers for HTTPS', async () => {
    const plain = await startHarness(engine);
    for (const path of [LIST, LIST, '/api/health'])
      expect((await plain.get(path)).headers).not.toHaveProperty('strict-transport-security');
    await plain.close();
  });
});
