import { lowestRank, NO_RANK, type Ranks, type RankTable } from './priority.ts';
import { SHORTEST_PART } from './substring-entry.ts';

export interface PartIndex {
  /** The types of the lists that its parts are in, as bits. */
  types: number;
  /** The lowest rank of a part that the text contains, in a list with that type; NO_RANK for none. */
  find(text: string, typeBit: number): number;
}

/** Neighbours in the sorted parts: from `first`, `end` not included. */
interface Range {
  first: number;
  end: number;
}

/**
 * Finds which of many parts a text contains without trying each: the parts stand in order, and at each place of the text
 * the few that begin like it are narrowed down letter by letter. The work is bounded by the length of the text times that of
 * the longest part times the logarithm of their number, whatever the parts are.
 */
export function partIndex(table: RankTable, ranks: Ranks): PartIndex {
  const parts = [...table.keys()].sort();
  const beginnings = rangesOfBeginnings(parts);
  const rankOf = parts.map((part) => table.get(part) ?? []);
  const types = typesIn(table, ranks);
  return {
    types,
    find(text, typeBit) {
      let best = NO_RANK;
      if ((types & typeBit) === 0) return best;
      for (let at = 0; at + SHORTEST_PART <= text.length; at++) {
        const range = beginnings.get(text.slice(at, at + SHORTEST_PART));
        if (range === undefined) continue;
        for (const place of placesOfParts(text, at, parts, range))
          best = Math.min(best, lowestRank(rankOf[place], typeBit, ranks));
      }
      return best;
    },
  };
}

function rangesOfBeginnings(parts: readonly string[]): Map<string, Range> {
  const ranges = new Map<string, Range>();
  for (const [index, part] of parts.entries()) {
    const beginning = part.slice(0, SHORTEST_PART);
    const range = ranges.get(beginning);
    if (range === undefined) ranges.set(beginning, { first: index, end: index + 1 });
    else range.end = index + 1;
  }
  return ranges;
}

function typesIn(table: RankTable, ranks: Ranks): number {
  let types = 0;
  for (const found of table.values())
    for (const rank of typeof found === 'number' ? [found] : found) types |= ranks.typesOf(rank);
  return types;
}

/** Where the parts are that stand in the text at that place. All of the range share their first letters with it. */
function placesOfParts(text: string, at: number, parts: readonly string[], range: Range): number[] {
  const found: number[] = [];
  let { first, end } = range;
  for (let depth = SHORTEST_PART; first < end; depth++) {
    if (parts[first]?.length === depth) {
      found.push(first);
      first++;
    }
    if (at + depth >= text.length) break;
    const letter = text.charCodeAt(at + depth);
    first = firstFromLetter(parts, first, end, depth, letter);
    end = firstFromLetter(parts, first, end, depth, letter + 1);
  }
  return found;
}

/** Of parts alike in the letters before `depth`, and all longer: the first whose letter there is not below the given one. */
function firstFromLetter(
  parts: readonly string[],
  first: number,
  end: number,
  depth: number,
  letter: number,
) {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parts[middle]?.charCodeAt(depth) ?? 0) < letter) low = middle + 1;
    else high = middle;
  }
  return low;
}
