import ipaddr from 'ipaddr.js';
import { hasMapped, isBlock, parseAddress, rangeOf } from './address-ranges.ts';
import { refangHost } from './refang.ts';
import type { IndicatorType } from './vocabulary.ts';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const IPV4_WITH_PORT_OR_PREFIX = /^([\d.]{7,15})(?::(\d{0,5})|\/(\d{1,2}))$/;
const IPV4_WITH_MASK = /^([\d.]{7,15})\/((?:255|254|252|248|240|224|192|128|0)\.[\d.]{5,11})$/;
// 1.2.3.4-1.2.3.9, 1.2.3.4-9, 1.2.3.*, 1.2.x.x
const IPV4_RANGE =
  /^\d{1,3}(?:\.\d{1,3}){3} {0,2}[-–—] {0,2}[\d.]{1,15}$|^\d{1,3}(?:\.\d{1,3}){0,2}(?:\.(?:\*|x{1,3})){1,3}$/i;
// Forms that inet_aton accepts and other parsers read differently or reject: leading zeros, hexadecimal,
// fewer than four parts.
const INET_ATON = /^(?:0x[0-9a-f]{1,8}|\d{1,10})(?:\.(?:0x[0-9a-f]{1,8}|\d{1,10})){0,3}$/i;

const OCTAL = /^0[0-7]+$/;

const IPV6_CHARACTERS = /^[0-9a-f:.]{2,45}$/i;
const IPV6_BRACKETED = /^\[([^\]/]{2,110})\](?::(\d{0,5}))?$/;
const IPV6_WITH_PREFIX = /^([^/]{2,110})\/(\d{1,3})$/;
const IPV6_RANGE = /^([^-]{2,45})-([^-]{2,45})$/;
// Between the groups of an address, brackets and backslashes have no other meaning.
const DEFANGED_COLON = /[({]:[)}]|\\:/g;
/** The length of the prefix of IPv4-mapped addresses (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96;
const ZONE = /%[^\s%]{1,64}$/;

const MAX_PORT = 65535;
const HOST_BITS = { rejected: 'a network with bits set behind its prefix' };
const NO_PREFIX = { rejected: 'a network whose mask is no prefix' };
const HAS_MAPPED = { rejected: 'a network with IPv4-mapped addresses' };
export const RANGE = { rejected: 'a range, not an address' };
const NOT_IPV4 = { rejected: 'not an IPv4 address' };
const NOT_IPV6 = { rejected: 'not an IPv6 address' };

export function isIpv4(text: string): boolean {
  return IPV4.test(text);
}

/**
 * Normalizes a dotted quad, without its port, /32 or last dot, or a CIDR block (RFC 4632 §3.1), also one with a netmask;
 * an IPv4-mapped IPv6 address or block becomes the IPv4 one in it.
 */
export function normalizeIpv4(text: string): NormalizeResult {
  if (IPV4.test(text)) return ipv4(text);
  const host = refangHost(text);
  const address = host.endsWith('.') ? host.slice(0, -1) : host;
  if (IPV4.test(address)) return ipv4(address);
  const parts = IPV4_WITH_PORT_OR_PREFIX.exec(address);
  if (parts !== null)
    return ipv4WithPortOrPrefix(parts[1] ?? '', Number(parts[2] ?? 0), Number(parts[3] ?? 32));
  const unmapped = normalizeIpv6(text);
  return 'type' in unmapped && unmapped.type === 'IPV4' ? unmapped : notIpv4(address);
}

/** Whether the text is a CIDR block or an address with a netmask, of more than one address. */
export function isNetwork(text: string): boolean {
  return [normalizeIpv4(text), normalizeIpv6(text)].some(
    (result) =>
      result === HOST_BITS ||
      result === NO_PREFIX ||
      result === HAS_MAPPED ||
      ('type' in result && isBlock(result.value)),
  );
}

function notIpv4(text: string): NormalizeResult {
  const [, address = '', mask = ''] = IPV4_WITH_MASK.exec(text) ?? [];
  if (IPV4.test(address) && IPV4.test(mask)) return ipv4WithMask(address, parseAddress(mask) as number);
  if (IPV4_RANGE.test(text)) return RANGE;
  return isInetAton(text) ? { rejected: 'ambiguous IPv4 address' } : NOT_IPV4;
}

/** The last of fewer than four parts fills all the bytes that are left. */
function isInetAton(text: string): boolean {
  if (!INET_ATON.test(text)) return false;
  const parts = text.split('.').map((part) => (OCTAL.test(part) ? Number.parseInt(part, 8) : Number(part)));
  const last = parts.pop() ?? 0;
  return last < 256 ** (4 - parts.length) && parts.every((part) => part <= 255);
}

