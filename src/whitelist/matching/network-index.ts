import { firstRank, NO_RANK, type Ranks, type RankTable } from './priority.ts';

export interface NetworkIndex {
  /** The lowest rank of a network around the address, in a list with that type; NO_RANK for none. */
  find(digits: string, typeBit: number): number;
}

interface Indexed {
  key: string;
  /** Its last address. */
  last: string;
  /** Place of the smallest network around it; -1 for none. */
  around: number;
}

/** Sorts networks by their first address, the wider before the narrower. All of one table must be IPv4, or IPv6. */
export function networkTableKey({ digits, bits }: { digits: string; bits: number }): string {
  return `${digits}/${String(bits).padStart(3, '0')}`;
}

/**
 * Finds the networks around an address: two networks are apart or one lies in the other, so all that hold the address are
 * the last one to begin at or before it, where that reaches so far, and those around that one.
 * @param table by `networkTableKey`
 */
export function networkIndex(table: RankTable, ranks: Ranks): NetworkIndex {
  const networks = nested([...table.keys()].sort());
  const firsts = networks.map(({ key }) => key.slice(0, key.indexOf('/')));
  return {
    find(digits, typeBit) {
      let best = NO_RANK;
      for (let at = lastNotAfter(firsts, digits); at !== -1; at = networks[at]?.around ?? -1) {
        const { key, last } = networks[at] as Indexed;
        if (digits <= last) best = Math.min(best, firstRank(table, key, typeBit, ranks));
      }
      return best;
    },
  };
}

function nested(sorted: readonly string[]): Indexed[] {
  const networks: Indexed[] = [];
  // The places of the networks that are not over yet, each within the one before.
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

/** The last place of a text that is not behind the given one, -1 when all are. */
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
