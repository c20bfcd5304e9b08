import { listedBlocks } from '../formats/listed-blocks.ts';
import { includesNamesBelow } from '../formats/listed-names.ts';
import { isBlock } from '../model/address-ranges.ts';
import { visibleText } from '../model/visible-text.ts';
import type { IndicatorType } from '../model/vocabulary.ts';

/** The languages of hunting queries: of Elastic with ECS fields, of Splunk with CIM fields, of Microsoft Defender XDR. */
export const QUERY_LANGUAGES = ['elastic-kql', 'splunk-spl', 'defender-kql'] as const;
export type QueryLanguage = (typeof QUERY_LANGUAGES)[number];

export interface Observable {
  type: IndicatorType;
  value: string;
  /** The whitelisted parts of a network, or names below a domain. */
  whitelistedParts: string[];
  /** Whether a hash is the fingerprint of a certificate. */
  ofCertificate: boolean;
}

interface Clause {
  types: readonly IndicatorType[];
  /** Returns the query for these values as the language writes them, one at least. */
  write(values: readonly string[]): string;
}

const quoted = (value: string) => `"${value.replace(/[\\"]/g, '\\$&')}"`;

/** Kibana Query Language: `field: ("a" or "b")`. */
const kql =
  (...fields: string[]) =>
  (values: readonly string[]) =>
    fields.map((field) => `${field}: (${values.join(' or ')})`).join(' or ');

/** Splunk's search command: `field IN ("a", "b")`. An asterisk would be a wildcard: such values are left out. */
const spl =
  (...fields: string[]) =>
  (values: readonly string[]) =>
    `search ${fields.map((field) => `${field} IN (${values.join(', ')})`).join(' OR ')}`;

/** Kusto: `Table | where Column in~ ("a", "b")`. */
const kusto = (table: string, column: string, operator: 'in~' | 'has_any') => (values: readonly string[]) =>
  `${table} | where ${column} ${operator} (${values.join(', ')})`;

const kustoNetworks = (is: 'ipv4_is_in_any_range' | 'ipv6_is_in_any_range') => (values: readonly string[]) =>
  `DeviceNetworkEvents | where ${is}(RemoteIP, dynamic([${values.join(', ')}]))`;

const CLAUSES: Record<QueryLanguage, readonly Clause[]> = {
  'elastic-kql': [
    { types: ['IPV4', 'IPV6'], write: kql('destination.ip', 'source.ip') },
    { types: ['DOMAIN'], write: kql('dns.question.name', 'url.domain') },
    { types: ['URL'], write: kql('url.original', 'url.full') },
    { types: ['SHA256'], write: kql('file.hash.sha256', 'process.hash.sha256') },
    { types: ['SHA1'], write: kql('file.hash.sha1', 'process.hash.sha1') },
    { types: ['MD5'], write: kql('file.hash.md5', 'process.hash.md5') },
    { types: ['FILENAME'], write: kql('file.name', 'process.name') },
    { types: ['EMAIL'], write: kql('email.from.address') },
    { types: ['USER_AGENT'], write: kql('user_agent.original') },
  ],
  'splunk-spl': [
    { types: ['IPV4', 'IPV6'], write: spl('dest_ip', 'src_ip') },
    { types: ['DOMAIN'], write: spl('query', 'url_domain') },
    { types: ['URL'], write: spl('url') },
    { types: ['SHA256', 'SHA1', 'MD5'], write: spl('file_hash', 'process_hash') },
    { types: ['FILENAME'], write: spl('file_name', 'process_name') },
    { types: ['EMAIL'], write: spl('src_user') },
    { types: ['USER_AGENT'], write: spl('http_user_agent') },
  ],
  'defender-kql': [
    { types: ['IPV4'], write: kustoNetworks('ipv4_is_in_any_range') },
    { types: ['IPV6'], write: kustoNetworks('ipv6_is_in_any_range') },
    { types: ['DOMAIN', 'URL'], write: kusto('DeviceNetworkEvents', 'RemoteUrl', 'has_any') },
    { types: ['SHA256'], write: kusto('DeviceFileEvents', 'SHA256', 'in~') },
    { types: ['SHA1'], write: kusto('DeviceFileEvents', 'SHA1', 'in~') },
    { types: ['MD5'], write: kusto('DeviceFileEvents', 'MD5', 'in~') },
    { types: ['FILENAME'], write: kusto('DeviceFileEvents', 'FileName', 'in~') },
    { types: ['EMAIL'], write: kusto('EmailEvents', 'SenderFromAddress', 'in~') },
  ],
};

/** The maximum length of a value in a query, and of all values of the queries, in characters of JSON. */
const MAX_VALUE = 200;
const MAX_VALUES = 5_000;

const lengthOf = (written: string) => JSON.stringify(written).length;

/** Returns whether a query can hold a value as it is: not too long, of visible characters, and without wildcards of the language. */
function isQueryable(type: IndicatorType, value: string, language: QueryLanguage): boolean {
  if (lengthOf(quoted(value)) > MAX_VALUE || visibleText(value) !== value || /[⟪⟫]/.test(value)) return false;
  // The fields of names have no folders.
  if (type === 'FILENAME' && /[\\/]/.test(value)) return false;
  if (language !== 'splunk-spl') return true;
  // The search command matches networks in fields of addresses, but IN compares their text. Back quotes are macros.
  return !/[*`]/.test(value) && !((type === 'IPV4' || type === 'IPV6') && isBlock(value));
}

/** Returns the values that queries compare for an observable, as the language writes them; none: they cannot express it. */
function valuesOf(observable: Observable, language: QueryLanguage): string[] {
  const { type, value, ofCertificate } = observable;
  const values = type === 'DOMAIN' ? [value] : listedBlocks(observable, { addParts() {} });
  // The fields of hashes are those of files.
  if (ofCertificate || !values.every((one) => isQueryable(type, one, language))) return [];
  if (type !== 'DOMAIN') return values.map(quoted);
  if (includesNamesBelow(observable)) return [quoted(value), ...NAMES_BELOW[language](value)];
  // has_any would find the names below, too.
  return language === 'defender-kql' ? [] : [quoted(value)];
}

/** The names below a domain; a quoted asterisk is none of Kibana's wildcards. */
const NAMES_BELOW: Record<QueryLanguage, (name: string) => string[]> = {
  'elastic-kql': (name) => [`*.${name}`],
  'splunk-spl': (name) => [quoted(`*.${name}`)],
  'defender-kql': () => [],
};

export interface Queries {
  queries: { types: IndicatorType[]; query: string }[];
  /** Observables that no query has: of a type that the language has no field for, that it cannot express, or of too many blocks. */
  leftOut: number;
}

/** Returns queries that find events with these observables, one for each kind of event. */
export function huntingQueries(observables: readonly Observable[], language: QueryLanguage): Queries {
  const written = CLAUSES[language].map((clause) => ({ ...clause, values: [] as string[] }));
  let [length, leftOut] = [0, 0];
  for (const observable of observables) {
    const clause = written.find(({ types }) => types.includes(observable.type));
    const values = clause ? valuesOf(observable, language) : [];
    const added = values.reduce((sum, value) => sum + lengthOf(value), 0);
    if (values.length === 0 || length + added > MAX_VALUES) leftOut++;
    else {
      length += added;
      clause?.values.push(...values);
    }
  }
  const queries = written
    .filter(({ values }) => values.length > 0)
    .map(({ types, write, values }) => ({ types: [...types], query: write(values) }));
  return { queries, leftOut };
}
