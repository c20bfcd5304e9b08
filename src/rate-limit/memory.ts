import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type Limiter, limiters } from './limiters.ts';
import type { RateLimitStore } from './store.ts';

export function memoryStore(): RateLimitStore {
  const stats = { leased: 0, asked: 0, unanswered: 0 };
  return {
    kind: 'embedded',
    stats,
    ...limiters(
      ({ limit, windowSeconds }) => new RateLimiterMemory({ points: limit, duration: windowSeconds }),
      stats,
    ),
    ping: async () => {},
    close: async () => {},
  };
}

/** Redis computes the rest of a window from a clock that it caches: the end may be off by milliseconds. */
const CLOCK_ERROR_MS = 100;

/**
 * Counts requests in a shared store and, for the same window, those of this node in memory. The higher count
 * applies: the shared one unless the store has lost its counts or does not answer. A single node
 * therefore never allows more than the limit in a window.
 * @param shared rejects with an Error while the store does not answer
 * @param onUnanswered called with the reason for each request that is counted in memory alone
 */
export function withLocalFallback(
  shared: Limiter,
  own: RateLimiterMemory,
  onUnanswered: (reason: Error) => void = () => {},
): Limiter {
  /** Resolves to null when the store does not answer. */
  const answered = (asked: Promise<RateLimiterRes | null>) => asked.catch(() => null);
  return {
    async consume(key, points) {
      const askedAt = Date.now();
      const counted = await shared.consume(key, points).catch((failure: RateLimiterRes | Error) => failure);
      if (counted instanceof Error) {
        onUnanswered(counted);
        return own.penalty(key, points);
      }
      // The window ends with that of the store, or a moment before it.
      const msLeft = counted.msBeforeNext - (Date.now() - askedAt);
      if (msLeft <= 0) return counted;
      const before = await own.get(key);
      const hasEnded =
        before !== null &&
        before.msBeforeNext <= CLOCK_ERROR_MS &&
        msLeft - before.msBeforeNext > CLOCK_ERROR_MS;
      if (hasEnded) await own.delete(key);
      return higher(counted, await own.penalty(key, points, { customDuration: msLeft / 1000 }));
    },
    async reward(key, points) {
      const [counted, mine] = [await answered(shared.reward(key, points)), await own.get(key)];
      return higher(counted, mine && (await own.reward(key, points)));
    },
    async get(key) {
      const [counted, mine] = [await answered(shared.get(key)), await own.get(key)];
      return counted || mine ? higher(counted, mine) : null;
    },
  };
}

function higher(counted: RateLimiterRes | null, mine: RateLimiterRes | null): RateLimiterRes {
  const none = new RateLimiterRes();
  // The limiter may return a record shortly after it has expired.
  const [a, b] = [counted ?? none, mine && mine.msBeforeNext > 0 ? mine : none];
  return a.consumedPoints >= b.consumedPoints ? a : b;
}
