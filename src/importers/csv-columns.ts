import type { IndicatorType } from '../model/vocabulary.ts';

/**
 * A column that holds observables. Without a type of its own, the row's type column or the value's form
 * decides.
 */
export interface ValueColumn {
  index: number;
  name: string;
  type: IndicatorType | 'certificate:SHA1' | 'address' | null;
  /** The row's type column applies to it. */
  hasTypeColumn: boolean;
}

/** The positions of a file's columns; -1: the file has none of that kind. */
export interface CsvColumns {
  values: ValueColumn[];
  type: number;
  firstSeen: number;
  lastSeen: number;
  expiresAt: number;
  confidence: number;
  severity: number;
  tlp: number;
  forDetection: number;
  /** Whether the indicator is still in use, as Microsoft Sentinel and AlienVault OTX have it. */
  active: number;
  /** Lists of tags in one cell. */
  tagLists: number[];
  /** One tag a cell: names of malware and threats, which may hold blanks and commas. */
  tagWords: number[];
  /** All names, for messages. */
  names: string[];
}

/** Names normalized by `key`; of several matching columns, that of the first name in the list is used. */
const VALUE = [
  'ioc',
  'iocvalue',
  'indicator',
  'indicatorvalue',
  'value',
  'observable',
  'observablevalue',
  'c2',
  'host',
];
const TYPE = ['ioctype', 'indicatortype', 'observabletype', 'type'];
const FIRST_SEEN = [
  'firstseenutc',
  'firstseen',
  'dateadded',
  'timegenerated',
  'validfrom',
  'created',
  'listingdate',
  'date',
];
const LAST_SEEN = ['lastseenutc', 'lastseen', 'lastonline'];
const EXPIRES_AT = [
  'expirationdatetime',
  'validuntil',
  'expiresat',
  'expirationdate',
  'expires',
  'expiration',
  'expiry',
];
const CONFIDENCE = ['confidence', 'confidencelevel', 'confidencescore'];
const SEVERITY = ['severity'];
const TLP = ['tlp', 'trafficlightprotocollevel'];
const FOR_DETECTION = ['fordetection', 'toids'];
const ACTIVE = ['active', 'isactive'];
const TAG_LISTS = ['tags', 'tag', 'labels', 'attributetag', 'eventtag'];
const TAG_WORDS = ['malware', 'listingreason', 'malwareprintable', 'malwarefamily', 'threat', 'threattype'];

const TYPED_VALUES = new Map<string, IndicatorType | 'address'>([
  ['url', 'URL'],
  ['domain', 'DOMAIN'],
  ['domainname', 'DOMAIN'],
  ['hostname', 'DOMAIN'],
  ['fqdn', 'DOMAIN'],
  ['c2domain', 'DOMAIN'],
  ['ip', 'address'],
  ['ipaddress', 'address'],
  ['dstip', 'address'],
  ['srcip', 'address'],
  ['ipv4', 'IPV4'],
  ['ipv6', 'IPV6'],
  ['md5', 'MD5'],
  ['md5hash', 'MD5'],
  ['sha1', 'SHA1'],
  ['sha1hash', 'SHA1'],
  ['sha256', 'SHA256'],
  ['sha256hash', 'SHA256'],
  ['filename', 'FILENAME'],
  ['filepath', 'FILENAME'],
  ['email', 'EMAIL'],
  ['emailaddress', 'EMAIL'],
  ['cve', 'CVE'],
  ['cveid', 'CVE'],
  ['mutex', 'MUTEX'],
  ['registrykey', 'REGISTRY_KEY'],
  ['useragent', 'USER_AGENT'],
  ['asn', 'ASN'],
]);

/** For the error message of a file without any of them. */
export const ALLOWED_VALUE_COLUMNS = 'ioc, indicator, value, url, domain, ip, md5, sha1, sha256, …';

/** `First Seen (UTC)`, `first_seen_utc` and `FirstSeenUTC` are one name. */
function key(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Names that no cell of data has, unlike those that are types (`domain`), tags (`c2`) or states (`created`). */
const NEVER_DATA = new Set(
  [FIRST_SEEN, LAST_SEEN, EXPIRES_AT, CONFIDENCE, SEVERITY, TLP, FOR_DETECTION]
    .flat()
    .filter((name) => name !== 'created'),
);

/**
 * Returns whether cells that have the form of domains are names, as ECS and Kibana have them (`domain.name`, `event.id`): beside a name
 * that no cell of data has, or all known. A name does not begin with a digit.
 * @param dotted those that have the form
 */
export function areDottedNames(cells: string[], dotted: string[]): boolean {
  if (cells.some((cell) => /^\d/.test(cell))) return false;
  if (cells.some((cell) => NEVER_DATA.has(key(cell)))) return true;
  return cells.length > 1 && dotted.every((cell) => /\.name$/i.test(cell) && TYPED_VALUES.has(key(cell)));
}

/** Returns the columns of a header row; null if none of them can hold an observable. */
export function readHeader(names: string[]): CsvColumns | null {
  const keys = names.map(key);
  const firstOf = (wanted: string[]) => wanted.map((name) => keys.indexOf(name)).find((at) => at >= 0) ?? -1;
  const allOf = (wanted: string[]) => keys.flatMap((name, at) => (wanted.includes(name) ? [at] : []));
  const isSampleList = keys.includes('sha256hash') && keys.includes('filetypeguess');
  const values = [
    ...VALUE.flatMap((name) => allOf([name])).map((index) => valueColumn(names, index, null)),
    ...keys.flatMap((name, index) => {
      // abuse.ch's SSL blacklist.
      const isCertificate = name === 'sha1' && keys.includes('listingreason');
      const type = isCertificate ? 'certificate:SHA1' : TYPED_VALUES.get(name);
      // MalwareBazaar: the name under which a sample was submitted does not identify it.
      return type === undefined || (isSampleList && type === 'FILENAME')
        ? []
        : [valueColumn(names, index, type)];
    }),
  ];
  if (values.length === 0) return null;
  return {
    // The type column applies to the first column, the one that is named like a value.
    values: values.map((column, at) => ({ ...column, hasTypeColumn: at === 0 })),
    type: firstOf(TYPE),
    firstSeen: firstOf(FIRST_SEEN),
    lastSeen: firstOf(LAST_SEEN),
    expiresAt: firstOf(EXPIRES_AT),
    confidence: firstOf(CONFIDENCE),
    severity: firstOf(SEVERITY),
    tlp: firstOf(TLP),
    forDetection: firstOf(FOR_DETECTION),
    active: firstOf(ACTIVE),
    tagLists: allOf(TAG_LISTS),
    tagWords: allOf(isSampleList ? [...TAG_WORDS, 'signature'] : TAG_WORDS),
    names,
  };
}

function valueColumn(names: string[], index: number, type: ValueColumn['type']): ValueColumn {
  return { index, name: names[index] ?? '', type, hasTypeColumn: false };
}
