import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { KeyValueStore } from './kv.ts';
import { limiters } from './limiters.ts';

export function memoryStore(): KeyValueStore {
  return {
    kind: 'embedded',
    ...limiters(({ points, windowSeconds }) => new RateLimiterMemory({ points, duration: windowSeconds })),
    ping: async () => {},
    close: async () => {},
  };
}
