import ipaddr from 'ipaddr.js';
import type { NormalizeResult } from './normalize-result.ts';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const IPV4_WITH_PORT_OR_PREFIX = /^([\d.]{7,15})(?::(\d{1,5})|\/(\d{1,2}))$/;
// What inet_aton takes and other parsers read differently: leading zeros, hexadecimal, fewer than four parts.
const INET_ATON = /^(?:0x[0-9a-f]{1,8}|\d{1,10})(?:\.(?:0x[0-9a-f]{1,8}|\d{1,10})){0,3}$/i;

const IPV6_CHARACTERS = /^[0-9a-f:.]{2,45}$/i;
const IPV6_BRACKETED = /^\[([^\]/]{2,110})\](?::(\d{1,5}))?$/;
const IPV6_WITH_PREFIX = /^([^/]{2,110})\/(\d{1,3})$/;
const ZONE = /%[^\s%]{1,64}$/;

const MAX_PORT = 65535;
const NETWORK = { rejected: 'a network, not an address' };

export function isIpv4(text: string): boolean {
  return IPV4.test(text);
}

/** A dotted quad, its port or /32 removed; an IPv4-mapped IPv6 address is the IPv4 address in it. */
export function normalizeIpv4(text: string): NormalizeResult {
  if (IPV4.test(text)) return ipv4(text);
  const parts = IPV4_WITH_PORT_OR_PREFIX.exec(text);
  if (parts !== null)
    return ipv4WithPortOrPrefix(parts[1] ?? '', Number(parts[2] ?? 0), Number(parts[3] ?? 32));
  const unmapped = normalizeIpv6(text);
  if ('type' in unmapped && unmapped.type === 'IPV4') return unmapped;
  return { rejected: INET_ATON.test(text) ? 'ambiguous IPv4 address' : 'not an IPv4 address' };
}

function ipv4WithPortOrPrefix(address: string, port: number, prefix: number): NormalizeResult {
  if (!IPV4.test(address) || port > MAX_PORT || prefix > 32) return { rejected: 'not an IPv4 address' };
  return prefix === 32 ? ipv4(address) : NETWORK;
}

function ipv4(address: string): NormalizeResult {
  return { type: 'IPV4', value: address, normalized: address };
}

/** RFC 5952 §4; zone, brackets, port and /128 removed. An IPv4-mapped address comes back as IPV4. */
export function normalizeIpv6(text: string): NormalizeResult {
  const bracketed = IPV6_BRACKETED.exec(text);
  if (bracketed !== null) {
    return Number(bracketed[2] ?? 0) > MAX_PORT ? notIpv6() : ipv6(bracketed[1] ?? '');
  }
  const network = IPV6_WITH_PREFIX.exec(text);
  if (network === null) return ipv6(text);
  const address = ipv6(network[1] ?? '');
  const prefix = Number(network[2]);
  if ('rejected' in address || prefix > 128) return notIpv6();
  return prefix === 128 ? address : NETWORK;
}

function ipv6(text: string): NormalizeResult {
  const canonical = canonicalIpv6(text.replace(ZONE, ''));
  if (canonical === null) return notIpv6();
  const type = canonical.includes(':') ? 'IPV6' : 'IPV4';
  return { type, value: canonical, normalized: canonical };
}

function notIpv6(): NormalizeResult {
  return { rejected: 'not an IPv6 address' };
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
