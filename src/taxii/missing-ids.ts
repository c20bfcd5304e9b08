import { LRUCache } from 'lru-cache';
import { epochScopedCache, type RevisionWatch } from '../db/revision/watch.ts';

const MAX_MISSING = 10_000;

/** The ids for which a search found nothing that its reader can see. Nothing becomes visible without a new revision. */
export interface MissingIds {
  /** Returns whether it is known that the id names nothing, so that no search is needed. */
  isMissing(scope: string, id: string): boolean;
  /** Returns the revision up to which none of the ids names anything; null: it is not known of all of them. */
  missingUpTo(scope: string, ids: readonly string[]): number | null;
  /** Returns a number that changes when the store is another one. */
  epoch(): number;
  /** @param epoch in which the search began */
  remember(scope: string, ids: readonly string[], revision: number, epoch: number): void;
}

/** Each scope is what a reader can see, such as a TLP ceiling. */
export function openMissingIds(revisions: Pick<RevisionWatch, 'isFresh' | 'epoch'>): MissingIds {
  const cache = epochScopedCache(revisions, new LRUCache<string, number>({ max: MAX_MISSING }));
  const revisionOf = (scope: string, id: string) => cache.get(`${scope} ${id}`) ?? null;
  return {
    isMissing(scope, id) {
      const revision = revisionOf(scope, id);
      return revision !== null && revisions.isFresh('revision', revision);
    },
    missingUpTo(scope, ids) {
      const known = ids.map((id) => revisionOf(scope, id));
      return known.includes(null) || known.length === 0 ? null : Math.min(...known.map(Number));
    },
    epoch: revisions.epoch,
    remember(scope, ids, revision, epoch) {
      for (const id of ids) cache.set(`${scope} ${id}`, revision, epoch);
    },
  };
}
