import { RateLimiterMemory } from 'rate-limiter-flexible';
import { limiters } from './limiters.ts';
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
