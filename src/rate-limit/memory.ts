import { RateLimiterMemory } from 'rate-limiter-flexible';
import { limiters } from './limiters.ts';
import type { KeyValueStore } from './store.ts';

export function memoryStore(): KeyValueStore {
  return {
    kind: 'embedded',
    ...limiters(({ points, windowSeconds }) => new RateLimiterMemory({ points, duration: windowSeconds })),
    ping: async () => {},
    close: async () => {},
  };
}
