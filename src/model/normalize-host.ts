import { domainToASCII } from 'node:url';
import { isIpv4, isNetwork, normalizeIpv4, normalizeIpv6 } from './normalize-address.ts';
import type { NormalizeResult } from './normalize-result.ts';
import { refangHost, withoutJoiners } from './refang-host.ts';

export const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
/**
 * A name of 253 characters in A-labels cannot come from a longer one. The limit exists because Punycode takes
 * quadratic time.
 */
export const MAX_UNICODE_LENGTH = 1024;

// Underscores and outer hyphens are no host names by RFC 1123, but DNS carries them and attackers use them.
const LABEL = /^[a-z0-9_-]+$/;
const TOP_LEVEL = /^[a-z][a-z0-9-]*[a-z0-9]$/;
// Names that need no further check: two or more plain labels and a top level of letters.
const PLAIN_NAME = /^[a-z0-9][a-z0-9_-]{0,62}\.(?:[a-z0-9_-]{1,63}\.){0,8}[a-z]{2,24}$/;
const INTERNATIONAL = /[^\p{ASCII}]|xn--/u;
const INTERNATIONAL_NAME = /^(?:[a-z0-9._-]|[^\p{ASCII}])+$/u;
const WILDCARD = /^(?=.*\*)[a-z0-9_.*-]+$/;
const AN_ADDRESS = 'an IP address, not a domain';
const PORT = /:(\d{0,5})$/;
const MAX_PORT = 65535;

/**
 * Normalizes a name to two or more A-labels in lower case, without trailing dot and port (RFC 1035 §2.3.4,
 * RFC 5891).
 */
export function normalizeDomain(text: string): NormalizeResult {
  const host = refangHost(text);
  if (host.includes('/') || host.includes('\\')) return { rejected: whyNoName(host, 'a URL, not a domain') };
  const port = host.includes(':') ? PORT.exec(host) : null;
  const name = asciiName(port === null ? host : host.slice(0, port.index));
  const problem = domainProblem(name);
  if (problem !== null) return { rejected: whyNoName(host, problem) };
  if (Number(port?.[1] ?? 0) > MAX_PORT) return { rejected: 'not a valid port' };
  return { type: 'DOMAIN', value: name, normalized: name };
}

function whyNoName(text: string, otherwise: string): string {
  if (isNetwork(text)) return 'a network, not a domain';
  return 'type' in normalizeIpv4(text) || 'type' in normalizeIpv6(text) ? AN_ADDRESS : otherwise;
}

/** Lower case and A-labels, without a trailing dot; '' when IDNA (UTS #46) does not allow the name. */
export function asciiName(text: string): string {
  const name = withoutTrailingDot(text.toLowerCase());
  if (!INTERNATIONAL.test(name) || name.length > MAX_UNICODE_LENGTH) return name;
  // domainToASCII stops at / ? # and decodes %, so only characters of names may reach it.
  if (!INTERNATIONAL_NAME.test(name)) return '';
  return withoutTrailingDot(domainToASCII(name) || domainToASCII(withoutJoiners(name)));
}

function withoutTrailingDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** Returns why a name from `asciiName` is not a domain; null if it is one. */
export function domainProblem(name: string): string | null {
  if (PLAIN_NAME.test(name) && name.length <= MAX_NAME_LENGTH) return null;
  if (isIpv4(name)) return AN_ADDRESS;
  if (WILDCARD.test(name)) return 'a wildcard, not a domain';
  // A leading hyphen would be an option to the command-line tools the value is pasted into.
  if (name.startsWith('-')) return 'not a valid domain';
  const problem = hostNameProblem(name);
  if (problem !== null) return problem;
  const dot = name.lastIndexOf('.');
  if (dot === -1) return 'a single label, not a domain';
  return TOP_LEVEL.test(name.slice(dot + 1)) ? null : 'not a valid top-level domain';
}

/** Like `domainProblem`, but accepts any name that DNS can carry, single labels included. */
export function hostNameProblem(name: string): string | null {
  if (name.length > MAX_NAME_LENGTH) return `domain longer than ${MAX_NAME_LENGTH} characters`;
  for (const label of name.split('.')) {
    if (label.length > MAX_LABEL_LENGTH) return `domain label longer than ${MAX_LABEL_LENGTH} characters`;
    if (!LABEL.test(label)) return 'not a valid domain';
  }
  return null;
}
