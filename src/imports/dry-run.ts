import type { LoadedIndicator } from '../indicators/state/state.queries.ts';
import type { Statement } from '../model/statement.ts';
import type { Source } from '../sources/store/sources.queries.ts';

/**
 * The indicators that a dry run would have written so far, for repeats in later batches. They are stored as JSON text,
 * because a file may be large.
 */
export interface DryRun {
  /** Replaces the indicators from the database by the stored ones with these ids. */
  recall(ids: Iterable<string>, known: Map<string, LoadedIndicator>): void;
  keep(id: string, indicator: LoadedIndicator): void;
}

const DATES = ['statedAt', 'firstSeen', 'lastSeen', 'importedAt', 'expiresAt', 'delistedAt'];

/** Counting needs only the statements of this source. */
export function createDryRun(source: Source): DryRun {
  const recorded = new Map<string, string>();
  return {
    recall(ids, known) {
      for (const id of ids) {
        const packed = recorded.get(id);
        if (packed) known.set(id, unpack(packed, source));
      }
    },
    keep(id, { type, normalized, value, externalIds, statements }) {
      const { source: _, ...statement } = statements.get(source.id) ?? {};
      recorded.set(id, JSON.stringify({ type, normalized, value, externalIds: [...externalIds], statement }));
    },
  };
}

function unpack(packed: string, source: Source): LoadedIndicator {
  const { externalIds, statement, ...identity } = JSON.parse(packed, (key, field) =>
    DATES.includes(key) && field !== null ? new Date(field) : field,
  ) as Pick<LoadedIndicator, 'type' | 'normalized' | 'value'> & {
    externalIds: string[];
    statement: Statement;
  };
  return {
    ...identity,
    stored: null,
    pinned: null,
    scores: [],
    externalIds: new Set(externalIds),
    statements: new Map([[source.id, { ...statement, source }]]),
  };
}
