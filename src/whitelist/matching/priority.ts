import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import type { Warninglist } from './warninglist.ts';

/** One bit per type; the types of a list are the sum of their bits. */
export const TYPE_BIT = Object.fromEntries(
  INDICATOR_TYPES.map((type, index) => [type, 1 << index]),
) as Readonly<Record<IndicatorType, number>>;

/**
 * The rank of an entry is its position in the concatenation of all lists; the lowest rank wins. The tables
 * store only this number per entry, so that a million entries stay small.
 */
export interface Priorities {
  /** Returns the types of the list that contains the rank, as bits. */
  typesOf(rank: number): number;
  hitOf(rank: number): { listId: string; entry: string };
}

export const NO_MATCH = Number.POSITIVE_INFINITY;

export function assignPriorities(lists: readonly { id: string; list: Warninglist }[]): Priorities {
  const starts: number[] = [];
  const types: number[] = [];
  let next = 0;
  for (const { list } of lists) {
    starts.push(next);
    types.push(list.types.reduce((bits, type) => bits | TYPE_BIT[type], 0));
    next += list.entries.length;
  }
  const listOf = (rank: number) => lastAtMost(starts, rank);
  return {
    typesOf: (rank) => types[listOf(rank)] ?? 0,
    hitOf(rank) {
      const at = listOf(rank);
      return { listId: lists[at]?.id ?? '', entry: lists[at]?.list.entries[rank - (starts[at] ?? 0)] ?? '' };
    },
  };
}

/**
 * Returns the last index whose number is not above `rank`. Lists without entries share their start with the
 * next list, so this is the list that has entries.
 */
function lastAtMost(starts: readonly number[], rank: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= rank) low = middle;
    else high = middle;
  }
  return low;
}

/** Ranks by key, ascending; nearly always one per key. */
export type PriorityTable = Map<string, number | number[]>;

/**
 * Adds a rank to a key. Ranks must be added in ascending order. A rank whose types are covered by earlier
 * ranks of the key can never win and is left out.
 */
export function addPriority(table: PriorityTable, key: string, rank: number, ranks: Priorities): void {
  const present = table.get(key);
  if (present === undefined) {
    table.set(key, rank);
    return;
  }
  const all = typeof present === 'number' ? [present] : present;
  const covered = all.reduce((bits, other) => bits | ranks.typesOf(other), 0);
  if ((ranks.typesOf(rank) & ~covered) !== 0) table.set(key, [...all, rank]);
}

/** Returns the lowest rank of a key in lists with that type; NO_RANK for none. */
export function highestPriority(
  table: PriorityTable,
  key: string,
  typeBit: number,
  ranks: Priorities,
): number {
  return highestOf(table.get(key), typeBit, ranks);
}

/** Returns the same for the ranks that a table holds for a key. */
export function highestOf(found: number | number[] | undefined, typeBit: number, ranks: Priorities): number {
  if (found === undefined) return NO_MATCH;
  if (typeof found === 'number') return (ranks.typesOf(found) & typeBit) === 0 ? NO_MATCH : found;
  return found.find((rank) => (ranks.typesOf(rank) & typeBit) !== 0) ?? NO_MATCH;
}
