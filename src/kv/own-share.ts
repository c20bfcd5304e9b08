import { type RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Limiter } from './limiters.ts';

/** A window that is over ends a timer of no length: one of the shortest. */
const SHORTEST_MS = 1;

/**
 * Counts in a shared store, and beside it what this node has counted of the same window. The higher count holds: the shared
 * one as long as the store has lost nothing, and where it has, or does not answer, that of this node. So no node lets more
 * than the limit through in a window, whatever becomes of the store.
 * @param shared rejects with an Error while the store does not answer
 */
export function withOwnShare(shared: Limiter, own: RateLimiterMemory): Limiter {
  /** The store's count; null: it does not answer. A spent limit is an answer, too. */
  const answered = (asked: Promise<RateLimiterRes | null>) =>
    asked.catch((failure: unknown) => (failure instanceof RateLimiterRes ? failure : null));
  return {
    async consume(key, points) {
      const askedAt = Date.now();
      const counted = await answered(shared.consume(key, points));
      // The window ends with that of the store, or a moment before it.
      const ends = counted && Math.max(SHORTEST_MS, counted.msBeforeNext - (Date.now() - askedAt));
      const mine = await own.penalty(key, points, ends === null ? {} : { customDuration: ends / 1000 });
      return higher(counted, mine);
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
  // A record may lie there for a moment after its end.
  const [a, b] = [counted ?? none, mine && mine.msBeforeNext > 0 ? mine : none];
  return a.consumedPoints >= b.consumedPoints ? a : b;
}
