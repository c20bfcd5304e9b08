import { parse } from 'tldts';
import { asciiName, hostNameProblem } from '../../model/normalize-host.ts';

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
