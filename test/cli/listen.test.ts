import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { listen } from '../../src/cli/server-process.ts';

it('HOST=localhost listens with one server, which has all limits', async () => {
  const app = Fastify();
  const address = await listen(app, { host: 'localhost', port: 0, setting: 'PORT' });
  const addresses = app.addresses().map((one) => (one as AddressInfo).address);
  await app.close();
  expect(address).toMatch(/^http:\/\/localhost:\d+$/);
  expect(addresses).toEqual(['127.0.0.1']);
});
