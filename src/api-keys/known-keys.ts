import { LRUCache } from 'lru-cache';
import type { Db } from '../db/database.ts';
import { epochScopedCache, type RevisionWatch } from '../db/revision/watch.ts';
import { type ApiKey, isUsable } from '../model/api-key.ts';
import { findKeyByHash } from './api-keys.queries.ts';

const MOST = 10_000;

export interface KnownKeys {
  /** The key with this hash as it holds now; null: there is none that is good. */
  find(hash: string, now: Date): Promise<ApiKey | null>;
}

/** Keys that were looked up, for as long as nothing changes of keys, of the accounts that own them, and of roles. */
export function knownKeys(db: Db, revisions: RevisionWatch): KnownKeys {
  const known = epochScopedCache(
    revisions,
    new LRUCache<string, { key: ApiKey; access: number }>({ max: MOST }),
  );
  const findCached = (hash: string, now: Date): ApiKey | undefined => {
    const entry = known.get(hash);
    return entry && revisions.isFresh('access', entry.access) && isUsable(entry.key, now)
      ? entry.key
      : undefined;
  };
  return {
    async find(hash, now) {
      const cached = findCached(hash, now);
      if (cached) return cached;
      const epoch = revisions.epoch();
      const found = await findKeyByHash(db, hash);
      if (!found || !isUsable(found.key, now)) return null;
      known.set(hash, found, epoch);
      return found.key;
    },
  };
}
