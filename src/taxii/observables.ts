import { LRUCache } from 'lru-cache';
import type { Db } from '../db/database.ts';
import { readRevision } from '../db/revision/revision.ts';
import type { RevisionWatch } from '../db/revision/watch.ts';
import type { Principal } from '../db/visibility.ts';
import { observableId, observableTypes } from '../formats/stix/observed-data.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import { openMissingIds } from './missing-ids.ts';
import { observedRows } from './objects.queries.ts';

/** Finds indicators by the ids of their observables. */
export interface Observables {
  /** Whether no indicator needs to be compared to find the id, if a reader can see it. */
  isKnown(principal: Principal, id: string): boolean;
  /** @returns the ids of the indicators; some may not be visible any more */
  find(db: Db, principal: Principal, ids: readonly string[]): Promise<string[]>;
}

const MAX_KNOWN = 10_000;

/**
 * The id of an observable is a hash of its value, which no index has: those of all indicators that are not for detection are
 * compared. What is found never changes; what is
 * not found is searched again after a new revision.
 */
export function openObservables(revisions: Pick<RevisionWatch, 'isFresh' | 'epoch'>): Observables {
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });
  const missing = openMissingIds(revisions);
  const isKnown = ({ tlpCeiling }: Principal, id: string) =>
    known.has(id) || missing.isMissing(tlpCeiling, id);

  async function search(db: Db, principal: Principal, wanted: Set<string>): Promise<void> {
    const epoch = missing.epoch();
    const names = new Set([...wanted].map((id) => id.split('--')[0]));
    const types = INDICATOR_TYPES.filter((type) => observableTypes(type).some((name) => names.has(name)));
    for await (const rows of observedRows(db, principal, types)) {
      for (const row of rows) {
        const id = observableId(row);
        if (wanted.delete(id)) known.set(id, row.id);
      }
      if (wanted.size === 0) return;
    }
    missing.remember(principal.tlpCeiling, [...wanted], await readRevision(db), epoch);
  }

  return {
    isKnown,
    async find(db, principal, ids) {
      const unknown = ids.filter((id) => !isKnown(principal, id));
      if (unknown.length > 0) await search(db, principal, new Set(unknown));
      return ids.flatMap((id) => known.get(id) ?? []);
    },
  };
}
