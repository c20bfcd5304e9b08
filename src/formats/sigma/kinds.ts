import ipaddr from 'ipaddr.js';
import { isBlock } from '../../model/address-ranges.ts';
import type { ExportIndicator } from '../format.ts';
import { listedBlocks } from '../listed-blocks.ts';
import { includesNamesBelow } from '../listed-names.ts';
import { hostForms, urlParts } from '../url-parts.ts';
import { type FilePlace, fileComparison, literal, type SigmaComparison } from './paths.ts';
import { registryComparisons } from './registry.ts';

/** The properties that rules of one log source have in common. */
export interface SigmaRuleKind {
  /** Must never change: the rules' ids derive from it. */
  name: string;
  logsource: { category: string; product?: string };
  /** The title after the name of the actor or campaign; in title case. */
  title: string;
  /** The description after `Detects`. */
  detects: string;
  /** The URL that documents the fields of the log source. */
  reference: string;
  tags: readonly string[];
  falsePositives: string;
  /** Returns the comparisons for an indicator; none if this log source does not show it. */
  comparisons(row: ExportIndicator): SigmaComparison[];
}

const SYSMON = 'https://learn.microsoft.com/en-us/sysinternals/downloads/sysmon';
const W3C_LOG = 'https://www.w3.org/TR/WD-logfile.html';
const SHARED = 'Shared hosting, sinkholes, or infrastructure that has changed hands';
const RESEARCH = 'Analysis of known samples';
const SAME_NAME = 'Legitimate files of the same name';

const fileKind = (place: Exclude<FilePlace, 'pipe'>, system: string): SigmaRuleKind => ({
  name: `file_event_${place}`,
  logsource: { category: 'file_event', product: place },
  title: `Creation of Known File on ${system}`,
  detects: `the creation of files on ${system} by paths or names`,
  reference: SYSMON,
  tags: ['attack.command-and-control', 'attack.t1105'],
  falsePositives: SAME_NAME,
  comparisons: (row) => fileEvent(row, place),
});

const hashKind = (category: string, title: string, detects: string, tags: string[]): SigmaRuleKind => ({
  name: category,
  logsource: { category, product: 'windows' },
  title,
  detects,
  reference: SYSMON,
  tags,
  falsePositives: RESEARCH,
  comparisons: hashes,
});

/** In the order in which their last rules are written. */
export const SIGMA_RULE_KINDS: readonly SigmaRuleKind[] = [
  {
    name: 'dns_query',
    logsource: { category: 'dns_query', product: 'windows' },
    title: 'DNS Query for Known Domain',
    detects: 'DNS queries for domains',
    reference: SYSMON,
    tags: ['attack.command-and-control', 'attack.t1071'],
    falsePositives: SHARED,
    comparisons: (row) => (row.type === 'DOMAIN' ? domainComparisons('QueryName', row) : []),
  },
  {
    name: 'proxy',
    logsource: { category: 'proxy' },
    title: 'Web Request to Known Infrastructure',
    detects: 'web requests by URLs, hosts, addresses or user agents',
    reference: W3C_LOG,
    tags: ['attack.command-and-control', 'attack.t1071.001'],
    falsePositives: SHARED,
    comparisons: webRequestComparisons,
  },
  {
    name: 'network_connection',
    logsource: { category: 'network_connection', product: 'windows' },
    title: 'Network Connection to Known Infrastructure',
    detects: 'network connections to addresses and hosts',
    reference: SYSMON,
    tags: ['attack.command-and-control', 'attack.t1071'],
    falsePositives: SHARED,
    comparisons: (row) =>
      row.type === 'DOMAIN'
        ? domainComparisons('DestinationHostname', row)
        : addressComparisons('DestinationIp', row),
  },
  hashKind('process_creation', 'Execution of Known File', 'the execution of files by hashes', [
    'attack.execution',
  ]),
  hashKind('image_load', 'Load of Known Module', 'the loading of modules by hashes', [
    'attack.execution',
    'attack.t1129',
  ]),
  fileKind('windows', 'Windows'),
  fileKind('linux', 'Linux'),
  fileKind('macos', 'macOS'),
  {
    name: 'registry_set',
    logsource: { category: 'registry_set', product: 'windows' },
    title: 'Change of Known Registry Value',
    detects: 'changes of registry values by paths',
    reference: SYSMON,
    tags: ['attack.defense-evasion', 'attack.persistence', 'attack.t1112'],
    falsePositives: 'Legitimate software that keeps its settings in the same place',
    comparisons: (row) => (row.type === 'REGISTRY_KEY' ? registryComparisons(row.value) : []),
  },
  {
    name: 'pipe_created',
    logsource: { category: 'pipe_created', product: 'windows' },
    title: 'Creation of Known Named Pipe',
    detects: 'the creation of named pipes',
    reference: SYSMON,
    tags: ['attack.execution'],
    falsePositives: 'Legitimate software that names its pipes alike',
    comparisons: (row) => fileEvent(row, 'pipe'),
  },
];

