import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { type BatchedCounter, batchedCounter } from './batched-counter.ts';
import type { Consumed, RateLimit, RateLimitStats, RateLimitStore } from './store.ts';

export type Limiter = Pick<RateLimiterAbstract, 'consume' | 'get' | 'reward'>;
export type Counts = Pick<RateLimitStore, 'consume' | 'refund' | 'usage'>;

/**
 * Creates one limiter for each limit, and returns accepted and rejected requests in the same form. Requests
 * that arrive while it is asked are counted together.
 */
export function limiters(
  make: (limit: RateLimit) => Limiter,
  stats: Pick<RateLimitStats, 'leased' | 'asked'>,
): Counts {
  const made = new Map<string, { limiter: Limiter } & BatchedCounter>();
  const of = (rateLimit: RateLimit) => {
    const { limit, windowSeconds, mayLease = false } = rateLimit;
    const name = `${limit}/${windowSeconds}/${mayLease}`;
    const known = made.get(name);
    if (known) return known;
    const limiter = make(rateLimit);
    const count = (key: string, many: number) => {
      stats.asked++;
      return counted(limiter, key, many, windowSeconds * 1000);
    };
    const onLeased = () => {
      stats.leased++;
    };
    const fresh = { limiter, ...batchedCounter(count, mayLease ? { limit, onLeased } : undefined) };
    made.set(name, fresh);
    return fresh;
  };
  return {
    consume: (key, limit) => of(limit).count(key),
    async refund(key, limit) {
      await of(limit).limiter.reward(key, 1);
    },
    usage: async (key, limit) => (await of(limit).limiter.get(key))?.consumedPoints ?? 0,
  };
}

async function counted(limiter: Limiter, key: string, points: number, windowMs: number): Promise<Consumed> {
  try {
    return told(await limiter.consume(key, points), windowMs);
  } catch (rejection) {
    // The library rejects with the same kind of result when the limit is spent, with an Error when it failed.
    if (rejection instanceof RateLimiterRes) return told(rejection, windowMs);
    throw rejection;
  }
}

/** The rest of a window is its length at most: after the clock of this machine is set back, the memory states more. */
function told({ consumedPoints, msBeforeNext }: RateLimiterRes, windowMs: number): Consumed {
  return { consumed: consumedPoints, msBeforeNext: Math.min(Math.max(0, msBeforeNext), windowMs) };
}
