import ipaddr from 'ipaddr.js';

/** Nothing wider is ever listed: an allocation of a registry, not a host or two. */
const WIDEST = { 32: 8n, 128: 32n };

interface Run {
  bits: 32 | 128;
  /** The first, as it was given. */
  text: string;
  first: bigint;
  last: bigint;
}

/**
 * Joins addresses that come in ascending order, IPv4 before IPv6, into the fewest networks that hold exactly them,
 * IPv4 none wider than /8 and IPv6 none wider than /32. Only the run of neighbours under way is kept, as its two ends.
 */
export function addressCollapser() {
  let run: Run | null = null;
  return {
    /** The networks that this address shows to be complete, perhaps none. */
    add(address: string): string[] {
      const { bits, number } = parse(address);
      if (run?.bits === bits && (number === run.last || number === run.last + 1n)) {
        run.last = number;
        return [];
      }
      const complete = run === null ? [] : networks(run);
      run = { bits, text: address, first: number, last: number };
      return complete;
    },
    /** What is left when no address follows. */
    end(): string[] {
      const rest = run === null ? [] : networks(run);
      run = null;
      return rest;
    },
  };
}

function parse(address: string): { bits: 32 | 128; number: bigint } {
  if (!address.includes(':')) {
    const number = address.split('.').reduce((before, octet) => before * 256 + Number(octet), 0);
    return { bits: 32, number: BigInt(number) };
  }
  const bytes = ipaddr.parse(address).toByteArray();
  return { bits: 128, number: BigInt(`0x${Buffer.from(bytes).toString('hex')}`) };
}

/** From the lower end, each time the largest block that starts there and stays within. */
function networks({ bits, text, first, last }: Run): string[] {
  if (first === last) return [text];
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
