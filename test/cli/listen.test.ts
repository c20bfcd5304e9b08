import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { listen, listenDirectly } from '../../src/cli/server-process.ts';

it('HOST=localhost listens with one server, which has all limits', async () => {
  const app = Fastify();
  const address = await listen(app, { host: 'localhost', port: 0, setting: 'PORT' });
  const addresses = app.addresses().map((one) => (one as AddressInfo).address);
  await app.close();
  expect(address).toMatch(/^http:\/\/localhost:\d+$/);
  expect(addresses).toEqual(['127.0.0.1']);
});

it('names the setting of a port that is in use', async () => {
  const other = createServer();
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  const failed = listenDirectly(createServer(), { host: '127.0.0.1', port, setting: 'REDIRECT_PORT' });
  await expect(failed).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use already. Choose another with REDIRECT_PORT.`,
  );
  other.close();
});
