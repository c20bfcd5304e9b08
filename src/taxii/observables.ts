import { LRUCache } from 'lru-cache';
import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { observableId, observableTypes } from '../formats/stix/observed-data.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import { observedRows } from './objects.queries.ts';

/** Finds indicators by the ids of their observables. */
export interface Observables {
  /** Whether no indicator needs to be compared to find the id. */
  isKnown(id: string): boolean;
  /** @returns the ids of the indicators; some may not be visible any more */
  find(db: Db, principal: Principal, ids: readonly string[]): Promise<string[]>;
}

const MAX_KNOWN = 10_000;

/**
 * The id of an observable is a hash of its value, which no index has: those of all indicators that are not for detection are
 * compared. What is found never changes.
 */
export function openObservables(): Observables {
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });

  async function search(db: Db, principal: Principal, wanted: Set<string>): Promise<void> {
    const names = new Set([...wanted].map((id) => id.split('--')[0]));
    const types = INDICATOR_TYPES.filter((type) => observableTypes(type).some((name) => names.has(name)));
    for await (const rows of observedRows(db, principal, types)) {
      for (const row of rows) {
        const id = observableId(row);
        if (wanted.delete(id)) known.set(id, row.id);
      }
      if (wanted.size === 0) return;
    }
  }

  return {
    isKnown: (id) => known.has(id),
    async find(db, principal, ids) {
      const unknown = ids.filter((id) => !known.has(id));
      if (unknown.length > 0) await search(db, principal, new Set(unknown));
      return ids.flatMap((id) => known.get(id) ?? []);
    },
  };
}
