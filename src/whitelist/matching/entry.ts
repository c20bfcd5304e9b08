import { detectType } from '../../model/detect-type.ts';
import { normalize } from '../../model/normalize.ts';
import { type NormalizeResult, RANGE } from '../../model/normalize-address.ts';
import { normalizeEach } from '../../model/normalize-range.ts';
import { hasScheme, withoutHostDot } from '../../model/normalize-url.ts';
import { refang } from '../../model/refang.ts';
import { readText, searchText } from '../../model/text.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import { readExpression } from './expression.ts';
import { isReservedName, PUBLIC_SUFFIX, type Reach, readName, suffixKind } from './names.ts';
import { isNetworkText, readNetwork } from './network.ts';
import type { ListKind, Rule, Rules } from './rule.ts';

const NAMED: ReadonlySet<IndicatorType> = new Set(['DOMAIN', 'URL', 'EMAIL']);
const ADDRESSED: ReadonlySet<IndicatorType> = new Set(['IPV4', 'IPV6', 'URL']);
/** A cheap test before parsing an address: most entries are names, of which there may be a million. */
const MAY_BE_ADDRESS = /:|\d$/;
/** A leading dot or `*.`: the entry means the names below. */
const ABOVE_NAMES = /^(?:\*\.|\.)/;

/**
 * Returns the rules of an entry in a list of the given kind and types, or the reason why there are none:
 * short and fixed, without the entry. The entry is normalized in the same way as values, in letter case,
 * trailing dots and everything else that `normalize` unifies.
 */
export function readEntry(kind: ListKind, entry: string, types: readonly IndicatorType[]): Rules {
  const read = readText(entry);
  if ('rejected' in read) return read;
  switch (kind) {
    case 'string':
      return readString(read.text, types);
    case 'hostname':
      return readHost(read.text, 'itself and below');
    case 'cidr':
      return networkRule(read.text);
    case 'substring':
      return readSubstring(read.text);
    case 'regex': {
      const result = readExpression(read.text, types);
      return 'rejected' in result ? result : [{ by: 'expression', ...result }];
    }
  }
}

/**
 * Reads a string as a value of each type of the list. A name or an address is also matched as a host; with a
 * leading dot (`.google.com`) it also covers the names below. MISP compares literally and never matches such
 * entries.
 */
function readString(text: string, types: readonly IndicatorType[]): Rules {
  const host = types.some((type) => NAMED.has(type) || ADDRESSED.has(type)) ? stringHost(text, types) : [];
  const values = types.flatMap((type) => stringValue(type, text));
  if (!('rejected' in host)) {
    const rules = [...host, ...values];
    return rules.length > 0 ? rules : { rejected: 'no value of a type of the list' };
  }
  return values.length > 0 ? values : host;
}

function stringHost(text: string, types: readonly IndicatorType[]): Rules {
  const rules = readHost(text, ABOVE_NAMES.test(text) ? 'itself and below' : 'itself');
  if ('rejected' in rules) return rules;
  const possible = rules.some(({ by }) => by === 'network') ? ADDRESSED : NAMED;
  return types.some((type) => possible.has(type)) ? rules : [];
}

/** Returns no rule for types that the rule of the host covers already. */
function stringValue(type: IndicatorType, text: string): Rule[] {
  if (type === 'DOMAIN' || type === 'IPV4' || type === 'IPV6') return [];
  if (type === 'URL')
    return urlsOf(text).map((url) => ({ by: 'value', type, value: withoutHostDot(url) }) as const);
  const result = normalize(type, text);
  return 'rejected' in result ? [] : [{ by: 'value', type: result.type, value: result.normalized }];
}

/** Returns the URLs that an entry states: without a scheme, those of http and https; none if it is no URL. */
export function urlsOf(text: string): string[] {
  const urls = normalizedOf(normalize('URL', text));
  const plain = urls.length > 0 ? refang(text) : null;
  if (plain === null || hasScheme(plain)) return urls;
  return [...urls, ...normalizedOf(normalize('URL', `https://${plain}`))];
}

function normalizedOf(result: NormalizeResult): string[] {
  return 'type' in result ? [result.normalized] : [];
}

function readHost(text: string, reach: Reach): Rules {
  const network = MAY_BE_ADDRESS.test(text) ? readNetwork(text) : null;
  if (network !== null && !('rejected' in network)) return [{ by: 'network', network }];
  const name = readName(text, reach);
  return 'rejected' in name ? name : [{ by: 'name', ...name }];
}

function networkRule(text: string): Rules {
  const network = readNetwork(text);
  return 'rejected' in network ? network : [{ by: 'network', network }];
}

export interface OperatorEntryRule {
  kind: ListKind;
  /** In canonical form, so that two spellings of one entry are equal. */
  entry: string;
  types: readonly IndicatorType[];
}

type Result = OperatorEntryRule | { rejected: string };

const OF_A_NAME: readonly IndicatorType[] = ['DOMAIN', 'URL', 'EMAIL'];
const OF_A_NETWORK: readonly IndicatorType[] = ['IPV4', 'IPV6', 'URL'];

/**
 * Parses an entry that an operator typed, defanged or not:
 * - an address or a network, also as a netmask or a range that is one network: it, and URLs with such a host;
 * - `example.com`: the name and the names below, with URLs and e-mail addresses there; `*.example.com`: the
 *   names below alone; `=example.com`: the name alone, with its URLs and e-mail addresses;
 * - `/pattern/i`: every value that matches;
 * - an e-mail address, a URL (without a scheme, that of http and of https), a hash, a CVE, an AS number, a Bitcoin address, a registry key: exactly that
 *   value.
 *
 * A file name, a mutex and a user agent cannot be recognized by their form, and a name outside the public DNS
 * (`intranet.corp`) cannot be distinguished from a file name: these need `type`.
 */
