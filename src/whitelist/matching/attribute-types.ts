import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import type { ListKind } from './list-kind.ts';

const ADDRESSES = ['IPV4', 'IPV6'] as const;
const HOSTS = [...ADDRESSES, 'DOMAIN'] as const;

/**
 * Indicator types by the MISP attribute types that a list names. `hostname|port` and the like count as the
 * type before the bar.
 */
const PLAIN: ReadonlyMap<string, readonly IndicatorType[]> = new Map<string, readonly IndicatorType[]>([
  ['ALL', INDICATOR_TYPES],
  ['ip-src', ADDRESSES],
  ['ip-dst', ADDRESSES],
  ['ip-src|port', ADDRESSES],
  ['ip-dst|port', ADDRESSES],
  ['domain', ['DOMAIN']],
  ['hostname', ['DOMAIN']],
  ['hostname|port', ['DOMAIN']],
  ['url', ['URL']],
  ['uri', ['URL']],
  ['md5', ['MD5']],
  ['sha1', ['SHA1']],
  ['sha256', ['SHA256']],
  ['filename', ['FILENAME']],
  ['email-attachment', ['FILENAME']],
  ['email', ['EMAIL']],
  ['email-src', ['EMAIL']],
  ['email-dst', ['EMAIL']],
  ['email-reply-to', ['EMAIL']],
  ['target-email', ['EMAIL']],
  ['dns-soa-email', ['EMAIL']],
  ['whois-registrant-email', ['EMAIL']],
  ['vulnerability', ['CVE']],
  ['btc', ['BTC_ADDRESS']],
  ['regkey', ['REGISTRY_KEY']],
  ['regkey|value', ['REGISTRY_KEY']],
  ['mutex', ['MUTEX']],
  ['user-agent', ['USER_AGENT']],
  ['http-user-agent', ['USER_AGENT']],
  ['AS', ['ASN']],
]);

/**
 * MISP compares both halves of these composite types, so lists name them for the sake of one half: a list of
 * mail providers `domain|ip`, a list of hashes `filename|md5`. They count only if the list names no plain
 * type.
 */
const COMPOSITE: ReadonlyMap<string, readonly IndicatorType[]> = new Map<string, readonly IndicatorType[]>([
  ['domain|ip', ['DOMAIN', 'IPV4', 'IPV6']],
  ['filename|md5', ['FILENAME', 'MD5']],
  ['filename|sha1', ['FILENAME', 'SHA1']],
  ['filename|sha256', ['FILENAME', 'SHA256']],
  ['malware-sample', ['FILENAME', 'MD5']],
]);

/**
 * Indicator types that entries of a kind can match; entries of other kinds can match every type. A network
 * never matches a name.
 */
const TYPES_OF_KIND: Partial<Record<ListKind, readonly IndicatorType[]>> = {
  cidr: ['IPV4', 'IPV6', 'URL'],
  hostname: ['IPV4', 'IPV6', 'DOMAIN', 'URL', 'EMAIL'],
};

/**
 * Returns the types that a list applies to, in the order of the vocabulary; all types for a list that names
 * none. A list of names or addresses also applies to URLs, through their host: blocking such a URL blocks the
 * host. It applies to e-mail addresses only if it names them, as in MISP: blocking one sender at a large mail
 * provider blocks nobody else there. An expression is matched against whole values, so it gets only the types
 * that it names.
 */
export function attributeTypes(
  attributes: unknown,
  kind: ListKind,
): { types: readonly IndicatorType[] } | { rejected: string } {
  const named = namedTypes(attributes);
  if (named === null) return { rejected: 'matching_attributes not a list of names' };
  const possible = new Set(TYPES_OF_KIND[kind] ?? INDICATOR_TYPES);
  const hasHosts = HOSTS.some((type) => named.has(type) && possible.has(type));
  if (hasHosts && kind !== 'regex') named.add('URL');
  const types = INDICATOR_TYPES.filter((type) => named.has(type) && possible.has(type));
  return types.length === 0 ? { rejected: 'no matching attribute that can be compared' } : { types };
}

function namedTypes(attributes: unknown): Set<IndicatorType> | null {
  if (attributes === undefined || attributes === null) return new Set(INDICATOR_TYPES);
  if (!Array.isArray(attributes) || attributes.length > 1000) return null;
  if (attributes.length === 0) return new Set(INDICATOR_TYPES);
  if (attributes.some((name) => typeof name !== 'string')) return null;
  const plain = attributes.flatMap((name: string) => PLAIN.get(name) ?? []);
  return new Set(plain.length > 0 ? plain : attributes.flatMap((name: string) => COMPOSITE.get(name) ?? []));
}
