import { parse } from 'tldts';
import { asciiName, hostNameProblem } from '../../model/normalize-url.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';

/** The hosts that a name covers. */
export type Reach = 'itself' | 'itself and below' | 'below';

/**
 * Names that cannot be registered, although the public suffix list has one of them (RFC 6761, RFC 6762, RFC
 * 8375, ICANN).
 */
const NEVER_REGISTERED: ReadonlySet<string> = new Set([
  ...['test', 'example', 'invalid', 'localhost', 'local', 'internal', 'home.arpa'],
]);

export const PUBLIC_SUFFIX = 'a public suffix';

/**
 * Parses a host name as lists write it: `name`, `.name`, `name.` and `name/`, each with the requested reach;
 * `*.name` covers the names below, but not the name itself. The public suffix list limits the reach:
 * - The suffix of a registry (`com`, `co.uk`) would cover all registrants: such an entry is a mistake or an
 *   attack, and is rejected.
 * - The suffix of a company (`github.io`, `duckdns.org`) would cover its customers, who are independent of
 *   each other: the entry covers the name alone. `*.github.io` states explicitly that all of them are meant.
 */
export function readName(text: string, reach: Reach): { name: string; reach: Reach } | { rejected: string } {
  const isWildcard = text.startsWith('*.');
  const name = asciiName(trimmed(isWildcard ? text.slice(2) : text));
  if (name === '' || hostNameProblem(name) !== null) return { rejected: 'not a host name' };
  if (reach === 'itself') return { name, reach };
  const suffix = suffixKind(name);
  if (suffix === 'registry') return { rejected: PUBLIC_SUFFIX };
  if (isWildcard) return { name, reach: 'below' };
  return { name, reach: suffix === 'company' ? 'itself' : reach };
}

/** Returns whether a name cannot be registered, or is below one that cannot. */
export function isReservedName(name: string): boolean {
  const labels = name.split('.');
  return NEVER_REGISTERED.has(labels.slice(-1).join('.')) || NEVER_REGISTERED.has(labels.slice(-2).join('.'));
}

/** Returns the kind of a suffix by the public suffix list; null for a name that is not a suffix. */
export function suffixKind(name: string): 'registry' | 'company' | null {
  if (NEVER_REGISTERED.has(name)) return null;
  const parsed = parse(name, { allowPrivateDomains: true, validateHostname: false });
  if (parsed.publicSuffix !== name) return null;
  if (parsed.isPrivate === true) return 'company';
  return parsed.isIcann === true ? 'registry' : null;
}

function trimmed(text: string): string {
  const start = text.startsWith('.') ? 1 : 0;
  return text.slice(start, text.endsWith('/') ? -1 : undefined);
}

/**
 * Returns the host in a normalized value, without user name, port, brackets and trailing dot; null for types
 * without a host. The IPv6 host of a URL is in the notation of the URL standard and may be IPv4-mapped.
 */
export function hostOf(type: IndicatorType, normalized: string): string | null {
  switch (type) {
    case 'DOMAIN':
    case 'IPV4':
    case 'IPV6':
      return normalized;
    case 'EMAIL':
      return normalized.slice(normalized.lastIndexOf('@') + 1);
    case 'URL':
      return hostOfUrl(normalized);
    default:
      return null;
  }
}

function hostOfUrl(url: string): string {
  const start = url.indexOf('://') + 3;
  const path = url.indexOf('/', start);
  const authority = url.slice(start, path === -1 ? undefined : path);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']'));
  const colon = host.indexOf(':');
  const name = colon === -1 ? host : host.slice(0, colon);
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
