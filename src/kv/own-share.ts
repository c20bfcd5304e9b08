import { type RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Limiter } from './limiters.ts';

/** What the store says of the time may be as late, and as early: it goes by a clock that it reads now and then. */
const INEXACT_MS = 100;

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
      if (counted === null) return own.penalty(key, points);
      // The window ends with that of the store, or a moment before it.
      const msLeft = counted.msBeforeNext - (Date.now() - askedAt);
      if (msLeft <= 0) return counted;
      const before = await own.get(key);
      const hasEnded =
        before !== null && before.msBeforeNext <= INEXACT_MS && msLeft - before.msBeforeNext > INEXACT_MS;
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
  // A record may lie there for a moment after its end.
  const [a, b] = [counted ?? none, mine && mine.msBeforeNext > 0 ? mine : none];
  return a.consumedPoints >= b.consumedPoints ? a : b;
}
