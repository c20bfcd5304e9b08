import { LRUCache } from 'lru-cache';
import type { Db } from '../db/database.ts';
import { epochScopedCache, type RevisionWatch } from '../db/revision/watch.ts';
import { type ApiKey, isUsable } from '../model/api-key.ts';
import { findKeyByHash, writeLastUsed } from './api-keys.queries.ts';

const MOST = 10_000;

export interface KnownKeys {
  /** Returns the usable key with this hash; null when there is none. */
  find(hash: string, now: Date): Promise<ApiKey | null>;
  /** Look-ups since the start; keys that are cached now. */
  stats(): { hits: number; misses: number; entries: number };
}

/** Creates a cache of keys, valid as long as no key, owner's account or role changes. */
export function knownKeys(db: Db, revisions: RevisionWatch): KnownKeys {
  const entries = new LRUCache<string, { key: ApiKey; access: number }>({ max: MOST });
  const known = epochScopedCache(revisions, entries);
  const counts = { hits: 0, misses: 0 };
  const findCached = (hash: string, now: Date): ApiKey | undefined => {
    const entry = known.get(hash);
    return entry && revisions.isFresh('access', entry.access) && isUsable(entry.key, now)
      ? entry.key
      : undefined;
  };
  return {
    stats: () => ({ ...counts, entries: entries.size }),
    async find(hash, now) {
      const cached = findCached(hash, now);
      if (cached) {
        counts.hits++;
        return cached;
      }
      counts.misses++;
      const epoch = revisions.epoch();
      const found = await findKeyByHash(db, hash);
      if (!found || !isUsable(found.key, now)) return null;
      known.set(hash, found, epoch);
      return found.key;
    },
  };
}

const FLUSH_MS = 5_000;

export interface LastUsed {
  note(keyId: string, at: Date): void;
  /** Writes the recorded uses now. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Records when keys were last used, and writes that every few seconds rather than on each request. */
export function trackLastUsed(db: Db, onError: (error: unknown) => void): LastUsed {
  let used = new Map<string, Date>();
  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const written = used;
    used = new Map();
    await writeLastUsed(db, written).catch((error) => {
      for (const [id, at] of written) if (!used.has(id)) used.set(id, at);
      onError(error);
    });
  }
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    note: (keyId, at) => void used.set(keyId, at),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