function ipv4WithPortOrPrefix(address: string, port: number, prefix: number): NormalizeResult {
  if (!IPV4.test(address) || port > MAX_PORT || prefix > 32) return NOT_IPV4;
  return prefix === 32 ? ipv4(address) : ipv4Block(address, prefix);
}

/** A netmask is ones, then zeros. */
function ipv4WithMask(address: string, mask: number): NormalizeResult {
  const prefix = 32 - Math.log2(2 ** 32 - mask);
  return Number.isInteger(prefix) ? ipv4WithPortOrPrefix(address, 0, prefix) : NO_PREFIX;
}

function ipv4Block(address: string, prefix: number): NormalizeResult {
  return (parseAddress(address) as number) % 2 ** (32 - prefix) === 0
    ? ipv4(`${address}/${prefix}`)
    : HOST_BITS;
}

function ipv4(address: string): NormalizeResult {
  return { type: 'IPV4', value: address, normalized: address };
}

/**
 * RFC 5952 §4, alone or as the first address of a CIDR block (RFC 4291 §2.3); zone, brackets, port and /128 removed. An
 * IPv4-mapped address or block comes back as IPV4.
 */
export function normalizeIpv6(text: string): NormalizeResult {
  const whole = refangHost(text.replace(DEFANGED_COLON, ':'));
  const bracketed = IPV6_BRACKETED.exec(whole);
  if (bracketed !== null) {
    return Number(bracketed[2] ?? 0) > MAX_PORT ? NOT_IPV6 : ipv6(bracketed[1] ?? '');
  }
  const network = IPV6_WITH_PREFIX.exec(whole);
  if (network === null) return isIpv6Range(whole) ? RANGE : ipv6(whole);
  const address = ipv6(network[1] ?? '');
  const prefix = Number(network[2]);
  if ('rejected' in address || prefix > 128) return NOT_IPV6;
  if (prefix === 128) return address;
  if (address.type === 'IPV4')
    return prefix < MAPPED_BITS ? NOT_IPV6 : ipv4Block(address.value, prefix - MAPPED_BITS);
  const hostBits = (parseAddress(address.value) as bigint) % (1n << BigInt(128 - prefix));
  if (hostBits !== 0n) return HOST_BITS;
  // It would stand for IPv4 addresses, too.
  return hasMapped(rangeOf(`${address.value}/${prefix}`)) ? HAS_MAPPED : block(address, prefix);
}

function block({ type, value }: NormalizedIndicator, prefix: number): NormalizeResult {
  return { type, value: `${value}/${prefix}`, normalized: `${value}/${prefix}` };
}

function isIpv6Range(text: string): boolean {
  const [, first = '', last = ''] = IPV6_RANGE.exec(text) ?? [];
  return canonicalIpv6(first) !== null && canonicalIpv6(last) !== null;
}

function ipv6(text: string): NormalizeResult {
  const canonical = canonicalIpv6(text.replace(ZONE, ''));
  if (canonical === null) return NOT_IPV6;
  const type = canonical.includes(':') ? 'IPV6' : 'IPV4';
  return { type, value: canonical, normalized: canonical };
}

/** RFC 5952 text of an IPv6 address; a dotted quad for an IPv4-mapped one; null when it is neither. */
function canonicalIpv6(text: string): string | null {
  if (!IPV6_CHARACTERS.test(text) || !text.includes(':')) return null;
  const groups = text.includes('.') ? withoutDottedQuad(text) : text;
  if (groups === null || !ipaddr.IPv6.isValid(groups)) return null;
  const address = ipaddr.IPv6.parse(groups);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toRFC5952String();
}

/** The embedded quad as two groups: ipaddr.js reads ::1.2.3.4 as ::ffff:1.2.3.4, and 010 as octal. */
function withoutDottedQuad(text: string): string | null {
  const start = text.lastIndexOf(':') + 1;
  const quad = text.slice(start);
  if (!IPV4.test(quad)) return null;
  const [a = 0, b = 0, c = 0, d = 0] = quad.split('.').map(Number);
  return `${text.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

export interface NormalizedIndicator {
  /** Usually the requested type; IPV4 if an IPv6 address turns out to be IPv4-mapped. */
  type: IndicatorType;
  /** The display form: normalized, with letter case kept where it is significant. */
  value: string;
  /** The form that identifies it and that `q` matches. */
  normalized: string;
  /** The shortest prefix among the networks of the range that it is part of; absent: it is part of none. */
  widestOfRange?: number;
}

/** The indicator, or why the value is not of its type: short and stable, without the value. */
export type NormalizeResult = NormalizedIndicator | { rejected: string };
