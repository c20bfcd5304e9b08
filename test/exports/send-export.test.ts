import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import accepts from '@fastify/accepts';
import fastify from 'fastify';
import { afterEach, expect, it } from 'vitest';
import type { Exporter, ExportRequest } from '../../src/exports/exports.service.ts';
import { sendExport } from '../../src/exports/send-export.ts';
import { openSpool } from '../../src/exports/spool.ts';
import { temporaryDirectory } from '../support/directories.ts';

const CONTENT = 'a.example\n'.repeat(600);
const WANTED = {
  format: { mediaType: 'text/plain', extension: 'txt' },
  fileName: 'indicators',
  selection: { principal: {}, filters: {} },
} as unknown as ExportRequest;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** The address of an export that is complete or dropped when its cursor is computed, or complete only later, or never. */
async function served(atCursor: 'complete' | 'dropped' | 'incomplete' | 'failing') {
  const spool = openSpool(temporaryDirectory(), 1024 * 1024);
  let isWritten = false;
  let cursors = 0;
  let finish = () => {};
  const newBody = () => {
    const finished = new Promise<void>((resolve) => (finish = resolve));
    return spool.fill(
      (async function* () {
        yield CONTENT;
        await finished;
        if (atCursor === 'failing') throw new Error('The database is gone.');
        isWritten = true;
      })(),
      () => {},
    );
  };
  let body = newBody();
  const exporter: Exporter = {
    publicAddress: null,
    async prepare() {
      if (body.failed) body = newBody();
      const skipped = () => (isWritten ? { length: 3 } : null);
      const parts = () => (isWritten ? 0 : null);
      return {
        tag: 'a',
        total: 603,
        skipped,
        whitelistedParts: parts,
        revisionId: { revision: 1, token: 'a' },
        asOf: new Date(0),
        body,
      };
    },
  };
  const feed = {
    async cursorAfter() {
      if (atCursor === 'dropped' && cursors === 0) spool.drop(body);
      if (atCursor === 'dropped' || atCursor === 'complete') finish();
      if (atCursor === 'complete') await text(body.file('identity').copy());
      return `cursor ${cursors++}`;
    },
  };
  const app = fastify();
  app.register(accepts);
  // The headers are written by then, or wait for it.
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.httpVersion === '1.0') setTimeout(() => finish(), 50);
  });
  if (atCursor === 'incomplete') app.addHook('onSend', async () => void setImmediate(() => finish()));
  app.get('/export', (request, reply) => sendExport(request, reply, exporter, WANTED, feed));
  closing.push(
    () => app.close(),
    () => spool.close(),
  );
  return app.listen({ port: 0, host: '127.0.0.1' });
}

async function sent(atCursor: Parameters<typeof served>[0]) {
  return fetch(`${await served(atCursor)}/export`, { headers: { 'accept-encoding': 'identity' } });
}

/** Returns head and body of the response to a client of HTTP/1.0. */
async function sentWithoutChunks(atCursor: Parameters<typeof served>[0]) {
  const { hostname, port } = new URL(await served(atCursor));
  const socket = connect(Number(port), hostname);
  socket.write('GET /export HTTP/1.0\r\n\r\n');
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { head: head.toLowerCase().split('\r\n'), body };
}

it('an export that is complete before its headers are sent has a length and no trailer', async () => {
  const response = await sent('complete');
  expect(await response.text()).toBe(CONTENT);
  expect(response.headers.get('content-length')).toBe(String(CONTENT.length));
  expect(response.headers.get('transfer-encoding')).toBeNull();
  expect(response.headers.get('trailer')).toBeNull();
  expect(response.headers.get('x-skipped')).toBe('3;length=3');
});

it('an export that is incomplete when its headers are sent has a trailer and no length', async () => {
  const response = await sent('incomplete');
  expect(await response.text()).toBe(CONTENT);
  expect(response.headers.get('content-length')).toBeNull();
  expect(response.headers.get('trailer')).toBe('x-skipped');
  expect(response.headers.get('x-skipped')).toBeNull();
});

it('an export that is dropped before its headers are sent is prepared again', async () => {
  const response = await sent('dropped');
  expect(await response.text()).toBe(CONTENT);
  expect(response.headers.get('x-change-cursor')).toBe('cursor 1');
});

it('an export over HTTP/1.0 is sent once it is complete, so that its length shows whether the transfer broke off', async () => {
  const { head, body } = await sentWithoutChunks('incomplete');
  expect(body).toBe(CONTENT);
  expect(head).toContain(`content-length: ${CONTENT.length}`);
  expect(head).toContain('x-skipped: 3;length=3');
});

it('an export over HTTP/1.0 that fails is an error', async () => {
  const { head, body } = await sentWithoutChunks('failing');
  expect(head[0]).toContain(' 503 ');
  expect(body).not.toContain('a.example');
});
