import { setTimeout as delay } from 'node:timers/promises';
import { createClient, createCluster } from '@redis/client';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { type Counts, type Limiter, limiters } from './limiters.ts';
import { withLocalFallback } from './memory.ts';
import type { RateLimit, RateLimitStats, RateLimitStore } from './store.ts';
import { throttled } from './throttled.ts';

/** A store that takes longer counts as down: a request must not wait for it. */
const ANSWER_MS = 500;
const STEP_MS = 50;
const CONNECT_MS = 2_000;
/**
 * A connection is asked so long after the last such answer, and given up after so long a silence: a server that hangs, or whose
 * machine is gone, does not end it. The client of a cluster asks for the new master only once a connection ends.
 */
const ASK_ALIVE_MS = 2_000;
const SILENCE_MS = 5_000;
/** While requests are counted in memory alone, the reason is reported no more often; neither is the same error of a connection. */
const REPORT_MS = 30_000;
/**
 * A SET that never sets: a replica, and a server whose memory is full, reject it like every write, although they
 * respond to reads.
 */
export const WRITES_NOTHING = { condition: 'XX' } as const;

/**
 * Opens Redis or Valkey, a single server or a cluster, which is detected once it answers. Never throws for a
 * store that is down: it connects when it can, and until then each node counts on its own.
 */
export async function redisStore(url: string, onEachError: (error: Error) => void): Promise<RateLimitStore> {
  const onError = unlessRepeated(onEachError);
  const single = newClient(url, onError);
  let client: Client = single;
  const stats = { leased: 0, asked: 0, unanswered: 0 };
  const onUnanswered = throttled(onError, REPORT_MS);
  const own = new Map<string, RateLimiterMemory>();
  const ownOf = ({ limit, windowSeconds }: RateLimit) => {
    const name = `${limit}/${windowSeconds}`;
    const limiter = own.get(name) ?? new RateLimiterMemory({ points: limit, duration: windowSeconds });
    own.set(name, limiter);
    return limiter;
  };
  let limits = limitsOn(client, ownOf, stats, onUnanswered);
  const askInTime = onlyInTime<'ping'>();
  let closed = false;
  const settle = async (): Promise<void> => {
    // Users without Redis's dangerous commands may not send INFO.
    const { mode } = await single.hello();
    if (mode !== 'cluster') return;
    while (!closed && client === single) {
      const cluster = newCluster(url, onError);
      try {
        await inTime(cluster.connect(), CONNECT_MS);
        client = cluster;
        limits = limitsOn(cluster, ownOf, stats, onUnanswered);
        single.destroy();
      } catch (error) {
        onError(error as Error);
        cluster.destroy();
        await delay(CONNECT_MS, undefined, { ref: false });
      }
    }
  };
  let isSettling = false;
  const settled = new Promise<void>((done) => {
    // With each connection: the one before may have broken before the answer, or been to another kind of server.
    single.on('ready', async () => {
      if (isSettling) return;
      isSettling = true;
      await settle().catch(onError);
      isSettling = false;
      done();
    });
  });
  single.connect().catch(onError);
  await Promise.race([settled, delay(CONNECT_MS, undefined, { ref: false })]);
  return {
    kind: 'redis',
    stats,
    consume: (key, limit) => limits.consume(key, limit),
    refund: (key, limit) => limits.refund(key, limit),
    usage: (key, limit) => limits.usage(key, limit),
    async ping() {
      // A cluster has no PING of its own; this asks the node that holds the key.
      await askInTime('ping', () => client.set('tipline:ping', '', WRITES_NOTHING));
    },
    async close() {
      closed = true;
      client.destroy();
    },
  };
}

/** Of a user that may not send PING, each is rejected, although the server answers. */
function unlessRepeated(report: (error: Error) => void): (error: Error) => void {
  let last = { message: '', until: 0 };
  return (error) => {
    const now = performance.now();
    if (error.message === last.message && now < last.until) return;
    last = { message: error.message, until: now + REPORT_MS };
    report(error);
  };
}

