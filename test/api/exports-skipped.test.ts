import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

/** More than a batch and a page. */
const COUNT = 600;
const LIST = '/api/v1/exports/txt?style=paloalto&type=URL&';
const SKIPPED = '41;not-for-detection=1;length=10;not-http=30';

onEveryEngine((engine) => {
  let harness: Harness;
  let address: string;
  let key: string;
  beforeAll(async () => {
    harness = await startHarness(engine);
    await harness.load([
      ...Array.from({ length: COUNT }, (_, i) => indicatorRecord('URL', `http://h${i}.example/${i}`)),
      ...Array.from({ length: 30 }, (_, i) => indicatorRecord('URL', `ftp://h${i}.example/`)),
      ...Array.from({ length: 10 }, (_, i) =>
        indicatorRecord('URL', `http://h${i}.example/${'x'.repeat(300)}`),
      ),
      indicatorRecord('URL', 'http://context.example/', { forDetection: false }),
    ]);
    key = await harness.newKey();
    address = await harness.app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => harness.close());

  const send = async (path: string, method = 'GET') => {
    const request = http
      .request(address + path, { method, headers: { authorization: `Bearer ${key}` } })
      .end();
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return { body: await text(response), headers: response.headers, trailers: response.trailers };
  };

  it('an export reports what it leaves out in a trailer while it is written, and in a header once it is complete', async () => {
    const first = await send(`${LIST}minConfidence=1`);
    expect(first.headers).toHaveProperty('x-total-count', '641');
    // The first request may find it complete (test/exports/send-export.test.ts).
    const reported = 'trailer' in first.headers ? first.trailers : first.headers;
    expect(reported).toHaveProperty('x-skipped', SKIPPED);
    expect('x-skipped' in first.headers && 'x-skipped' in first.trailers).toBe(false);
    const second = await send(`${LIST}minConfidence=1`);
    expect(second.headers).toMatchObject({ 'x-total-count': '641', 'x-skipped': SKIPPED });
    expect(second.trailers).toEqual({});
    expect(second.body.trimEnd().split('\n')).toHaveLength(641 - 41);
  });

  it('HEAD of an export tells it only once it is known', async () => {
    const path = `${LIST}minConfidence=2`;
    expect((await send(path, 'HEAD')).headers).not.toHaveProperty('x-skipped');
    await send(path);
    expect((await send(path, 'HEAD')).headers).toHaveProperty('x-skipped', SKIPPED);
  });

  it('formats that leave out types only tell it in a header at once', async () => {
    const { headers, trailers } = await send('/api/v1/exports/ecs?minConfidence=3');
    expect(headers).toHaveProperty('x-skipped', '1;not-for-detection=1');
    expect(trailers).toEqual({});
  });

  it('a client of HTTP/1.0 gets the export without chunks and trailers', async () => {
    const { hostname, port } = new URL(address);
    const socket = net.connect(Number(port), hostname);
    socket.write(`GET ${LIST}minConfidence=4 HTTP/1.0\r\nauthorization: Bearer ${key}\r\n\r\n`);
    const response = await text(socket);
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(head.toLowerCase()).not.toContain('transfer-encoding');
    expect(head.toLowerCase()).not.toContain('trailer');
    expect(body.trimEnd().split('\n')).toHaveLength(641 - 41);
  });
});
