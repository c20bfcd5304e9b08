import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { drainConnections } from '../../src/http/connections.ts';

const BODY = Buffer.alloc(20_000_000, 'x');

it('a completed response is sent in full to a slow reader before the server closes', async () => {
  let ended = () => {};
  const answered = new Promise<void>((resolve) => (ended = resolve));
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': BODY.length });
    response.end(BODY);
    ended();
  });
  drainConnections(server);
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  client.pause();
  await answered;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  let got = 0;
  client.on('data', (bytes) => (got += bytes.length)).resume();
  // It is closed by the server, once all is sent.
  await new Promise((resolve) => client.once('close', resolve));
  await closed;
  clearInterval(idle);
  expect(got).toBeGreaterThan(BODY.length);
});
