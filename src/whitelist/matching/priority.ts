import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import type { Warninglist } from './warninglist.ts';

/** One bit for each type; a list's types are the sum of theirs. */
export const TYPE_BIT = Object.fromEntries(
  INDICATOR_TYPES.map((type, index) => [type, 1 << index]),
) as Readonly<Record<IndicatorType, number>>;

/**
 * Every entry has a rank, its place in all lists one after another: the lowest rank wins. A number is all that the
 * tables keep of an entry, so that a million of them stay small.
 */
export interface Ranks {
  /** The types of the list that the rank is in, as bits. */
  typesOf(rank: number): number;
  hitOf(rank: number): { listId: string; entry: string };
}

export const NO_RANK = Number.POSITIVE_INFINITY;

export function rankLists(lists: readonly { id: string; list: Warninglist }[]): Ranks {
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

/** The last place whose number is not above `rank`: of lists without entries, which share a start, the one that has some. */
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

/** The ranks of equal keys, ascending; nearly always one. */
export type RankTable = Map<string, number | number[]>;

/** Ranks must come in ascending order. One whose types an earlier one of the same key has can never win and is left out. */
export function addRank(table: RankTable, key: string, rank: number, ranks: Ranks): void {
  const present = table.get(key);
  if (present === undefined) {
    table.set(key, rank);
    return;
  }
  const all = typeof present === 'number' ? [present] : present;
  const covered = all.reduce((bits, other) => bits | ranks.typesOf(other), 0);
  if ((ranks.typesOf(rank) & ~covered) !== 0) table.set(key, [...all, rank]);
}

/** The lowest rank of a key in a list with that type; NO_RANK for none. */
export function firstRank(table: RankTable, key: string, typeBit: number, ranks: Ranks): number {
  return lowestRank(table.get(key), typeBit, ranks);
}

/** Likewise of what a table holds for a key. */
export function lowestRank(found: number | number[] | undefined, typeBit: number, ranks: Ranks): number {
  if (found === undefined) return NO_RANK;
  if (typeof found === 'number') return (ranks.typesOf(found) & typeBit) === 0 ? NO_RANK : found;
  return found.find((rank) => (ranks.typesOf(rank) & typeBit) !== 0) ?? NO_RANK;
}
