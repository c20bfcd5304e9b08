import { blockOf, parseAddress } from '../../model/address-ranges.ts';
import { isIpv4, normalizeIpv4, normalizeIpv6 } from '../../model/normalize-address.ts';

export interface Network {
  /** The first address in 8 (IPv4) or 32 (IPv6) hexadecimal digits. */
  digits: string;
  /** Length of the prefix in bits. */
  bits: number;
  /** As usually written: `192.0.2.0/24`, `2001:db8::/32`; a single address has its /32 or /128. */
  text: string;
}

/** Hexadecimal digits of an IPv4 address. */
export const IPV4_DIGITS = 8;
const MAPPED = '00000000000000000000ffff';
const MAPPED_BITS = 96;
const PREFIX = /^\d{1,3}$/;

/**
 * Shortest prefix, by the number of digits: no holder was ever assigned more than an IPv4 /8 or, of IPv6
 * global unicast (2000::/3), a /16.
 */
const WIDEST = { 8: 8, 32: 16 } as const;
/**
 * Shortest prefix outside of the assigned space: multicast, link-local and the like are single blocks of that
 * size.
 */
const WIDEST_RESERVED = 3;

/**
 * Parses a network in CIDR notation, of IPv4 also with a netmask, or a single address. Rejects a network with bits set behind its prefix:
 * MISP does not match such an IPv4 network either, and hiding the /24 around a single intended address is
 * worse than an error. Rejects a network so wide that it would hide a large part of the Internet.
 */
export function readNetwork(text: string): Network | { rejected: string } {
  const slash = text.indexOf('/');
  const address = readAddress(slash === -1 ? text : text.slice(0, slash));
  if (address === null) return { rejected: 'neither an address nor a network' };
  const all = address.digits.length * 4;
  if (slash === -1) return { digits: address.digits, bits: all, text: `${address.text}/${all}` };
  const prefix = text.slice(slash + 1);
  if (isIpv4(prefix) && !address.isMapped && all === 32) {
    const length = lengthOfMask(prefix);
    return length === null
      ? { rejected: 'a netmask that is no prefix' }
      : readNetwork(`${address.text}/${length}`);
  }
  // Of an IPv4-mapped address, the prefix is written with the bits before the IPv4 address.
  const before = address.isMapped ? MAPPED_BITS : 0;
  const bits = PREFIX.test(prefix) ? Number(prefix) - before : -1;
  if (bits < 0 || bits > all) return { rejected: 'prefix length out of range' };
  const shortest = shortestPrefix(address.digits);
  if (bits < shortest) return { rejected: `a network wider than /${shortest + before}` };
  const block = blockOf(`${address.text}/${bits}`);
  if (block !== null) return { rejected: `a network with bits set behind its prefix: write ${block}` };
  return { digits: address.digits, bits, text: `${address.text}/${bits}` };
}

/** Returns whether a text is an address, alone or with a slash and a number or netmask, which may be out of range. */
export function isNetworkText(text: string): boolean {
  const [address = '', prefix = '0', ...more] = text.split('/');
  const isPrefix = /^\d+$/.test(prefix) || isIpv4(prefix);
  return more.length === 0 && isPrefix && readAddress(address) !== null;
}

/** Returns the length of the prefix that a netmask stands for: it is ones, then zeros. null: it is none. */
function lengthOfMask(mask: string): number | null {
  const zeros = Math.log2(2 ** 32 - Number(parseAddress(mask)));
  return Number.isInteger(zeros) ? 32 - zeros : null;
}

function readAddress(text: string): { digits: string; text: string; isMapped: boolean } | null {
  const isIpv6 = text.includes(':') && text.indexOf(':') !== text.lastIndexOf(':');
  const result = isIpv6 ? normalizeIpv6(text) : normalizeIpv4(text);
  if ('rejected' in result) return null;
  const digits = addressDigits(result.normalized);
  return digits === null
    ? null
    : { digits, text: result.normalized, isMapped: isIpv6 && result.type === 'IPV4' };
}

function shortestPrefix(digits: string): number {
  const first = Number.parseInt(digits.charAt(0), 16);
  if (digits.length === IPV4_DIGITS) return first >= 0b1110 ? WIDEST_RESERVED : WIDEST[8];
  return first === 2 || first === 3 ? WIDEST[32] : WIDEST_RESERVED;
}

const BLOCK = /^([\da-f:.]{2,45})\/(\d{1,3})$/;

/** Returns the digits of the first and the last address of a normalized CIDR block; null for any other text. */
export function blockDigits(block: string): { first: string; last: string } | null {
  const [, address = '', bits = ''] = BLOCK.exec(block) ?? [];
  const first = address === '' ? null : addressDigits(address);
  if (first === null || Number(bits) > first.length * 4) return null;
  const host = BigInt(first.length * 4 - Number(bits));
  const last = BigInt(`0x${first}`) + (1n << host) - 1n;
  return { first, last: last.toString(16).padStart(first.length, '0') };
}

/**
 * Returns the hexadecimal digits of a host that is an address: a dotted quad, or groups in the notation of
 * RFC 5952 and the URL standard, without brackets. An IPv4-mapped address also gives 8 digits. null for any
 * other host.
 */
export function addressDigits(host: string): string | null {
  if (host.includes(':')) return ipv6Digits(host);
  const last = host.charCodeAt(host.length - 1);
  return last >= 0x30 && last <= 0x39 ? ipv4Digits(host) : null;
}

function ipv4Digits(host: string): string | null {
  const parts = host.split('.');
  if (parts.length !== 4) return null;
  const number = parts.reduce((sum, part) => sum * 256 + Number(part), 0);
  return number < 2 ** 32 ? number.toString(16).padStart(IPV4_DIGITS, '0') : null;
}

function ipv6Digits(host: string): string {
  const [head = '', tail] = host.split('::');
  const before = head === '' ? '' : groupDigits(head);
  const after = tail === undefined || tail === '' ? '' : groupDigits(tail);
  const digits = before + '0'.repeat(Math.max(0, 32 - before.length - after.length)) + after;
  return digits.startsWith(MAPPED) ? digits.slice(MAPPED.length) : digits;
}

function groupDigits(groups: string): string {
  return groups
    .split(':')
    .map((group) => group.padStart(4, '0'))
    .join('');
}
