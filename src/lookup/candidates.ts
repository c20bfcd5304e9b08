import { isPublicSuffix, urlParts } from '../formats/url-parts.ts';
import { blocksAround } from '../model/address-ranges.ts';
import { normalizeDetected } from '../model/detect-type.ts';
import { normalize } from '../model/normalize.ts';
import { isIpv4 } from '../model/normalize-address.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';

/** How a listed indicator relates to the value that was asked for. */
export const RELATIONS = [
  'exact',
  'in-network',
  'parent-domain',
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

/**
 * Returns the indicators of any type that a text can be whose form identifies none: a file name, a mutex, a user agent, a
 * name without a public suffix.
 */
export function candidatesOfAnyType(text: string): Candidate[] {
  return INDICATOR_TYPES.flatMap((type) => {
    const result = normalize(type, text);
    return 'rejected' in result ? [] : [{ relation: 'exact', type, normalized: result.normalized }];
  });
}

/**
 * The maximum number of listed prefixes of a URL that are looked for: a path of thousands of segments must not make
 * thousands of look-ups.
 */
const MAX_PREFIXES = 32;

/**
 * Returns the indicators that say something about a value, itself first. A public suffix (`co.uk`, `github.io`) is no
 * parent, for the names below it belong to different owners.
 */
export function candidatesOf({ type, normalized }: ReadValue): Candidate[] {
  return [{ relation: 'exact', type, normalized }, ...relatedOf(type, normalized)];
}

type AddressValue = Pick<ReadValue, 'normalized'> & { type: 'IPV4' | 'IPV6' };

/** Returns the address or network that a value is, or the address that is the host of a URL; null for all others. */
export function addressOf({ type, normalized }: ReadValue): AddressValue | null {
  if (type === 'IPV4' || type === 'IPV6') return { type, normalized };
  if (type !== 'URL') return null;
  const { host } = urlParts(normalized);
  if (isIpv4(host)) return { type: 'IPV4', normalized: host };
  const read = host.startsWith('[') ? normalize('IPV6', host) : null;
  return read && 'type' in read ? { ...read, type: read.type as AddressValue['type'] } : null;
}

/**
 * Returns the networks around an address or network, the smallest first.
 * @param lengths the lengths of prefixes to try, descending, by type
 */
export function networksAround(
  { type, normalized }: AddressValue,
  lengths: ReadonlyMap<IndicatorType, number[]>,
): Candidate[] {
  return blocksAround(normalized, lengths.get(type) ?? []).map((block) => ({
    relation: 'in-network',
    type,
    normalized: block,
  }));
}

function relatedOf(type: IndicatorType, normalized: string): Candidate[] {
  if (type === 'DOMAIN') return parents(normalized);
  if (type === 'EMAIL') return namesOf(normalized.slice(normalized.lastIndexOf('@') + 1), 'email-domain');
  if (type !== 'URL') return [];
  const { host } = urlParts(normalized);
  return [...prefixes(normalized), ...namesOf(host.replace(/^\[|\]$/g, ''), 'url-host')];
}

/** The host itself, by its own relation, and the domains above a name. */
function namesOf(host: string, relation: Relation): Candidate[] {
  for (const type of ['IPV4', 'IPV6', 'DOMAIN'] as const) {
    const read = normalize(type, host);
    if (!('type' in read)) continue;
    const own = { relation, type: read.type, normalized: read.normalized };
    return read.type === 'DOMAIN' ? [own, ...parents(read.normalized)] : [own];
  }
  return [];
}

function parents(name: string): Candidate[] {
  const found: Candidate[] = [];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const parent = name.slice(dot + 1);
    // Nothing above a public suffix belongs to the owner of the name.
    if (!parent.includes('.') || isPublicSuffix(parent)) break;
    found.push({ relation: 'parent-domain', type: 'DOMAIN', normalized: parent });
  }
  return found;
}

/** The URL without its query, and what is above it with and without a slash at the end, longest first. */
function prefixes(url: string): Candidate[] {
  const { path, query } = urlParts(url);
  const start = url.length - path.length - query.length;
  const found = query === '' ? [] : [path];
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    if (slash < path.length - 1) found.push(path.slice(0, slash + 1));
    found.push(path.slice(0, slash));
  }
  if (path !== '/') found.push('/');
  // The last one is the root, which is worth more than a folder deep down.
  const chosen = found.length > MAX_PREFIXES ? [...found.slice(0, MAX_PREFIXES - 1), '/'] : found;
  return chosen.map((prefix) => ({
    relation: 'url-prefix',
    type: 'URL',
    normalized: url.slice(0, start) + prefix,
  }));
}
