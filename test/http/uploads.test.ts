import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { requestSerializer } from '../../src/http/logged-request.ts';
import { receiveUpload } from '../../src/imports/uploads.ts';
import { temporaryDirectory } from '../support/directories.ts';

const MAX_BYTES = 100_000;
const serialize = requestSerializer({ trustedProxies: [] });
/** The line of the log, which is written once a response is complete. */
const logged = (raw: IncomingMessage) =>
  serialize({
    method: raw.method,
    url: raw.url,
    socket: raw.socket,
    headers: raw.headers,
    routeOptions: {},
  } as FastifyRequest);

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Sends a body of unknown length. @returns the response, and the line of the log */
async function upload(directory: string, bytes: number) {
  const lines: object[] = [];
  const server = createServer(async (raw, response) => {
    response.once('finish', () => lines.push(logged(raw)));
    const error = await receiveUpload(raw, directory, MAX_BYTES).then(
      () => null,
      (reason) => reason,
    );
    response.writeHead(error ? 413 : 200, { connection: 'close' }).end(error?.message ?? 'stored');
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const sent = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', method: 'POST' });
  // The server may close the connection before the whole body is sent.
  sent.on('error', () => {});
  sent.write(Buffer.alloc(bytes, 'a'));
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return { status: response.statusCode, lines };
}

it('the log has the client address of an upload that is refused midway', async () => {
  const directory = temporaryDirectory();
  const refused = await upload(directory, 10 * MAX_BYTES);
  expect(refused).toEqual({
    status: 413,
    lines: [{ method: 'POST', url: '/', remoteAddress: '127.0.0.1' }],
  });
  expect(readdirSync(directory)).toEqual([]);
});

it('the log has a line for a request whose body was destroyed, which has no socket', () => {
  const request = { method: 'POST', url: '/', headers: {}, routeOptions: {}, socket: null };
  expect(serialize(request as unknown as FastifyRequest)).toEqual({
    method: 'POST',
    url: '/',
    remoteAddress: '',
  });
});
