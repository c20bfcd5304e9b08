import { blocksOf, isBlock, prefixLength, rangeOf } from '../model/address-ranges.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';
import { csvLine } from './csv.ts';
import { FILE_STYLES } from './file-styles.ts';
import { type ExportIndicator, type ListOptions, type TxtStyle, tlpName } from './format.ts';
import {
  ADDRESSES,
  kindsOf,
  type Lines,
  type ListStyle,
  NOT_OF_A_FILE,
  VALUES,
  WITH_HASHES,
} from './list-style.ts';
import { listedBlocks } from './listed-blocks.ts';
import { includesNamesBelow } from './listed-names.ts';
import type { Skipped } from './skipped.ts';
import { hostForms, isPublicSuffix, type UrlParts, urlParts } from './url-parts.ts';

const HASHES = ['MD5', 'SHA1', 'SHA256'] as const;

/** The schemes that a web filter sees; the scheme is not part of the comparison. */
const WEB_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss']);

export const LIST_STYLES: Readonly<Record<TxtStyle, ListStyle>> = {
  /** Display values. Few readers take `#` at the start for anything but a comment. */
  plain: {
    ...VALUES,
    types: INDICATOR_TYPES,
    kinds: null,
    networks: true,
    lines: ({ value }) => (value.startsWith('#') ? { skipped: 'characters' } : [value]),
    comments: false,
  },
  /**
   * PAN-OS external dynamic lists (Formatting Guidelines for an External Dynamic List; Guidelines for URL
   * Category Exceptions) of addresses, domains or URLs, with entries of up to 255 characters. A name matches
   * itself, and `*.` the names below it. Since 10.2 the firewall itself appends the ending slash to names in
   * URL lists; a domain list accepts none.
   */
  paloalto: {
    ...VALUES,
    ...kindsOf(ADDRESSES, ['DOMAIN'], ['URL']),
    networks: true,
    wildcards: true,
    lines: paloAltoLines,
    comments: false,
  },
  /**
   * FortiOS external resources of addresses, domains, URLs (category) or malware hashes: lines of up to 4K
   * characters, `*` as a wildcard, schemes cut off by the firewall.
   */
  fortinet: {
    ...WITH_HASHES,
    ...kindsOf(ADDRESSES, ['DOMAIN'], ['URL'], HASHES),
    networks: true,
    wildcards: true,
    lines: fortinetLines,
    comments: false,
  },
  /**
   * Check Point network feeds (addresses) and custom intelligence feeds (sk132193: one column of
   * comma-separated values of one type that the feed names, `#` for comments).
   */
  checkpoint: {
    ...WITH_HASHES,
    ...kindsOf(ADDRESSES, ['DOMAIN'], ['URL'], ['MD5'], ['SHA1'], ['SHA256'], ['EMAIL']),
    networks: true,
    lines: checkPointLines,
    comments: true,
  },
  /**
   * Wazuh CDB lists: `key:value` lines with unique keys, a key that contains a colon in quotation marks. Only
   * networks that end at a dot are supported. The value, which rules may compare, is the severity.
   */
  wazuh: {
    ...VALUES,
    ...kindsOf(
      ADDRESSES,
      ...INDICATOR_TYPES.filter((type) => type !== 'IPV4' && type !== 'IPV6').map((type) => [type] as const),
    ),
    networks: false,
    lines: wazuhLines,
    comments: false,
    columns: ['type', 'value', 'whitelistedParts', 'severity', 'ofCertificate'],
  },
  /**
   * Splunk Enterprise Security: the lookup of one of its threat collections, with the fields of that
   * collection.
   */
  splunk: {
    ...kindsOf(
      ADDRESSES,
      ['DOMAIN'],
      ['URL', 'USER_AGENT'],
      [...HASHES, 'FILENAME'],
      ['EMAIL'],
      ['REGISTRY_KEY'],
    ),
    networks: false,
    header: (kind) => csvLine(splunkFields(kind ?? 'IPV4'), false).trimEnd(),
    lines: splunkLines,
    comments: false,
    columns: [
      'type',
      'value',
      'whitelistedParts',
      'confidence',
      'severity',
      'tlp',
      'source',
      'ofCertificate',
    ],
    mediaType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
  },
  ...FILE_STYLES,
  /**
   * Reference sets of QRadar: a file with one column, to import or to load with the API. The type IP holds single IPv4
   * addresses. The documentation describes no quotation marks.
   */
  qradar: {
    ...WITH_HASHES,
    ...kindsOf(['IPV4'], ['IPV6'], ['DOMAIN'], ['URL'], ['MD5'], ['SHA1'], ['SHA256'], ['EMAIL']),
    networks: false,
    lines: qradarLines,
    comments: false,
    extension: 'csv',
  },
};

