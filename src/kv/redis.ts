import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible';
import { createClient, createCluster } from 'redis';
import type { KeyValueStore } from './kv.ts';
import { limiters } from './limiters.ts';

/** A store that takes longer is as good as down: a request must not wait for it. */
const ANSWER_MS = 500;

/**
 * Redis or Valkey, a single server or (found out by asking it) a cluster. Never throws for a store that is down:
 * it connects when it can, and until then each node counts on its own.
 */
export async function redisStore(url: string, onError: (error: Error) => void): Promise<KeyValueStore> {
  const client = await connect(url, onError);
  const consume = limiters(({ points, windowSeconds }) => {
    const limiter = new RateLimiterRedis({
      storeClient: client,
      useRedisPackage: true,
      keyPrefix: 'tipline:rate',
      points,
      duration: windowSeconds,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory({ points, duration: windowSeconds }),
    });
    return new RLWrapperTimeouts({ limiter, timeoutMs: ANSWER_MS });
  });
  return {
    kind: 'redis',
    consume,
    async ping() {
      // A cluster has no PING of its own; this asks the node that holds the key.
      await client.get('tipline:ping');
    },
    async close() {
      client.destroy();
    },
  };
}

async function connect(url: string, onError: (error: Error) => void) {
  const reconnectStrategy = (retries: number) => Math.min(100 * 2 ** Math.min(retries, 5), 2_000);
  const options = { socket: { connectTimeout: 2_000, reconnectStrategy }, disableOfflineQueue: true };
  const client = createClient({ url, ...options });
  client.on('error', onError);
  const connected = client.connect();
  connected.catch(onError);
  await Promise.race([connected, new Promise((done) => setTimeout(done, 2_000).unref())]);
  if (!client.isReady) return client;
  const info = await client.info('cluster');
  if (!info.includes('cluster_enabled:1')) return client;
  const { username, password } = new URL(url);
  const cluster = createCluster({
    rootNodes: [{ url }],
    defaults: {
      ...options,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
  });
  cluster.on('error', onError);
  await cluster.connect();
  client.destroy();
  return cluster;
}
