import {
  type Address,
  type AddressRange,
  after,
  blocksOf,
  isWithin,
  rangeOf,
  withoutParts,
} from '../model/address-ranges.ts';

/** The widest blocks that are listed: the widest that importers accept unless configured otherwise. */
const WIDEST_IPV4 = 8;
const WIDEST_IPV6 = 19;

/** Adjacent addresses that have not been written yet. */
interface Run extends AddressRange {
  /** The value that contains all of them; null: none. */
  text: string | null;
}

/**
 * Returns a collapser, which joins addresses and CIDR blocks into the fewest blocks that contain exactly them; joined ones
 * are not wider than /8 (IPv4) and /19 (IPv6). They arrive in the order of PostgreSQL's `inet`: ascending, a block before
 * everything in it, IPv4 before IPv6. It holds only the current run of adjacent addresses, as its two ends.
 */
export function addressCollapser() {
  let run: Run | null = null;
  /** The last block of which parts are left out: all of it that may be listed is listed. */
  let divided: AddressRange | null = null;
  let leftOut = 0;
  const append = (first: Address, last: Address, text: string | null): string[] => {
    if (run !== null && typeof first === typeof run.last && first <= after(run.last)) {
      if (last > run.last) {
        run.last = last;
        run.text = null;
      }
      return [];
    }
    const complete = run === null ? [] : written(run);
    run = { first, last, text };
    return complete;
  };
  return {
    /**
     * Returns whether a block without these parts adds no more than so many blocks to those that have been returned,
     * with those not returned yet.
     */
    fits(value: string, parts: readonly string[], room: number): boolean {
      const range = rangeOf(value);
      if (divided !== null && isWithin(range, divided)) return true;
      const open = run === null ? 0 : written(run).length;
      return open + restOf(range, parts).flatMap((rest) => blocksOf(rest)).length <= room;
    },
    /**
     * Adds an address or a block.
     * @param parts parts of the block to leave out
     * @returns the blocks that it completes, if any
     */
    add(value: string, parts: readonly string[] = []): string[] {
      const range = rangeOf(value);
      if (divided !== null && isWithin(range, divided)) return [];
      if (parts.length === 0) return append(range.first, range.last, value);
      divided = range;
      leftOut += parts.length;
      return restOf(range, parts).flatMap(({ first, last }) => append(first, last, null));
    },
    /** Returns how many parts have been left out. */
    leftOut: () => leftOut,
    /** Returns the remaining blocks after the last value. */
    end(): string[] {
      const rest = run === null ? [] : written(run);
      run = null;
      return rest;
    },
  };
}

function restOf(range: AddressRange, parts: readonly string[]): AddressRange[] {
  return withoutParts(range, parts.map(rangeOf));
}

function written(run: Run): string[] {
  if (run.text !== null) return [run.text];
  return blocksOf(run, typeof run.first === 'bigint' ? WIDEST_IPV6 : WIDEST_IPV4);
}
