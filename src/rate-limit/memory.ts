import { RateLimiterMemory } from 'rate-limiter-flexible';
import { limiters } from './limiters.ts';
import type { RateLimitStore } from './store.ts';

export function memoryStore(): RateLimitStore {
  return {
    kind: 'embedded',
    ...limiters(
      ({ limit, windowSeconds }) => new RateLimiterMemory({ points: limit, duration: windowSeconds }),
    ),
    ping: async () => {},
    close: async () => {},
  };
}
