import { publicSuffixOf, type UrlParts, urlParts } from '../formats/url-parts.ts';
import { blocksAround } from '../model/address-ranges.ts';
import { normalizeDetected } from '../model/detect-type.ts';
import { normalize, normalizeRead } from '../model/normalize.ts';
import { isIpv4, normalizeIpv6 } from '../model/normalize-address.ts';
import { normalizeDomain, withHostDot, withoutHostDot } from '../model/normalize-url.ts';
import { readText } from '../model/text.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';

/** How a listed indicator relates to the value that was asked for. */
export const RELATIONS = [
  'exact',
  'same-file',
  'in-network',
  'parent-domain',
  'url-scheme',
  'url-host',
  'url-prefix',
  'email-domain',
] as const;
export type Relation = (typeof RELATIONS)[number];

/** A value as it was read. */
export interface ReadValue {
  type: IndicatorType;
  value: string;
  normalized: string;
}

/** An indicator that would say something about a value. */
export interface Candidate {
  relation: Relation;
  type: IndicatorType;
  normalized: string;
}

/** Reads a value of any type, plain or defanged, by its form. */
export function readValue(text: string): ReadValue | { unreadable: string } {
  const result = normalizeDetected(text);
  return 'type' in result
    ? result
    : { unreadable: 'The form of the value identifies no type, and it is not known as a value of any type.' };
}

/** The types that no form identifies, so that a text of another form can be of them: `invoice.zip` is a domain and a file name. */
const TYPES_WITHOUT_FORM = ['MUTEX', 'FILENAME', 'USER_AGENT'] as const satisfies IndicatorType[];

/**
 * Visits the indicators that say something about a text: as what it was read and, except for URLs and addresses, as a value of the
 * types that no form identifies; if its form identifies none, as a value of any type.
 * @param lengths see `visitCandidates`
 */
export function visitText(
  text: string,
  read: ReturnType<typeof readValue>,
  lengths: PrefixLengths | null,
  visit: Visit,
): void {
  if ('type' in read) {
    visitCandidates(read, lengths, visit);
    if (read.type !== 'URL' && !isAddress(read)) visitWithoutForm(text, visit);
    return;
  }
  for (const type of INDICATOR_TYPES) {
    const result = normalize(type, text);
    if ('type' in result) visitCandidates(result, lengths, visit);
  }
}

function visitWithoutForm(text: string, visit: Visit): void {
  const raw = readText(text);
  if ('rejected' in raw) return;
  // Values of these types are not refanged, which would take most of the time.
  const read = { text: raw.text, refanged: null };
  for (const type of TYPES_WITHOUT_FORM) {
    const result = normalizeRead(type, read);
    if ('type' in result) visit('exact', type, result.normalized);
  }
}

/** Reads a text whose form identifies no type as the name or URL that has something listed above it. */
export function readAsName(text: string): ReadValue | null {
  const results = (['DOMAIN', 'URL'] as const).map((type) => normalize(type, text));
  return results.find((result) => 'type' in result) ?? null;
}

/** The lengths of the prefixes of networks to try, descending, by type. */
export type PrefixLengths = ReadonlyMap<IndicatorType, number[]>;

/**
 * The maximum number of listed prefixes of a URL that are looked for: a path of thousands of segments must not make
 * thousands of look-ups.
 */
const MAX_PREFIXES = 32;

/**
 * Receives a candidate: a text or, with `start` and `end`, a part of it. Most are not listed, so that an object or a text for
 * each would cost more than finding that out. Returns whether it may be listed.
 */
export type Visit = (
  relation: Relation,
  type: IndicatorType,
  text: string,
  start?: number,
  end?: number,
) => boolean;

/**
 * Visits the indicators that say something about a value, itself first. A public suffix (`co.uk`, `github.io`) is no
 * parent, for the names below it belong to different owners.
 * @param lengths null: only the value itself counts
 */
export function visitCandidates(
  { type, normalized }: ReadValue,
  lengths: PrefixLengths | null,
  visit: Visit,
): void {
  const mayBeListed = visit('exact', type, normalized);
  if (lengths === null) return;
  if (type === 'IPV4' || type === 'IPV6') visitNetworks({ type, normalized }, lengths, visit);
  else if (type === 'DOMAIN') visitParents(normalized, visit);
  else if (type === 'EMAIL') {
    const host = nameOf(normalized.slice(normalized.lastIndexOf('@') + 1));
    if (host !== null) visitHost(host, 'email-domain', visit);
  } else if (type === 'URL') {
    const parts = urlParts(normalized);
    const other = withOtherScheme(normalized, parts);
    if (other !== null) visit('url-scheme', 'URL', other);
    visitUrlForms(normalized, parts, mayBeListed, visit);
    const host = nameOf(parts.host);
    if (host === null) return;
    visitHost(host, 'url-host', visit);
    if (isAddress(host)) visitNetworks(host, lengths, visit);
  }
}