function qradarLines(row: ExportIndicator): Lines {
  if (row.ofCertificate) return NOT_OF_A_FILE;
  if (isNetwork(row)) return { skipped: 'network' };
  return /[",]/.test(row.value) ? { skipped: 'characters' } : [row.value];
}

function paloAltoLines(
  row: ExportIndicator,
  options: Pick<ListOptions, 'wildcards'>,
  skipped: Skipped,
): Lines {
  const { type, value } = row;
  if (type === 'DOMAIN') return domainLines(row, options, skipped);
  if (type !== 'URL') return [value];
  const url = webUrl(value);
  if (url === null) return { skipped: 'not-http' };
  // `*` and `^` are wildcards.
  if (/[*^]/.test(value)) return { skipped: 'characters' };
  // An entry has no port: a path is specific enough without it, a whole site is not.
  if (url.port !== null && url.path + url.query === '/') return { skipped: 'port' };
  // Entries are compared without regard to case.
  const lines = hostForms(url.host).map((host) => `${host}${url.path}${url.query}`.toLowerCase());
  return lines.every(({ length }) => length <= 255) ? lines : { skipped: 'length' };
}

function fortinetLines(
  row: ExportIndicator,
  options: Pick<ListOptions, 'wildcards'>,
  skipped: Skipped,
): Lines {
  const { type, value, ofCertificate } = row;
  if (type === 'DOMAIN') return domainLines(row, options, skipped);
  if (ofCertificate) return NOT_OF_A_FILE;
  if (type !== 'URL') return [value];
  const url = webUrl(value);
  if (url === null) return { skipped: 'not-http' };
  if (value.includes('*')) return { skipped: 'characters' };
  const lines = withoutScheme(url);
  return lines.every(({ length }) => length < 4000) ? lines : { skipped: 'length' };
}

function checkPointLines({ type, value, ofCertificate }: ExportIndicator): Lines {
  if (ofCertificate) return NOT_OF_A_FILE;
  const url = type === 'URL' ? webUrl(value) : null;
  if (type === 'URL' && url === null) return { skipped: 'not-http' };
  const lines = url === null ? [value] : withoutScheme(url);
  if (lines.some((line) => line.startsWith('#'))) return { skipped: 'characters' };
  return lines.map((line) => (/[",]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line));
}

/**
 * Returns a name and, unless they belong to others or some of them are whitelisted, the names below it. Without wildcards the
 * firewall itself adds the names below each entry, so that it would block all of them.
 */
function domainLines(
  row: ExportIndicator,
  { wildcards }: Pick<ListOptions, 'wildcards'>,
  skipped: Skipped,
): Lines {
  const { value, whitelistedParts } = row;
  if (includesNamesBelow(row)) return wildcards ? [value, `*.${value}`] : [value];
  if (!wildcards) return { skipped: isPublicSuffix(value) ? 'public-suffix' : 'whitelisted-parts' };
  skipped.addParts(whitelistedParts.length);
  return [value];
}

const isNetwork = ({ type, value }: ExportIndicator) =>
  (type === 'IPV4' || type === 'IPV6') && isBlock(value);

function webUrl(value: string): UrlParts | null {
  const url = urlParts(value);
  return WEB_SCHEMES.has(url.scheme) ? url : null;
}

/** Omits the scheme, and user name and password, which are in no request line. Returns a line for each form of the host. */
function withoutScheme({ host, port, path, query }: UrlParts): string[] {
  const rest = `${port === null ? '' : `:${port}`}${path}${query}`;
  return hostForms(host).map((form) => `${form}${rest}`);
}

function wazuhLines(row: ExportIndicator, _: unknown, skipped: Skipped): Lines {
  const { value, severity, ofCertificate } = row;
  if (ofCertificate) return NOT_OF_A_FILE;
  if (isNetwork(row)) {
    const keys = listedBlocks(row, { addParts: () => {} }).flatMap(wazuhKeys);
    if (keys.length === 0 || keys.length > MAX_KEYS) return { skipped: 'network' };
    skipped.addParts(row.whitelistedParts.length);
    return keys.map((key) => `${key}:${severity.toLowerCase()}`);
  }
  // Wazuh's reader has no escape for a quotation mark.
  if (value.includes('"')) return { skipped: 'characters' };
  return [`${value.includes(':') ? `"${value}"` : value}:${severity.toLowerCase()}`];
}

/** The maximum number of lines of a network. */
const MAX_KEYS = 1024;

/** Returns the keys of an IPv4 block: beginnings of addresses that end at a dot, or addresses. IPv6 has none. */
function wazuhKeys(block: string): string[] {
  if (block.includes(':')) return [];
  if (!isBlock(block)) return [block];
  const bits = prefixLength(block);
  const octets = Math.ceil(bits / 8);
  const size = 256 ** (4 - octets);
  const { first } = rangeOf(block);
  return Array.from({ length: 2 ** (octets * 8 - bits) }, (_, index) => {
    const [address = ''] = blocksOf({
      first: Number(first) + index * size,
      last: Number(first) + index * size,
    });
    return octets === 4 ? address : `${address.split('.', octets).join('.')}.`;
  });
}

/**
 * The fields of the threat collection for each type of indicator, and the one of them that holds the value.
 */
const SPLUNK_FIELDS: Partial<Record<IndicatorType, { fields: readonly string[]; value: string }>> = {
  ...ofCollection(['ip'], { IPV4: 'ip', IPV6: 'ip' }),
  ...ofCollection(['domain'], { DOMAIN: 'domain' }),
  ...ofCollection(['http_referrer', 'http_user_agent', 'url'], { URL: 'url', USER_AGENT: 'http_user_agent' }),
  ...ofCollection(['file_hash', 'file_name'], {
    MD5: 'file_hash',
    SHA1: 'file_hash',
    SHA256: 'file_hash',
    FILENAME: 'file_name',
  }),
  ...ofCollection(['src_user', 'subject'], { EMAIL: 'src_user' }),
  ...ofCollection(['registry_path', 'registry_value_name', 'registry_value_text'], {
    REGISTRY_KEY: 'registry_path',
  }),
};

function ofCollection(fields: readonly string[], types: Partial<Record<IndicatorType, string>>) {
  const all = ['description', ...fields, 'weight'];
  return Object.fromEntries(Object.entries(types).map(([type, value]) => [type, { fields: all, value }]));
}

function splunkFields(type: IndicatorType): readonly string[] {
  return SPLUNK_FIELDS[type]?.fields ?? [];
}

/** The weight is the confidence, at least 1. */
function splunkLines(row: ExportIndicator, _: unknown, skipped: Skipped): Lines {
  const { type, value, confidence, severity, tlp, source, ofCertificate } = row;
  if (ofCertificate) return NOT_OF_A_FILE;
  // A name is free text: it is placed where no spreadsheet reads it as a formula, and kept on one line.
  const name = source.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const description = {
    description: `Severity ${severity}, confidence ${confidence}, TLP:${tlpName(tlp)}, source: ${name}`,
    weight: String(Math.max(1, confidence)),
  };
  return (isNetwork(row) ? listedBlocks(row, skipped) : [value]).map((listed) => {
    const cells: Record<string, string> = { ...description, [SPLUNK_FIELDS[type]?.value ?? '']: listed };
    return csvLine(
      splunkFields(type).map((field) => cells[field] ?? ''),
      false,
    ).trimEnd();
  });
}
