import { domainToASCII } from 'node:url';
import { toUnicode } from 'tr46';
import {
  isIpv4,
  isNetwork,
  type NormalizeResult,
  normalizeIpv4,
  normalizeIpv6,
} from './normalize-address.ts';
import { refang, refangHost, withoutJoiners } from './refang.ts';
import { MAX_LENGTH } from './text.ts';

const SCHEME = /^(https?|ftps?|wss?):[/\\]/i;
const OTHER_SCHEME = /^(?!(?:https?|ftps?|wss?):)[a-z][a-z0-9+.-]*:(?!\d)/i;
const SCHEMELESS = /^([^/\\?#@\s]+?)(?::(\d{1,5}))?(?=[/\\?#]|$)/;
const LOOKS_LIKE_PREFIX = /^[/\\]\d{1,3}$/;
const SEVERAL = /\s(?:h[tx*]{2}ps?|f[tx*]ps?):\/\//i;
const DEFANGED_HOST = /[\\[\](){} ]/;
// The `\.` of a defanged host belongs to it, every other back slash ends it.
const UP_TO_PATH = /^(?:[a-z]+:\/\/)?(?:[^/\\?#]|\\\.)*/i;
const AUTHORITY = /^[a-z]+:[/\\]*([^/\\?#]*)/i;
const FTPS_DEFAULT_PORT = '990';
/** The parser can uncover something to refang: of `[:\\]` it makes `[://]`. Deeper nesting is an attack. */
const MAX_ROUNDS = 4;

/**
 * The WHATWG URL Standard's serialization (default port dropped, host in lower-case A-labels) without the
 * fragment, which never reaches a server. Without a scheme, http:// is assumed when a domain or an address
 * and a path or a port follow.
 */
export function normalizeUrl(text: string): NormalizeResult {
  let current = refangAuthority(text);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = serializeUrl(current);
    if ('rejected' in result) return result;
    const refanged = refang(result.href);
    if (refanged === result.href) return accept(result.href);
    if (refanged === null) break;
    current = refangAuthority(refanged);
  }
  return { rejected: 'nested defanging' };
}

/**
 * Refangs the host, and the rest if the host ends at `\/`, by which JSON and regular expressions mean a
 * slash.
 */
function refangAuthority(text: string): string {
  if (!DEFANGED_HOST.test(text)) return text;
  const end = UP_TO_PATH.exec(text)?.[0].length ?? 0;
  const start = text.lastIndexOf('@', end) + 1;
  const rest = text.startsWith('\\/', end) ? text.slice(end).replaceAll('\\/', '/') : text.slice(end);
  return text.slice(0, start) + refangHost(text.slice(start, end)) + rest;
}

function accept(href: string): NormalizeResult {
  if (href.length > MAX_LENGTH) return { rejected: `longer than ${MAX_LENGTH} characters` };
  return { type: 'URL', value: href, normalized: href };
}

function serializeUrl(text: string): { href: string } | { rejected: string } {
  if (SEVERAL.test(text)) return { rejected: 'more than one URL' };
  const withScheme = addScheme(text);
  if (typeof withScheme !== 'string') return withScheme;
  const fragment = withScheme.indexOf('#');
  const whole = fragment === -1 ? withScheme : withScheme.slice(0, fragment);
  if (whole.length > MAX_UNICODE_LENGTH && hostOf(whole).length > MAX_UNICODE_LENGTH)
    return { rejected: 'not a valid host' };
  const isFtps = whole.slice(0, 5).toLowerCase() === 'ftps:';
  const url = parse(isFtps ? `http${whole.slice(4)}` : whole);
  if (url === null) return { rejected: 'not a valid URL' };
  const problem = hostProblem(url.hostname);
  if (problem !== null) return { rejected: problem };
  return { href: isFtps ? ftpsHref(url, whole) : url.href };
}

function addScheme(text: string): string | { rejected: string } {
  if (SCHEME.test(text)) return text;
  if (OTHER_SCHEME.test(text)) return { rejected: 'unsupported URL scheme' };
  const parts = SCHEMELESS.exec(text);
  const host = parts?.[1];
  if (parts === null || host === undefined) return { rejected: 'not a valid URL' };
  const rest = text.slice(parts[0].length);
  const isAddress = 'type' in normalizeIpv4(host) || 'type' in normalizeIpv6(host);
  if (isAddress && (LOOKS_LIKE_PREFIX.test(rest) || isNetwork(text)))
    return { rejected: 'a network, not a URL' };
  if (!isAddress && domainProblem(asciiName(host)) !== null) return { rejected: 'not a valid URL' };
  const followed = parts[2] !== undefined || rest.startsWith('/') || rest.startsWith('\\');
  return followed ? `http://${text}` : { rejected: 'a URL without scheme and path' };
}

function parse(text: string): URL | null {
  const url = urlOrNull(text);
  if (url !== null) return url;
  // A joiner between letters that need none is invisible and not allowed in names.
  const visible = withoutJoiners(text);
  return visible === text ? null : urlOrNull(visible);
}

/** Not by URL.canParse: once optimized, on Node 20 and 22, it rejects names with Latin-1 letters. */
function urlOrNull(text: string): URL | null {
  try {
    const url = new URL(text);
    return hasValidLabels(url.hostname) ? url : null;
  } catch {
    return null;
  }
}

/** Returns whether a text begins with the scheme of a URL. */
export function hasScheme(text: string): boolean {
  return SCHEME.test(text);
}

const DOT_AFTER_HOST = /^([a-z]+:\/\/[^/]*)\.(?=(?::\d+)?\/)/;
const END_OF_HOST = /^([a-z]+:\/\/[^/]*?)(?=(?::\d+)?\/)/;

/** Returns a normalized URL without the dot after its host, with which the host is the same (RFC 1034 §3.1). */
export function withoutHostDot(url: string): string {
  return url.replace(DOT_AFTER_HOST, '$1');
}

/** Returns a normalized URL, which has no dot after its host, with one. */
export function withHostDot(url: string): string {
  return url.replace(END_OF_HOST, '$1.');
}

function hostOf(url: string): string {
  const authority = AUTHORITY.exec(url)?.[1] ?? '';
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/**
 * Returns why DNS does not carry a host that the WHATWG parser accepts: wildcards, empty and over-long
 * labels.
 */
function hostProblem(hostname: string): string | null {
  if (hostname.startsWith('[')) return null;
  if (hostname.includes('*')) return 'a wildcard, not a URL';
  const problem = hostNameProblem(hostname.endsWith('.') ? hostname.slice(0, -1) : hostname);
  return problem === null ? null : 'not a valid host';
}

/**
 * ftps is no "special" scheme of the standard, so its host would stay as it was written. `url` was parsed
 * as http, which drops port 80; the https reading of the same text has it.
 */
function ftpsHref(url: URL, whole: string): string {
  const port = url.port || parse(`https${whole.slice(4)}`)?.port || '';
  const user = url.password === '' ? url.username : `${url.username}:${url.password}`;
  const authority = `${user === '' ? '' : `${user}@`}${url.hostname}`;
  const shownPort = port === '' || port === FTPS_DEFAULT_PORT ? '' : `:${port}`;
  return `ftps://${authority}${shownPort}${url.pathname}${url.search}`;
}

export const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
/**
 * A name of 253 characters in A-labels cannot come from a longer one. The limit exists because Punycode takes
 * quadratic time.
 */
const MAX_UNICODE_LENGTH = 1024;

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
  return aLabels(name) || aLabels(withoutJoiners(name));
}

function aLabels(name: string): string {
  const ascii = withoutTrailingDot(domainToASCII(name));
  return hasValidLabels(ascii) ? ascii : '';
}

/**
 * Returns whether the A-labels of a host are those of U-labels (RFC 5890, 2.3.2.1) that UTS #46 allows, with the rules for right-to-left
 * text (RFC 5893). Versions of Node.js differ: 24 leaves any other A-labels as they are, 20 and 22 reject most but not by those rules. The
 * same value must have the same identity on all of them.
 */
function hasValidLabels(host: string): boolean {
  // Schemes other than those of the WHATWG URL keep the case of the host.
  const name = host.toLowerCase();
  if (!name.includes('xn--')) return true;
  const { domain, error } = toUnicode(name, { checkBidi: true, checkJoiners: true });
  return !error && domainToASCII(domain) === name;
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

/**
 * Returns the URL if it begins with http:// or https://, else null. `URL.canParse` is wrong at times in Node
 * 20.
 */
export function httpUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
  } catch {
    return null;
  }
}

/**
 * Parses the address of a source, a provider or a webhook. Addresses are shown, logged and audited, so that they hold no
 * user name and no password.
 */
export function endpointUrl(text: string): URL | { rejected: string } {
  const url = httpUrl(text);
  if (!url) return { rejected: 'the address must be a URL that begins with http:// or https://' };
  if (url.username === '' && url.password === '') return url;
  return { rejected: 'the address must not have a user name or a password: addresses hold no credentials' };
}
