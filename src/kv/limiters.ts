import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Consumed, RateLimit } from './kv.ts';

/** Keeps one limiter for each limit asked for, and tells both of its outcomes alike. */
export function limiters(
  make: (limit: RateLimit) => Pick<RateLimiterAbstract, 'consume'>,
): (key: string, limit: RateLimit) => Promise<Consumed> {
  const made = new Map<string, Pick<RateLimiterAbstract, 'consume'>>();
  return async (key, limit) => {
    const name = `${limit.points}/${limit.windowSeconds}`;
    const limiter = made.get(name) ?? make(limit);
    made.set(name, limiter);
    try {
      return told(await limiter.consume(key));
    } catch (rejection) {
      // The library rejects with the same kind of result when the limit is spent, with an Error when it failed.
      if (rejection instanceof RateLimiterRes) return told(rejection);
      throw rejection;
    }
  };
}

function told({ consumedPoints, msBeforeNext }: RateLimiterRes): Consumed {
  return { consumed: consumedPoints, msBeforeNext: Math.max(0, msBeforeNext) };
}
