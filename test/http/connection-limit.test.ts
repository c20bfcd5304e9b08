import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { maxConnections } from '../../src/cli/server-process.ts';
import { limitConnections } from '../../src/http/connections.ts';
import { temporaryDirectory } from '../support/directories.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

it('a connection beyond the limit is refused and reported, until another one ends', async () => {
  const server = createServer((_, response) => response.end('served'));
  onTestFinished(() => void server.close().closeAllConnections());
  let refused = 0;
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  limitConnections(server, 2, () => refused++);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  /** Resolves to whether the connection is served. */
  const open = async () => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => {}).write(REQUEST);
    const isServed = await Promise.race([once(client, 'data'), once(client, 'close').then(() => null)]);
    return { client, isServed: isServed !== null };
  };
  const [first, second, third] = [await open(), await open(), await open()];
  expect([first, second, third].map(({ isServed }) => isServed)).toEqual([true, true, false]);
  expect(refused).toBe(1);
  first.client.destroy();
  await once(sockets[0] as Socket, 'close');
  expect((await open()).isServed).toBe(true);
});

it.each([
  ['1048576', 1_047_776],
  ['1024', 512],
  ['unlimited', undefined],
])('of %s files, connections leave enough for the database and exports', async (files, connections) => {
  const file = join(temporaryDirectory(), 'limits');
  await writeFile(
    file,
    `Limit    Soft Limit   Hard Limit   Units\nMax open files   ${files}   ${files}   files\n`,
  );
  expect(await maxConnections(file)).toBe(connections);
});

it('without a limit of files, there is none of connections', async () => {
  expect(await maxConnections(join(temporaryDirectory(), 'missing'))).toBeUndefined();
});
