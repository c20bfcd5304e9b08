import ipaddr from 'ipaddr.js';

/** The widest prefixes that are listed: a wider network is an allocation of a registry, not a host or two. */
const WIDEST = { 32: 8n, 128: 32n };

const [POINT, ZERO] = [0x2e, 0x30] as const;

/** A number for IPv4, which costs a fraction of a bigint; a bigint for IPv6. */
type Address = number | bigint;

interface Run {
  /** The first address as it was added. */
  text: string;
  first: Address;
  last: Address;
}

/**
 * Returns a collapser, which joins addresses that arrive in ascending order, IPv4 before IPv6, into the
 * fewest networks that contain exactly them, IPv4 none wider than /8 and IPv6 none wider than /32. It holds
 * only the current run of adjacent addresses, as its two ends.
 */
export function addressCollapser() {
  let run: Run | null = null;
  return {
    /** Adds an address. @returns the networks that it completes, if any */
    add(address: string): string[] {
      const number = parse(address);
      if (run !== null && (number === run.last || number === next(run.last))) {
        run.last = number;
        return [];
      }
      const complete = run === null ? [] : networks(run);
      run = { text: address, first: number, last: number };
      return complete;
    },
    /** Returns the remaining networks after the last address. */
    end(): string[] {
      const rest = run === null ? [] : networks(run);
      run = null;
      return rest;
    },
  };
}

function parse(address: string): Address {
  if (!address.includes(':')) return parseIpv4(address);
  const bytes = ipaddr.parse(address).toByteArray();
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function parseIpv4(address: string): number {
  let [before, octet] = [0, 0];
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i);
    if (code === POINT) [before, octet] = [before * 256 + octet, 0];
    else octet = octet * 10 + code - ZERO;
  }
  return before * 256 + octet;
}

function next(address: Address): Address {
  return typeof address === 'bigint' ? address + 1n : address + 1;
}

/**
 * Splits a run into networks: from the lower end, each time the largest block that starts there and stays
 * within.
 */
function networks({ text, first: from, last: to }: Run): string[] {
  if (from === to) return [text];
  const bits = typeof from === 'bigint' ? 128 : 32;
  const [first, last] = [BigInt(from), BigInt(to)];
  const found: string[] = [];
  const most = BigInt(bits) - WIDEST[bits];
  for (let start = first; start <= last; ) {
    let size = 0n;
    while (size < most && (start >> size) % 2n === 0n && start + (2n << size) - 1n <= last) size++;
    const address = shown(bits, start);
    found.push(size === 0n ? address : `${address}/${BigInt(bits) - size}`);
    start += 1n << size;
  }
  return found;
}

function shown(bits: 32 | 128, number: bigint): string {
  const bytes = [...Buffer.from(number.toString(16).padStart(bits / 4, '0'), 'hex')];
  return bits === 32 ? new ipaddr.IPv4(bytes).toString() : new ipaddr.IPv6(bytes).toRFC5952String();
}
