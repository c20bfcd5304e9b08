import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { redisStore } from '../../src/rate-limit/redis.ts';
import { freePort, startRedis, stop } from '../support/servers.ts';

/** A cluster of one node that holds every slot: it answers as a cluster does. */
async function startCluster(port: number, directory: string) {
  const server = await startRedis(port, ['--cluster-enabled', 'yes', '--dir', directory]);
  onTestFinished(async () => {
    await stop(server?.process, 'SIGTERM');
    rmSync(directory, { recursive: true });
  });
  const client = await createClient({ url: server?.url ?? '' }).connect();
  await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
  const isWhole = async () =>
    String(await client.sendCommand(['CLUSTER', 'INFO'])).includes('cluster_state:ok');
  await vi.waitUntil(isWhole, { timeout: 20_000 });
  client.destroy();
}

/** Forwards connections to a port; the first one breaks when it is to forward a text. */
async function breakAtFirst(text: string, port: number) {
  let [isBroken, asked] = [false, 0];
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1');
    client.on('data', (data) => {
      asked++;
      if (isBroken || !data.includes(text)) return void redis.write(data);
      isBroken = true;
      client.destroy();
    });
    redis.on('data', (data) => client.write(data));
    client.on('error', () => {}).on('close', () => redis.destroy());
    redis.on('error', () => {}).on('close', () => client.destroy());
  });
  const own = await freePort();
  await new Promise<void>((done) => server.listen(own, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { port: own, asked: () => asked };
}

describe.skipIf(inject('redisUrl') === null)('a Redis cluster', () => {
  it('is detected even if it starts later, and then counts for all nodes', {
    tags: ['nightly'],
  }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tipline-test-'));
    const port = await freePort();
    const url = `redis://127.0.0.1:${port}`;
    const stores = [await redisStore(url, () => {}), await redisStore(url, () => {})];
    const limit = { limit: 100, windowSeconds: 60 };
    for (const store of stores) {
      expect((await store.consume('early', limit)).consumed).toBe(1);
      // Nobody else answers: what this node has counted itself.
      expect(await store.usage('early', limit)).toBe(1);
    }
    await startCluster(port, directory);
    await vi.waitUntil(
      () =>
        Promise.all(stores.map((store) => store.ping())).then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    );
    // On a busy machine the cluster may be late for a request, which then counts on its node alone.
    let attempts = 0;
    await vi.waitFor(
      async () => {
        const key = `late ${++attempts}`;
        const counts = [];
        for (const store of [...stores, ...stores]) counts.push((await store.consume(key, limit)).consumed);
        expect(counts).toEqual([1, 2, 3, 4]);
        expect(await Promise.all(stores.map((store) => store.usage(key, limit)))).toEqual([4, 4]);
      },
      { timeout: 60_000 },
    );
    expect(await stores[0]?.usage('never', limit)).toBe(0);
    for (const store of stores) await store.close();
  });

  it('is detected with the next connection if the first one breaks before the answer', async () => {
    const port = await freePort();
    await startCluster(port, mkdtempSync(join(tmpdir(), 'tipline-test-')));
    // The question for the mode, not the greeting.
    const entry = await breakAtFirst('*1\r\n$5\r\nHELLO', port);
    const store = await redisStore(`redis://127.0.0.1:${entry.port}`, () => {});
    onTestFinished(() => store.close());
    // The client of a cluster asks the node that has the key, at the address that the cluster states.
    const isDirect = async () => {
      const before = entry.asked();
      return store.ping().then(
        () => entry.asked() === before,
        () => false,
      );
    };
    await vi.waitUntil(isDirect, { timeout: 20_000 });
  });

  it('is detected by a user without the dangerous commands', async () => {
    const port = await freePort();
    await startCluster(port, mkdtempSync(join(tmpdir(), 'tipline-test-')));
    const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
    onTestFinished(() => client.destroy());
    await client.sendCommand([
      'ACL',
      'SETUSER',
      'tipline',
      'on',
      '>secret',
      '~tipline:*',
      '+@all',
      '-@dangerous',
    ]);
    const entry = await breakAtFirst('never', port);
    const errors: string[] = [];
    const store = await redisStore(`redis://tipline:secret@127.0.0.1:${entry.port}`, ({ message }) => {
      errors.push(message);
    });
    onTestFinished(() => store.close());
    const before = entry.asked();
    await store.ping();
    expect({ errors, isDirect: entry.asked() === before }).toEqual({ errors: [], isDirect: true });
  });
});