export function parseOperatorEntry(text: string, type?: IndicatorType): Result {
  const read = readText(text);
  if ('rejected' in read) return read;
  if (type !== undefined) return readAs(type, read.text);
  if (read.text.startsWith('/')) return readPattern(read.text);
  const plain = refang(read.text);
  if (plain === null || plain === '') return { rejected: 'nested defanging' };
  if (plain.startsWith('=')) return readNameAlone(plain.slice(1));
  if (plain.startsWith('*.')) return readNames(plain);
  if (isNetworkText(plain)) return readAddresses(plain);
  const range = readRange(plain);
  if (range !== null) return range;
  const detected = detectType(plain);
  if (detected !== null) return isWildcardUrl(detected, plain) ? URL_WITH_WILDCARD : readAs(detected, plain);
  const name = readName(plain, 'itself and below');
  if ('rejected' in name ? name.rejected === PUBLIC_SUFFIX : isReservedName(name.name))
    return readNames(plain);
  return { rejected: 'neither a name nor a value whose type can be told' };
}

/** A URL is compared as a whole: a `*` in it is a character like any other, which is hardly what somebody means who typed it. */
const URL_WITH_WILDCARD = {
  rejected:
    'a URL with a wildcard: write an expression, such as /^https?:\\/\\/example\\.com\\//, or give the type URL if the * belongs to it',
};

function isWildcardUrl(type: IndicatorType, text: string): boolean {
  return type === 'URL' && text.includes('*');
}

function readAs(type: IndicatorType, text: string): Result {
  if (type === 'DOMAIN') return readNames(text);
  if (type === 'IPV4' || type === 'IPV6') return readRange(text) ?? readAddresses(refang(text) ?? '');
  const result = normalize(type, text);
  if (type === 'URL' && 'type' in result) return { kind: 'string', entry: urlEntry(text), types: [type] };
  return 'rejected' in result ? result : { kind: 'string', entry: result.normalized, types: [result.type] };
}

/** Returns a URL as it is normalized; of one without a scheme, what follows the scheme, with a port that http or https has by default. */
function urlEntry(text: string): string {
  const [first = '', ofHttps] = urlsOf(text);
  if (ofHttps === undefined) return first;
  const rests = [first, ofHttps].map((url) => url.slice(url.indexOf('://') + 3));
  return rests.reduce((longest, rest) => (rest.length > longest.length ? rest : longest));
}

/** Reads a range of addresses, which is an entry if it is one network; null: it is none. */
function readRange(text: string): Result | null {
  const type = text.includes(':') ? 'IPV6' : 'IPV4';
  const one = normalize(type, text);
  if ('type' in one || one.rejected !== RANGE.rejected) return null;
  const networks = normalizeEach(text, () => one);
  const [first = one, ...more] = networks;
  if (first === one) return { rejected: 'a range: write it as networks, such as 192.0.2.0/24' };
  if ('rejected' in first) return first;
  if (more.length === 0) return readAddresses(first.normalized);
  const written = networks.flatMap(normalizedOf);
  return { rejected: `a range of ${written.length} networks: add ${written.join(', ')}` };
}

function readAddresses(text: string): Result {
  const network = readNetwork(text);
  return 'rejected' in network ? network : { kind: 'cidr', entry: network.text, types: OF_A_NETWORK };
}

function readNames(text: string): Result {
  const name = readName(refang(text) ?? '', 'itself and below');
  if ('rejected' in name) return name;
  return { kind: 'hostname', entry: name.reach === 'below' ? `*.${name.name}` : name.name, types: OF_A_NAME };
}

function readNameAlone(text: string): Result {
  const name = normalize('DOMAIN', text);
  return 'rejected' in name ? name : { kind: 'string', entry: name.normalized, types: OF_A_NAME };
}

function readPattern(text: string): Result {
  const result = readExpression(text, INDICATOR_TYPES);
  return 'rejected' in result ? result : { kind: 'regex', entry: text, types: INDICATOR_TYPES };
}

/** Minimum length of a part: three characters occur in too many values by chance. */
export const SHORTEST_PART = 4;
/** Maximum length of a part, which is that of a host name. */
const LONGEST_PART = 253;

/** Beginnings of very many values: a part of one of these would hide all of them. */
const COMMON = [
  ...[
    'http://www.',
    'https://www.',
    'ftp://',
    'ftps://',
    'mozilla/5.0 (',
    'cve-20',
    'hkey_local_machine\\software\\',
  ],
  ...['hkey_current_user\\software\\', 'hkey_users\\', 'hkey_classes_root\\'],
];

const OF_A_HOST = /^[a-z0-9._-]+$/;

/**
 * Parses a substring entry. A part that a host can contain is searched for in the host alone, any other part
 * in the whole value: attackers choose the path, the query and the part before the @, so `google.com` must
 * not hide `http://evil.example/google.com/`. Letter case is ignored.
 */
function readSubstring(text: string): Rules {
  const part = searchText(text);
  if (part.length < SHORTEST_PART) return { rejected: `a part shorter than ${SHORTEST_PART} characters` };
  if (part.length > LONGEST_PART) return { rejected: `a part longer than ${LONGEST_PART} characters` };
  if (COMMON.some((common) => common.includes(part))) return { rejected: 'a part of very many values' };
  const ofHost = OF_A_HOST.test(part);
  if (ofHost && suffixKind(part.replace(/^[.]+|[.]+$/g, '')) === 'registry')
    return { rejected: PUBLIC_SUFFIX };
  return [{ by: 'part', part, of: ofHost ? 'host' : 'value' }];
}
