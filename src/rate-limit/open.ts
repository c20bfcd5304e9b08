import { memoryStore } from './memory.ts';
import { redisStore } from './redis.ts';
import type { KeyValueStore } from './store.ts';

/** Redis or Valkey where its address is given, else this process's memory. */
export async function openKeyValueStore(
  url: string | undefined,
  onError: (error: Error) => void,
): Promise<KeyValueStore> {
  return url ? redisStore(url, onError) : memoryStore();
}