/** Returns the comparison for a hash as Sysmon writes it: `MD5=…,SHA256=…`, in upper case. */
function hashes({ type, value, ofCertificate }: ExportIndicator): SigmaComparison[] {
  if (ofCertificate || (type !== 'MD5' && type !== 'SHA1' && type !== 'SHA256')) return [];
  const pattern = `${type}=${value.toUpperCase()}`;
  return [{ selection: `selection_${type.toLowerCase()}`, field: 'Hashes|contains', pattern }];
}

function fileEvent({ type, value }: ExportIndicator, place: FilePlace): SigmaComparison[] {
  const found = type === 'FILENAME' ? fileComparison(value) : null;
  return found?.place === place ? [found.comparison] : [];
}

/**
 * Returns comparisons for a name and the names below it; `notevil.example` is neither. The names below a
 * public suffix, such as `duckdns.org`, belong to different customers: it is compared alone, as is a name below which others are
 * whitelisted.
 */
export function domainComparisons(
  field: string,
  row: Pick<ExportIndicator, 'value' | 'whitelistedParts'>,
): SigmaComparison[] {
  const itself = { selection: 'selection_domain', field, pattern: row.value };
  if (!includesNamesBelow(row)) return [itself];
  return [itself, { selection: 'selection_subdomain', field: `${field}|endswith`, pattern: `.${row.value}` }];
}

/**
 * Returns comparisons for an address, or a network without its whitelisted parts; IPv6 in the form of RFC 5952 and, as Sysmon writes it, with all its
 * zeros.
 */
function addressComparisons(field: string, row: ExportIndicator): SigmaComparison[] {
  const { type, value } = row;
  if ((type === 'IPV4' || type === 'IPV6') && isBlock(value))
    return listedBlocks(row, { addParts: () => {} }).map((block) => ({
      selection: 'selection_network',
      field: `${field}|cidr`,
      pattern: isBlock(block) ? block : `${block}/${type === 'IPV4' ? 32 : 128}`,
    }));
  if (type === 'IPV4') return [{ selection: 'selection_ipv4', field, pattern: value }];
  if (type !== 'IPV6') return [];
  return [value, ipaddr.parse(value).toNormalizedString()].map((pattern) => ({
    selection: 'selection_ipv6',
    field,
    pattern,
  }));
}

/**
 * Returns comparisons for proxy logs, in the fields of Sigma's taxonomy, which are those of W3C's extended
 * log file format.
 */
function webRequestComparisons(row: ExportIndicator): SigmaComparison[] {
  switch (row.type) {
    case 'URL':
      return requestedUrls(row.value).map((url) => ({
        selection: 'selection_url',
        field: 'c-uri',
        pattern: literal(url),
      }));
    case 'DOMAIN':
      return domainComparisons('cs-host', row);
    case 'USER_AGENT':
      return [{ selection: 'selection_user_agent', field: 'c-useragent', pattern: literal(row.value) }];
    default:
      return addressComparisons('dst_ip', row);
  }
}

/**
 * Returns a URL with its scheme and, as some proxies log it, without. Requests carry no user name in their
 * URL (RFC 9110 §4.2.4); a WebSocket is requested by HTTP.
 */
function requestedUrls(url: string): string[] {
  const { scheme, host, port, path, query } = urlParts(url);
  return hostForms(host).flatMap((form) => {
    const rest = `${form}${port === null ? '' : `:${port}`}${path}${query}`;
    const whole = `${scheme.replace(/^ws/, 'http')}://${rest}`;
    // Without its scheme, an ftp URL would match HTTP requests.
    return scheme.startsWith('ftp') ? [whole] : [whole, rest];
  });
}
