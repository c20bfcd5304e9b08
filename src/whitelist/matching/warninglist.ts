import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import { readEntry } from './entry.ts';
import { LIST_KINDS, type ListKind } from './rule.ts';

export interface Warninglist {
  name: string;
  description: string;
  version: string;
  kind: ListKind;
  /** Indicator types that the list applies to, including URLs that it matches through their host. */
  types: readonly IndicatorType[];
  /** As written in the list, trimmed. Each entry can be evaluated. */
  entries: readonly string[];
}

interface RejectedEntry {
  /** Position of the entry in the list, from 0. */
  index: number;
  /** Short and fixed, without the entry, for counting. */
  reason: string;
}

export type ParsedWarninglist = Warninglist & { rejectedEntries: readonly RejectedEntry[] };

type Fields = Record<string, unknown>;

/** Twice the longest public list (a million names). */
const MAX_ENTRIES = 2_000_000;
/** Each expression costs a pass over every value; published lists have one or two. */
const MAX_EXPRESSIONS = 50;
const MAX_NAME_LENGTH = 500;
const MAX_DESCRIPTION_LENGTH = 10_000;
const VERSION = /^[\w.:+-]{1,50}$/;
const CONTROL = /[\p{Cc}\u2028\u2029\p{Cs}]/u;

/**
 * Parses a MISP warninglist (`list.json` of the misp-warninglists repository). As in MISP, a list without
 * `type` is a list of strings, of several types the first counts, a missing version is 1, and the entries may
 * be the keys of an object of comments. `rejectedEntries` has the entries that cannot be evaluated, or would
 * hide far more than their author can have meant. `json` is untrusted data, already parsed. Never throws.
 */
export function parseWarninglist(json: unknown): ParsedWarninglist | { rejected: string } {
  if (!isObject(json)) return { rejected: 'not an object' };
  const name = textOf(json.name, MAX_NAME_LENGTH);
  if (name === null || name === '') return { rejected: 'no usable name' };
  const description = textOf(json.description ?? '', MAX_DESCRIPTION_LENGTH);
  if (description === null) return { rejected: 'description not usable' };
  const version = versionOf(json.version ?? 1);
  if (version === null) return { rejected: 'version neither a number nor a short text' };
  const kind = kindOf(json.type);
  if (kind === null) return { rejected: 'type not known' };
  const types = attributeTypes(json.matching_attributes, kind);
  if ('rejected' in types) return types;
  const list = entriesOf(json.list);
  if (list === null) return { rejected: 'no list of entries' };
  if (list.length > MAX_ENTRIES) return { rejected: `more than ${MAX_ENTRIES} entries` };
  return { name, description, version, kind, types: types.types, ...sift(kind, list, types.types) };
}

function sift(kind: ListKind, list: readonly unknown[], types: readonly IndicatorType[]) {
  const entries: string[] = [];
  const rejectedEntries: RejectedEntry[] = [];
  for (const [index, entry] of list.entries()) {
    const reason = reasonAgainst(kind, entry, types, entries.length);
    if (reason === null) entries.push(String(entry).trim());
    else rejectedEntries.push({ index, reason });
  }
  return { entries, rejectedEntries };
}

function reasonAgainst(
  kind: ListKind,
  entry: unknown,
  types: readonly IndicatorType[],
  accepted: number,
): string | null {
  if (typeof entry !== 'string') return 'not text';
  // Checked before compiling: a million expressions would keep the process busy for minutes.
  if (kind === 'regex' && accepted >= MAX_EXPRESSIONS) return `more than ${MAX_EXPRESSIONS} expressions`;
  const rules = readEntry(kind, entry, types);
  return 'rejected' in rules ? rules.rejected : null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown, longest: number): string | null {
  if (typeof value !== 'string' || value.length > longest) return null;
  const text = value.replace(/\s+/g, ' ').trim();
  return CONTROL.test(text) ? null : text;
}

function versionOf(value: unknown): string | null {
  const version = typeof value === 'number' ? String(value) : value;
  return typeof version === 'string' && VERSION.test(version) ? version : null;
}

function kindOf(type: unknown): ListKind | null {
  const first: unknown = Array.isArray(type) ? type[0] : type;
  return LIST_KINDS.find((kind) => kind === (first ?? 'string')) ?? null;
}

function entriesOf(list: unknown): readonly unknown[] | null {
  if (Array.isArray(list)) return list;
  return isObject(list) ? Object.keys(list) : null;
}

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
function attributeTypes(
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
