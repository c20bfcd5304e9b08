import ipaddr from 'ipaddr.js';

/** The number of an address: a number for IPv4, which costs a fraction of a bigint, and a bigint for IPv6. */
export type Address = number | bigint;

/** The addresses from `first` up to and including `last`, of one family. */
export interface AddressRange {
  first: Address;
  last: Address;
}

const [POINT, ZERO] = [0x2e, 0x30] as const;

/** Returns the number of a normalized address. */
export function parseAddress(text: string): Address {
  if (!text.includes(':')) return parseIpv4(text);
  const bytes = ipaddr.IPv6.parse(text).toByteArray();
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function parseIpv4(text: string): number {
  let [before, octet] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === POINT) [before, octet] = [before * 256 + octet, 0];
    else octet = octet * 10 + code - ZERO;
  }
  return before * 256 + octet;
}

/** Returns the addresses of a normalized address or CIDR block. */
export function rangeOf(text: string): AddressRange {
  const slash = text.indexOf('/');
  const first = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (slash < 0) return { first, last: first };
  const bits = Number(text.slice(slash + 1));
  return typeof first === 'bigint'
    ? { first, last: first + (1n << BigInt(128 - bits)) - 1n }
    : { first, last: first + 2 ** (32 - bits) - 1 };
}

/** Whether a normalized value of type IPV4 or IPV6 is a CIDR block. */
export function isBlock(value: string): boolean {
  return value.includes('/');
}

/** Returns the length of the prefix of a normalized CIDR block. */
export function prefixLength(block: string): number {
  return Number(block.slice(block.indexOf('/') + 1));
}

function isSameFamily(a: AddressRange, b: AddressRange): boolean {
  return typeof a.first === typeof b.first;
}

/** The IPv4-mapped addresses ::ffff:0:0/96 (RFC 4291 §2.5.5.2), which stand for IPv4 ones. */
const MAPPED: AddressRange = { first: 0xffff_0000_0000n, last: 0xffff_ffff_ffffn };

/** Whether a range of IPv6 has IPv4-mapped addresses. */
export function hasMapped(range: AddressRange): boolean {
  return isSameFamily(range, MAPPED) && range.first <= MAPPED.last && range.last >= MAPPED.first;
}

/** Whether all addresses of a range are in another. */
export function isWithin(range: AddressRange, outer: AddressRange): boolean {
  return isSameFamily(range, outer) && range.first >= outer.first && range.last <= outer.last;
}

/** Whether all addresses of a range are in one of these, which are in ascending order and do not overlap. */
export function isWithinAny(range: AddressRange, ranges: readonly AddressRange[]): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle] as AddressRange).first <= range.first) low = middle + 1;
    else high = middle;
  }
  const before = ranges[low - 1];
  return before !== undefined && isWithin(range, before);
}

/**
 * Returns the fewest CIDR blocks that contain exactly the addresses of a range; a single address has no prefix length.
 * @param widest the shortest prefix of a block
 */
export function blocksOf({ first, last }: AddressRange, widest = 0): string[] {
  const bits = typeof first === 'bigint' ? 128 : 32;
  const end = BigInt(last);
  const most = BigInt(bits - widest);
  const found: string[] = [];
  for (let start = BigInt(first); start <= end; ) {
    let size = 0n;
    while (size < most && (start >> size) % 2n === 0n && start + (2n << size) - 1n <= end) size++;
    const address = textOf(bits, start);
    found.push(size === 0n ? address : `${address}/${BigInt(bits) - size}`);
    start += 1n << size;
  }
  return found;
}

function textOf(bits: 32 | 128, number: bigint): string {
  if (bits === 32) return textOfIpv4(Number(number));
  const bytes = [...Buffer.from(number.toString(16).padStart(32, '0'), 'hex')];
  return new ipaddr.IPv6(bytes).toRFC5952String();
}

/**
 * Returns the addresses of a range without those of its parts, in ascending order.
 * @param parts within the range, in ascending order, without overlaps
 */
export function withoutParts({ first, last }: AddressRange, parts: readonly AddressRange[]): AddressRange[] {
  const left: AddressRange[] = [];
  let start = first;
  for (const part of parts) {
    if (part.first > start) left.push({ first: start, last: before(part.first) });
    start = after(part.last);
  }
  return start > last ? left : [...left, { first: start, last }];
}

/**
 * Returns the CIDR blocks with these lengths of their prefixes that contain a normalized address or block and more.
 * @param lengths in any order; those that are not shorter than the prefix of the block are ignored
 */
export function blocksAround(value: string, lengths: readonly number[]): string[] {
  const { first } = rangeOf(value);
  const own = isBlock(value) ? prefixLength(value) : typeof first === 'bigint' ? 128 : 32;
  return lengths
    .filter((length) => length < own)
    .map((length) => {
      if (typeof first === 'number') return `${textOfIpv4(first - (first % 2 ** (32 - length)))}/${length}`;
      const host = BigInt(128 - length);
      return `${textOf(128, (first >> host) << host)}/${length}`;
    });
}

/** Returns the CIDR block around an address with a prefix length (`10.0.0.1/8`); null: it is a block or an address as it is. */
export function blockOf(text: string): string | null {
  const [address = '', bits = ''] = text.split('/');
  const [block] = bits === '' ? [] : blocksAround(address, [Number(bits)]);
  return block === undefined || rangeOf(block).first === parseAddress(address) ? null : block;
}

function textOfIpv4(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
}

/** Returns the address that follows one. */
export function after(address: Address): Address {
  return typeof address === 'bigint' ? address + 1n : address + 1;
}

function before(address: Address): Address {
  return typeof address === 'bigint' ? address - 1n : address - 1;
}

/** Returns ranges in ascending order, joined where they overlap or touch. */
export function joined(ranges: readonly AddressRange[]): AddressRange[] {
  const sorted = [...ranges].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const found: AddressRange[] = [];
  for (const { first, last } of sorted) {
    const current = found.at(-1);
    if (current === undefined || first > after(current.last)) found.push({ first, last });
    else if (last > current.last) current.last = last;
  }
  return found;
}