type AddressValue = Pick<ReadValue, 'normalized'> & { type: 'IPV4' | 'IPV6' };
type Host = Pick<ReadValue, 'type' | 'normalized'>;

/** Returns the address or network that a value is, or the address that is the host of a URL; null for all others. */
export function addressOf({ type, normalized }: ReadValue): AddressValue | null {
  const host = type === 'URL' ? nameOf(urlParts(normalized).host) : { type, normalized };
  return host !== null && isAddress(host) ? host : null;
}

const isAddress = (host: Host): host is AddressValue => host.type === 'IPV4' || host.type === 'IPV6';

/** Reads the host of a normalized URL or e-mail address; null for a single label. */
function nameOf(host: string): Host | null {
  if (isIpv4(host)) return { type: 'IPV4', normalized: host };
  const bare = host.startsWith('[') ? host.slice(1, -1) : host;
  const read = bare.includes(':') ? normalizeIpv6(bare) : normalizeDomain(bare);
  return 'type' in read ? read : null;
}

/** The host itself, by its own relation, and the domains above it. */
function visitHost({ type, normalized }: Host, relation: Relation, visit: Visit): void {
  visit(relation, type, normalized);
  if (type === 'DOMAIN') visitParents(normalized, visit);
}

/** The networks around an address or network, the smallest first. */
function visitNetworks({ type, normalized }: AddressValue, lengths: PrefixLengths, visit: Visit): void {
  for (const block of blocksAround(normalized, lengths.get(type) ?? [])) visit('in-network', type, block);
}

/**
 * Returns a URL of HTTP as the same one of HTTPS, and the other way round: lists often leave the scheme out, which is then read as http.
 * null for other schemes and where a port is named, which only one of the two speaks.
 */
function withOtherScheme(url: string, { scheme, port }: UrlParts): string | null {
  if (port !== null) return null;
  if (scheme === 'http') return `https${url.slice(4)}`;
  return scheme === 'https' ? `http${url.slice(5)}` : null;
}

/**
 * The prefixes of a URL; the URL without user name and without a dot after its host, and with the dot, each with its prefixes. Those with
 * the dot are visited only if one without it may be listed: `hashesOf` adds a listed one without it, too.
 */
function visitUrlForms(url: string, parts: UrlParts, mayBeListed: boolean, visit: Visit): void {
  let mayHaveDot = mayBeListed;
  const visitWithoutDot: Visit = (relation, type, text, start, end) => {
    const mayBe = visit(relation, type, text, start, end);
    mayHaveDot ||= mayBe;
    return mayBe;
  };
  visitPrefixes(url, parts, visitWithoutDot);
  const bare = withoutUser(withoutHostDot(url));
  if (bare !== url) {
    visitWithoutDot('url-prefix', 'URL', bare);
    visitPrefixes(bare, parts, visitWithoutDot);
  }
  const isName = !parts.host.startsWith('[') && !isIpv4(parts.host);
  const withDot = mayHaveDot && isName ? withHostDot(bare) : url;
  if (withDot === url) return;
  visit('url-prefix', 'URL', withDot);
  visitPrefixes(withDot, parts, visit);
}

/** Returns a normalized URL without the user name and password before its host: they do not change what is fetched. */
function withoutUser(url: string): string {
  const start = url.indexOf('://') + 3;
  const at = url.lastIndexOf('@', url.indexOf('/', start));
  return at < start ? url : url.slice(0, start) + url.slice(at + 1);
}

/** Nothing above a public suffix belongs to the owner of the name. */
function visitParents(name: string, visit: Visit): void {
  const suffix = publicSuffixOf(name).length;
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const start = dot + 1;
    if (name.indexOf('.', start) < 0 || name.length - start <= suffix) return;
    visit('parent-domain', 'DOMAIN', name, start);
  }
}

/**
 * The URL without its query, and the folders above it with and without a slash at the end, longest first. The root is
 * always among them, which is worth more than a folder deep down.
 */
function visitPrefixes(url: string, { path, query }: UrlParts, visit: Visit): void {
  const end = url.length - query.length;
  const root = end - path.length;
  let left = MAX_PREFIXES - 1;
  const visitUpTo = (place: number) => {
    if (left-- > 0) visit('url-prefix', 'URL', url, 0, place);
  };
  if (query !== '') visitUpTo(end);
  for (
    let slash = url.lastIndexOf('/', end - 1);
    slash > root && left > 0;
    slash = url.lastIndexOf('/', slash - 1)
  ) {
    if (slash < end - 1) visitUpTo(slash + 1);
    visitUpTo(slash);
  }
  if (path !== '/') visit('url-prefix', 'URL', url, 0, root + 1);
}
