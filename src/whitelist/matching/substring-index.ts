import { highestOf, NO_MATCH, type Priorities, type PriorityTable } from './priority.ts';
import { SHORTEST_PART } from './substring-entry.ts';

export interface SubstringIndex {
  /** Types of all lists that have parts in the index, as bits. */
  types: number;
  /** Returns the lowest rank of a part that the text contains, in lists with that type; NO_RANK for none. */
  find(text: string, typeBit: number): number;
}

/** A range of the sorted parts, from `first` up to but excluding `end`. */
interface Range {
  first: number;
  end: number;
}

/**
 * Returns an index that finds the parts contained in a text without trying each of them. The parts are
 * sorted; at each position of the text, the parts with the same beginning are narrowed down letter by letter.
 * The work is bounded by the length of the text times the length of the longest part times the logarithm of
 * the number of parts, whatever the parts are.
 */
export function substringIndex(table: PriorityTable, ranks: Priorities): SubstringIndex {
  const parts = [...table.keys()].sort();
  const beginnings = rangesOfBeginnings(parts);
  const rankOf = parts.map((part) => table.get(part) ?? []);
  const types = typesIn(table, ranks);
  return {
    types,
    find(text, typeBit) {
      let best = NO_MATCH;
      if ((types & typeBit) === 0) return best;
      for (let at = 0; at + SHORTEST_PART <= text.length; at++) {
        const range = beginnings.get(text.slice(at, at + SHORTEST_PART));
        if (range === undefined) continue;
        for (const place of indexesOfParts(text, at, parts, range))
          best = Math.min(best, highestOf(rankOf[place], typeBit, ranks));
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

function typesIn(table: PriorityTable, ranks: Priorities): number {
  let types = 0;
  for (const found of table.values())
    for (const rank of typeof found === 'number' ? [found] : found) types |= ranks.typesOf(rank);
  return types;
}

/**
 * Returns the indexes of the parts that occur in the text at position `at`. All parts of the range share
 * their first letters with the text there.
 */
function indexesOfParts(text: string, at: number, parts: readonly string[], range: Range): number[] {
  const found: number[] = [];
  let { first, end } = range;
  for (let depth = SHORTEST_PART; first < end; depth++) {
    if (parts[first]?.length === depth) {
      found.push(first);
      first++;
    }
    if (at + depth >= text.length) break;
    const letter = text.charCodeAt(at + depth);
    first = lowerBound(parts, first, end, depth, letter);
    end = lowerBound(parts, first, end, depth, letter + 1);
  }
  return found;
}

/**
 * Returns the first index whose part has a letter at `depth` that is not below the given one. The parts of
 * the range share all letters before `depth` and are longer.
 */
function lowerBound(parts: readonly string[], first: number, end: number, depth: number, letter: number) {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parts[middle]?.charCodeAt(depth) ?? 0) < letter) low = middle + 1;
    else high = middle;
  }
  return low;
}
