import {
  type Address,
  type AddressRange,
  after,
  blocksOf,
  isWithin,
  rangeOf,
  withoutParts,
} from '../model/address-ranges.ts';
import { widestOf } from './listed-blocks.ts';

/** The widest blocks that are listed: the widest that importers accept unless configured otherwise. */
const WIDEST_IPV4 = 8;
const WIDEST_IPV6 = 19;

/** Adjacent addresses that have not been written yet. */
interface Run extends AddressRange {
  /** The value that contains all of them; null: none. */
  text: string | null;
}

/** How many blocks a network of several may have. */
export interface PartsLimit {
  /** The number of blocks, with those that have not been returned yet. Of more blocks, the widest ones are listed. */
  room: number;
  /** Called if not all of its blocks are listed. */
  onCut(): void;
}

export const UNLIMITED: PartsLimit = { room: Number.POSITIVE_INFINITY, onCut: () => {} };

/**
 * Returns a collapser, which joins addresses and CIDR blocks into the fewest blocks that contain exactly them; joined ones
 * are not wider than /8 (IPv4) and /19 (IPv6). They arrive in the order of PostgreSQL's `inet`: ascending, a block before
 * everything in it, IPv4 before IPv6. It holds only the current run of adjacent addresses, as its two ends,
 * and the blocks of networks that are listed in part.
 */
export function addressCollapser() {
  let run: Run | null = null;
  /** The last block of which parts are left out: all of it that may be listed is listed. */
  let divided: AddressRange | null = null;
  /** The last block whose parts have been counted. */
  let counted: AddressRange | null = null;
  let leftOut = 0;
  /** Blocks of divided ones that are listed in part, the next one last: values between them may follow. */
  const pending: AddressRange[] = [];
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
  /** Adds the pending blocks as long as this is true of them. */
  const flush = (isNext: (block: AddressRange) => boolean): string[] => {
    const complete: string[] = [];
    for (let next = pending.at(-1); next !== undefined && isNext(next); next = pending.at(-1)) {
      pending.pop();
      complete.push(...append(next.first, next.last, null));
    }
    return complete;
  };
  /** Returns the pending blocks within a range; the others of them follow it. */
  const takePending = (range: AddressRange): AddressRange[] => {
    const start = pending.findLastIndex((block) => !isWithin(block, range)) + 1;
    return pending.splice(start).reverse();
  };
  /** Returns the number of blocks that have not been returned yet. */
  const open = () => pending.length + (run === null ? 0 : written(run).length);
  return {
    /**
     * Adds an address or a block.
     * @param parts parts of the block to leave out
     * @param limit of a block with such parts
     * @returns the blocks that it completes, if any
     */
    add(value: string, parts: readonly string[] = [], limit: PartsLimit = UNLIMITED): string[] {
      const range = rangeOf(value);
      if (divided !== null && isWithin(range, divided)) return [];
      const complete = flush((block) => isBefore(block, range, parts.length === 0));
      if (parts.length === 0) return [...complete, ...append(range.first, range.last, value)];
      const room = limit.room - complete.length - open();
      const known = takePending(range);
      const rest = withoutParts(range, inOrder([...known, ...parts.map(rangeOf)]));
      const blocks = room === Number.POSITIVE_INFINITY ? [] : rest.flatMap((part) => blocksOf(part));
      const isCut = blocks.length > room;
      const listed = isCut ? widestOf(blocks, room).map(rangeOf) : rest;
      if (listed.length > 0 && (counted === null || !isWithin(range, counted))) {
        leftOut += parts.length;
        counted = range;
      }
      const all = inOrder([...known, ...listed]);
      if (isCut) {
        limit.onCut();
        for (const block of all.reverse()) pending.push(block);
        return complete;
      }
      divided = range;
      for (const { first, last } of all) complete.push(...append(first, last, null));
      return complete;
    },
    /** Returns whether the next value may complete any number of blocks. */
    hasPending: () => pending.length > 0,
    /** Returns how many parts have been left out. */
    leftOut: () => leftOut,
    /** Returns the remaining blocks after the last value. */
    end(): string[] {
      const rest = flush(() => true);
      if (run !== null) rest.push(...written(run));
      run = null;
      return rest;
    },
  };
}

/** Whether a block begins before a range or, optionally, where it begins. */
function isBefore(block: AddressRange, range: AddressRange, orWithIt: boolean): boolean {
  if (typeof block.first !== typeof range.first) return typeof block.first === 'number';
  return block.first < range.first || (orWithIt && block.first === range.first);
}

function inOrder(ranges: AddressRange[]): AddressRange[] {
  return ranges.sort((a, b) => (a.first < b.first ? -1 : 1));
}

function written(run: Run): string[] {
  if (run.text !== null) return [run.text];
  return blocksOf(run, typeof run.first === 'bigint' ? WIDEST_IPV6 : WIDEST_IPV4);
}
