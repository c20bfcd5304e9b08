import { normalizeIpv4, normalizeIpv6 } from '../../model/normalize-address.ts';

export interface Network {
  /** The first address in 8 (IPv4) or 32 (IPv6) hexadecimal digits. */
  digits: string;
  /** Length of the prefix in bits. */
  bits: number;
  /** As usually written: `192.0.2.0/24`, `2001:db8::/32`; a single address has its /32 or /128. */
  text: string;
}

const IPV4_DIGITS = 8;
const MAPPED = '00000000000000000000ffff';
const MAPPED_BITS = 96;
const PREFIX = /^\d{1,3}$/;
const HIGHEST_BITS = [0b0000, 0b1000, 0b1100, 0b1110] as const;

/** No wider network was ever given to one holder: a /8 of IPv4, and of IPv6's global unicast (2000::/3) a /16 at most. */
const WIDEST = { 8: 8, 32: 16 } as const;
/** Outside of what is given out: multicast, link-local and the like are single blocks of that size. */
const WIDEST_RESERVED = 3;

/**
 * A network in CIDR form, or a single address. Never one with bits set behind its prefix: MISP does not find such an IPv4
 * network either, and hiding the /24 around an address that was meant is worse than telling. Never one so wide that it would
 * hide a large part of the Internet.
 */
export function readNetwork(text: string): Network | { rejected: string } {
  const slash = text.indexOf('/');
  const address = readAddress(slash === -1 ? text : text.slice(0, slash));
  if (address === null) return { rejected: 'neither an address nor a network' };
  const all = address.digits.length * 4;
  if (slash === -1) return { digits: address.digits, bits: all, text: `${address.text}/${all}` };
  const prefix = text.slice(slash + 1);
  const bits = PREFIX.test(prefix) ? Number(prefix) - (address.isMapped ? MAPPED_BITS : 0) : -1;
  if (bits < 0 || bits > all) return { rejected: 'prefix length out of range' };
  if (bits < shortestPrefix(address.digits)) return { rejected: 'a network too wide' };
  if (commonDigits(address.digits, bits).padEnd(address.digits.length, '0') !== address.digits)
    return { rejected: 'a network with bits set behind its prefix' };
  return { digits: address.digits, bits, text: `${address.text}/${bits}` };
}

/** Whether an address stands there, alone or with a number behind a slash, which may still be out of range. */
export function isNetworkText(text: string): boolean {
  const [address = '', prefix = '0', ...more] = text.split('/');
  return more.length === 0 && /^\d+$/.test(prefix) && readAddress(address) !== null;
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

/** The digits that addresses of one network have in common. */
function commonDigits(digits: string, bits: number): string {
  const whole = bits >> 2;
  const rest = bits & 3;
  if (rest === 0) return digits.slice(0, whole);
  const nibble = Number.parseInt(digits.charAt(whole), 16) & (HIGHEST_BITS[rest] ?? 0);
  return digits.slice(0, whole) + nibble.toString(16);
}

/**
 * The hexadecimal digits of a host that is an address: a dotted quad, or groups as RFC 5952 and the URL standard write
 * them, without brackets. 8 digits too for an IPv4-mapped address. null for any other host.
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
