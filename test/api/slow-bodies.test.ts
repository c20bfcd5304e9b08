import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Browser, signedIn } from '../app/browser.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const SLOW = { intervalMs: 100, minBytes: 200 };
const CSV = `type,value\n${Array.from({ length: 200 }, (_, i) => `DOMAIN,slow${i}.test-feed.net\n`).join('')}`;

onEveryEngine((engine) => {
  let tipline: Harness;
  let port: number;
  let uploads: string;
  let analyst: Browser;

  beforeEach(async () => {
    uploads = temporaryDirectory();
    tipline = await startHarness(engine, { slowBodies: SLOW, uploadDirectory: uploads });
    analyst = await signedIn(tipline, 'analyst');
    port = Number(new URL(await tipline.app.listen({ port: 0, host: '127.0.0.1' })).port);
  });
  afterEach(() => tipline.close());

  /** Sends a head, then `bytes` of the body every `ms`, until it is all sent or the connection ends. @returns what came back */
  const send = (head: string, body: string, { bytes, ms }: { bytes: number; ms: number }) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let [sent, answer] = [0, ''];
      const timer = setInterval(() => {
        if (sent >= body.length) return clearInterval(timer);
        socket.write(body.slice(sent, sent + bytes));
        sent += bytes;
      }, ms);
      socket.write(
        `${head}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      socket.on('data', (data) => (answer += data));
      // What is still written then meets a closed connection.
      socket.on('error', (error: NodeJS.ErrnoException) =>
        ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? undefined : reject(error),
      );
      socket.on('close', () => {
        clearInterval(timer);
        resolve(answer);
      });
    });

  const importHead = () =>
    `POST /app/imports?fileName=slow.csv&source=Slow&dryRun=false HTTP/1.1\r\nContent-Type: application/octet-stream\r\n` +
    `Sec-Fetch-Site: same-origin\r\nCookie: ${[...analyst.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}`;

  it('aborts a slow sign-in body with 408', async () => {
    const head =
      'POST /app/sign-in HTTP/1.1\r\nContent-Type: application/json\r\nSec-Fetch-Site: same-origin';
    const answer = await send(head, JSON.stringify({ email: 'a@example.org', password: 'x'.repeat(400) }), {
      bytes: 1,
      ms: 20,
    });
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toContain('"code":"request_timeout"');
  });

  it('aborts the body of a request that was already answered', async () => {
    const answer = await send('GET /api/health HTTP/1.1', 'x'.repeat(5_000), { bytes: 1, ms: 20 });
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('aborts a slow upload with 408, and leaves no files or rows behind', async () => {
    const answer = await send(importHead(), CSV, { bytes: 1, ms: 20 });
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    await expect.poll(() => readdirSync(uploads)).toEqual([]);
    expect(await tipline.db.selectFrom('import_run').select('id').execute()).toEqual([]);
  });

  it('accepts a steady upload, however long it takes', async () => {
    const answer = await send(importHead(), CSV, { bytes: 150, ms: 20 });
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});
