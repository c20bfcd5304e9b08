import { memoryStore } from './memory.ts';
import { redisStore } from './redis.ts';
import type { RateLimitStore } from './store.ts';

/** Opens Redis or Valkey if an address is given, else this process's memory. */
export async function openRateLimitStore(
  url: string | undefined,
  onError: (error: Error) => void,
): Promise<RateLimitStore> {
  return url ? redisStore(url, onError) : memoryStore();
}
