import type { EntityKind } from '../model/vocabulary.ts';

export type Counted = EntityKind | 'relationship';
type Outcome = 'new' | 'updated' | 'unchanged' | 'rejected';

/** Counts of one kind of object; `read` is the sum of the other four. */
export interface KindCounts {
  read: number;
  new: number;
  updated: number;
  unchanged: number;
  rejected: number;
  /** The number of rejected records by reason. */
  reasons: Record<string, number>;
}

/** The maximum number of distinct reasons: a hostile file must not fill the memory with them. */
const MAX_REASONS = 200;
const FEW_EXAMPLES = 20;

export interface ImportCounts {
  kinds: Map<Counted, KindCounts>;
  /** The first rejections, with their places in the file. */
  examples: { where: string; reason: string }[];
  /** New and updated indicators that the whitelist hides. */
  hidden: number;
  count(kind: Counted, outcome: Exclude<Outcome, 'rejected'>): void;
  reject(kind: Counted, reason: string, where: string): void;
}

/** @param maxExamples the maximum number of rejections that are stored with their places */
export function createCounts(maxExamples = FEW_EXAMPLES): ImportCounts {
  const kinds = new Map<Counted, KindCounts>();
  const of = (kind: Counted): KindCounts => {
    const counts = kinds.get(kind) ?? emptyCounts();
    kinds.set(kind, counts);
    return counts;
  };
  const examples: ImportCounts['examples'] = [];
  return {
    kinds,
    examples,
    hidden: 0,
    count(kind, outcome) {
      const counts = of(kind);
      counts.read++;
      counts[outcome]++;
    },
    reject(kind, reason, where) {
      const counts = of(kind);
      counts.read++;
      counts.rejected++;
      const { reasons } = counts;
      const name = reason in reasons || Object.keys(reasons).length < MAX_REASONS ? reason : 'other reasons';
      reasons[name] = (reasons[name] ?? 0) + 1;
      if (examples.length < maxExamples) examples.push({ where, reason });
    },
  };
}

export function emptyCounts(): KindCounts {
  return { read: 0, new: 0, updated: 0, unchanged: 0, rejected: 0, reasons: Object.create(null) };
}
