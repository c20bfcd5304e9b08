import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createClient, createCluster } from 'redis';
import type { KeyValueStore } from './kv.ts';
import { limiters } from './limiters.ts';

/** A store that takes longer is as good as down: a request must not wait for it. */
const ANSWER_MS = 500;
const STEP_MS = 50;

/**
 * Redis or Valkey, a single server or (found out by asking it) a cluster. Never throws for a store that is down:
 * it connects when it can, and until then each node counts on its own.
 */
export async function redisStore(url: string, onError: (error: Error) => void): Promise<KeyValueStore> {
  const client = await connect(url, onError);
  const consume = limiters(({ points, windowSeconds }) => {
    const shared = new RateLimiterRedis({
      storeClient: client,
      useRedisPackage: true,
      keyPrefix: 'tipline:rate',
      points,
      duration: windowSeconds,
      rejectIfRedisNotReady: true,
    });
    const own = new RateLimiterMemory({ points, duration: windowSeconds });
    return {
      consume: (key) =>
        inTime(shared.consume(key)).catch((failure) => {
          // A spent limit is an answer, too.
          if (failure instanceof RateLimiterRes) throw failure;
          return own.consume(key);
        }),
    };
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

/**
 * The answer, unless it takes too long. The time is counted in steps: a stall of this process, after which the
 * answer may lie there unread, is one step and is not held against the store.
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = async () => {
    for (let waited = 0; waited < ANSWER_MS; waited += STEP_MS)
      await delay(STEP_MS, undefined, { signal: stop.signal });
    throw new Error('the key-value store does not answer in time');
  };
  try {
    return await Promise.race([answer, late()]);
  } finally {
    stop.abort();
  }
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
