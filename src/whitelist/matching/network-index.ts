import { highestPriority, NO_MATCH, type Priorities, type PriorityTable } from './priority.ts';

export interface NetworkIndex {
  /**
   * Returns the lowest rank of a network that contains the address, in lists with that type; NO_RANK for
   * none.
   */
  find(digits: string, typeBit: number): number;
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
  return {
    find(digits, typeBit) {
      let best = NO_MATCH;
      for (let at = lastNotAfter(firsts, digits); at !== -1; at = networks[at]?.around ?? -1) {
        const { key, last } = networks[at] as Indexed;
        if (digits <= last) best = Math.min(best, highestPriority(table, key, typeBit, ranks));
      }
      return best;
    },
  };
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
