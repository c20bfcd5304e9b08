import { writeNamePart } from '../../model/name-parts.ts';
import { MAX_NAME_LENGTH } from '../../model/normalize-url.ts';
import { SHORTEST_PART } from './entry.ts';
import type { Reach } from './names.ts';
import { highestOf, highestPriority, NO_MATCH, type Priorities, type PriorityTable } from './priority.ts';

export type NameTables = Readonly<Record<Reach, PriorityTable>>;

/** Returns the lowest rank of the name or of a parent domain, in lists with that type; NO_RANK for none. */
export function findName(tables: NameTables, name: string, typeBit: number, ranks: Priorities): number {
  // Looking up every parent domain takes time quadratic in the length of the name.
  if (name.length > MAX_NAME_LENGTH) return NO_MATCH;
  const andBelow = tables['itself and below'];
  let best = Math.min(
    highestPriority(tables.itself, name, typeBit, ranks),
    highestPriority(andBelow, name, typeBit, ranks),
  );
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const above = name.slice(dot + 1);
    best = Math.min(best, highestPriority(andBelow, above, typeBit, ranks));
    if (tables.below.size > 0) best = Math.min(best, highestPriority(tables.below, above, typeBit, ranks));
  }
  return best;
}

export interface NameIndex {
  /** Returns the parts of a domain (see name-parts.ts), in lists with that type, without those that others include: the first of them. */
  findBelow(domain: string, typeBit: number, most: number): FoundPart[];
}

/** A part of a domain, with the lowest rank of its entries. */
interface FoundPart {
  part: string;
  rank: number;
}

/** Ends of the keys of an index of names, by reach. All sort before the space that precedes a further label. */
const KEY_ENDS: readonly (readonly [Reach, string])[] = [
  ['itself and below', ''],
  ['itself', '\x01'],
  ['below', '\x02'],
];

/**
 * Returns an index that finds the names below a domain. Keys are labels in reverse with spaces between them, which sort before
 * all other characters: the names below one follow it directly.
 */
export function nameIndex(tables: NameTables, ranks: Priorities): NameIndex {
  const keys: string[] = [];
  for (const [reach, end] of KEY_ENDS)
    for (const name of tables[reach].keys()) if (isBelowDomain(name, reach)) keys.push(keyOf(name) + end);
  keys.sort();
  return {
    findBelow(domain, typeBit, most) {
      const found: FoundPart[] = [];
      const first = keyOf(domain);
      const end = `${first}!`;
      for (
        let at = lowerBoundOf(keys, `${first}\x02`);
        (keys[at] ?? '~') < end && found.length < most;
        at++
      ) {
        const { name, reach } = readKey(keys[at] as string);
        const rank = highestPriority(tables[reach], name, typeBit, ranks);
        if (rank === NO_MATCH) continue;
        const [itself, below] = [reach !== 'below', reach !== 'itself'];
        found.push({ part: writeNamePart({ name, itself, below }), rank });
        if (below) at = lowerBoundOf(keys, `${keyOf(name)}!`) - 1;
      }
      return found;
    },
  };
}

/** Returns whether a rule is about names below a domain, which has two labels at least. */
function isBelowDomain(name: string, reach: Reach): boolean {
  const dot = name.indexOf('.');
  return dot !== -1 && (reach === 'below' || name.includes('.', dot + 1));
}

const keyOf = (name: string) => name.split('.').reverse().join(' ');

function readKey(key: string): { name: string; reach: Reach } {
  const reach = KEY_ENDS.find(([, end]) => end === key.at(-1))?.[0] ?? 'itself and below';
  const labels = reach === 'itself and below' ? key : key.slice(0, -1);
  return { name: labels.split(' ').reverse().join('.'), reach };
}

export interface NetworkIndex {
  /**
   * Returns the lowest rank of a network that contains the address, in lists with that type; NO_RANK for
   * none.
   */
  find(digits: string, typeBit: number): number;
  /** Returns the same for a network that contains all addresses up to `last`. */
  findAround(first: string, last: string, typeBit: number): number;
  /** Returns the widest networks within these addresses, in lists with that type, in ascending order: the first of them. */
  findWithin(first: string, last: string, typeBit: number, most: number): FoundNetwork[];
}

/** A network of a list, with its lowest rank. */
interface FoundNetwork {
  first: string;
  last: string;
  rank: number;
}

interface Indexed {
  key: string;
  /** The last address of the network. */
  last: string;
  /** Index of the smallest enclosing network; -1 for none. */
  around: number;
}

/**
 * Returns a key that sorts networks by their first address, wider networks first. All networks of a table
 * must be IPv4, or all IPv6.
 */
export function networkTableKey({ digits, bits }: { digits: string; bits: number }): string {
  return `${digits}/${String(bits).padStart(3, '0')}`;
}

/**
 * Returns an index of networks by address. Two networks are disjoint or nested, so the networks that contain
 * an address are found among the last one to begin at or before it and those that enclose that one.
 * @param table keyed by `networkTableKey`
 */
export function networkIndex(table: PriorityTable, ranks: Priorities): NetworkIndex {
  const networks = nested([...table.keys()].sort());
  const firsts = networks.map(({ key }) => key.slice(0, key.indexOf('/')));
  const findAround = (first: string, last: string, typeBit: number) => {
    let best = NO_MATCH;
    for (let at = lastNotAfter(firsts, first); at !== -1; at = networks[at]?.around ?? -1) {
      const network = networks[at] as Indexed;
      if (last <= network.last) best = Math.min(best, highestPriority(table, network.key, typeBit, ranks));
    }
    return best;
  };
  return {
    find: (digits, typeBit) => findAround(digits, digits, typeBit),
    findAround,
    findWithin(first, last, typeBit, most) {
      const found: FoundNetwork[] = [];
      let end = '';
      for (let at = lowerBoundOf(firsts, first); (firsts[at] ?? '~') <= last; at++) {
        const network = networks[at] as Indexed;
        // Networks are nested or disjoint: one within the last found adds nothing.
        if (network.last <= end || network.last > last) continue;
        const rank = highestPriority(table, network.key, typeBit, ranks);
        if (rank === NO_MATCH) continue;
        found.push({ first: firsts[at] as string, last: network.last, rank });
        end = network.last;
        if (found.length === most) break;
      }
      return found;
    },
  };
}

/** Returns the first index whose text does not sort before the given one. */
function lowerBoundOf(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nested(sorted: readonly string[]): Indexed[] {
  const networks: Indexed[] = [];
  // Indexes of the networks that have not ended yet, each inside the one before.
  const open: number[] = [];
  for (const [at, key] of sorted.entries()) {
    const [first = '', bits = ''] = key.split('/');
    while (open.length > 0 && first > (networks[open.at(-1) ?? 0]?.last ?? '')) open.pop();
    networks.push({ key, last: lastAddress(first, Number(bits)), around: open.at(-1) ?? -1 });
    open.push(at);
  }
  return networks;
}

function lastAddress(first: string, bits: number): string {
  const host = BigInt(first.length * 4 - bits);
  const last = BigInt(`0x${first}`) | ((1n << host) - 1n);
  return last.toString(16).padStart(first.length, '0');
}

/** Returns the last index whose text does not sort after the given one; -1 if all do. */
function lastNotAfter(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) <= text) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

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