type Client = ReturnType<typeof newClient> | ReturnType<typeof newCluster>;

/** @param ownOf returns this node's own counter of a limit, which survives a change of the client */
function limitsOn(
  client: Client,
  ownOf: (limit: RateLimit) => RateLimiterMemory,
  stats: RateLimitStats,
  onError: (error: Error) => void,
): Counts {
  return limiters((rateLimit) => {
    const { limit, windowSeconds } = rateLimit;
    const shared = new RateLimiterRedis({
      storeClient: client,
      useRedisPackage: true,
      // With another window after a change of the settings, a counter must not wait for the old one to end.
      keyPrefix: `tipline:rate:${windowSeconds}`,
      points: limit,
      duration: windowSeconds,
      rejectIfRedisNotReady: true,
    });
    const onUnanswered = (error: Error) => {
      stats.unanswered++;
      onError(error);
    };
    return withLocalFallback(inTimeOnly(shared), ownOf(rateLimit), onUnanswered);
  }, stats);
}

const LATE = 'the key-value store does not answer in time';

/**
 * Returns a function that makes calls fail when they take too long, and at once while an earlier one for the key is late: a store that
 * hangs executes late calls when it goes on, and would count all requests of its outage in one window. Each call that is sent also
 * prolongs the time in which its connection may be silent.
 */
function onlyInTime<Key>() {
  const late = new Set<Key>();
  return <T>(key: Key, call: () => Promise<T>): Promise<T> => {
    if (late.has(key)) return Promise.reject(new Error(LATE));
    const answer = call();
    return inTime(answer, ANSWER_MS, () => {
      late.add(key);
      const forget = () => void late.delete(key);
      answer.then(forget, forget);
    });
  };
}

function inTimeOnly(limiter: Limiter): Limiter {
  const ask = onlyInTime<string | number>();
  return {
    consume: (key, many) => ask(key, () => limiter.consume(key, many)),
    reward: (key, points) => ask(key, () => limiter.reward(key, points)),
    get: (key) => ask(key, () => limiter.get(key)),
  };
}

/**
 * Resolves to the answer unless it takes too long. The time is counted in steps: a stall of this process,
 * after which the answer may be waiting to be read, is one step and does not count against the store.
 */
function inTime<T>(answer: Promise<T>, limitMs: number, onLate: () => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    let steps = limitMs / STEP_MS;
    const timer = setInterval(() => {
      if (--steps > 0) return;
      clearInterval(timer);
      onLate();
      reject(new Error(LATE));
    }, STEP_MS);
    answer.then(resolve, reject).finally(() => clearInterval(timer));
  });
}

function socketOptions() {
  const reconnectStrategy = (retries: number) => Math.min(100 * 2 ** Math.min(retries, 5), 2_000);
  return { connectTimeout: CONNECT_MS, socketTimeout: SILENCE_MS, reconnectStrategy };
}

/** The library's time limit costs a timer and a signal for each command; `inTime` replaces it. */
const COMMANDS = { disableOfflineQueue: true, commandOptions: { timeout: 0 }, pingInterval: ASK_ALIVE_MS };

function newClient(url: string, onError: (error: Error) => void) {
  const client = createClient({ url, socket: socketOptions(), ...COMMANDS });
  client.on('error', onError);
  return client;
}

/**
 * The nodes of a cluster announce only addresses, so the credentials and the protocol of the URL apply to all
 * of them.
 */
function newCluster(url: string, onError: (error: Error) => void) {
  const { username, password, protocol } = new URL(url);
  const cluster = createCluster({
    rootNodes: [{ url }],
    defaults: {
      socket: { ...socketOptions(), ...(protocol === 'rediss:' && { tls: true as const }) },
      ...COMMANDS,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
  });
  cluster.on('error', onError);
  return cluster;
}
