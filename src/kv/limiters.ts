import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { KeyValueStore, RateLimit } from './kv.ts';

type Limiter = Pick<RateLimiterAbstract, 'consume' | 'get' | 'reward'>;
export type Counts = Pick<KeyValueStore, 'consume' | 'giveBack' | 'used'>;

/** Keeps one limiter for each limit asked for, and tells both of its outcomes alike. */
export function limiters(make: (limit: RateLimit) => Limiter): Counts {
  const made = new Map<string, Limiter>();
  const limiterOf = (limit: RateLimit): Limiter => {
    const name = `${limit.points}/${limit.windowSeconds}`;
    const limiter = made.get(name) ?? make(limit);
    made.set(name, limiter);
    return limiter;
  };
  return {
    async consume(key, limit) {
      try {
        return told(await limiterOf(limit).consume(key));
      } catch (rejection) {
        // The library rejects with the same kind of result when the limit is spent, with an Error when it failed.
        if (rejection instanceof RateLimiterRes) return told(rejection);
        throw rejection;
      }
    },
    async giveBack(key, limit) {
      await limiterOf(limit).reward(key, 1);
    },
    used: async (key, limit) => (await limiterOf(limit).get(key))?.consumedPoints ?? 0,
  };
}

function told({ consumedPoints, msBeforeNext }: RateLimiterRes) {
  return { consumed: consumedPoints, msBeforeNext: Math.max(0, msBeforeNext) };
}
