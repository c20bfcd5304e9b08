import { parse } from 'tldts';
import { isBlock } from '../model/address-ranges.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import {
  type ExportFormat,
  type ExportIndicator,
  type ExportOptions,
  type FormatEntry,
  indicatorPage,
  tlpName,
} from './format.ts';
import { hostForms, urlParts } from './url-parts.ts';

/** The first version that has every field written here; `threat.indicator.id` was the last to be added. */
const ECS_VERSION = '8.16.0';

const TYPES: readonly IndicatorType[] = [
  'IPV4',
  'IPV6',
  'DOMAIN',
  'URL',
  'MD5',
  'SHA1',
  'SHA256',
  'EMAIL',
  'REGISTRY_KEY',
  'MUTEX',
  'FILENAME',
  'USER_AGENT',
  'ASN',
];

const COLUMNS = [
  ...(['id', 'type', 'value', 'confidence', 'severity', 'tlp', 'tags', 'source'] as const),
  ...(['firstSeen', 'lastSeen', 'expiresAt', 'modifiedAt', 'ofCertificate'] as const),
];

/** Elastic's indicator match rules read documents of `threatintel` and of modules that begin with `ti_`. */
const EVENT = {
  kind: 'enrichment',
  category: ['threat'],
  type: ['indicator'],
  module: 'ti_tipline',
  dataset: 'ti_tipline.indicator',
};

/**
 * Elastic Common Schema documents, one per line, as Elastic's threat-intelligence integrations index them and
 * its indicator match rules read them. These rules read documents whose `@timestamp` is within the last 30 days, so
 * it is the day of the export, or the last change if that is later. Values without an ECS field (severity, the exact
 * confidence, expiry) are written to `labels`.
 */
export function ecsFormat({ publicAddress }: Pick<ExportOptions, 'publicAddress'>): ExportFormat {
  return {
    mediaType: 'application/x-ndjson',
    extension: 'ndjson',
    types: TYPES,
    detectionOnly: true,
    order: 'list',
    columns: COLUMNS,
    reads: { day: true },
    async *write(batches, { day }) {
      for await (const batch of batches) {
        yield batch.map((row) => `${JSON.stringify(document(row, day, publicAddress))}\n`).join('');
      }
    },
  };
}

export const ecs: FormatEntry = {
  label: 'Elastic Common Schema',
  purpose: 'SIEMs: one document per line',
  options: [],
  open: ecsFormat,
};

function document(row: ExportIndicator, day: Date | null, publicAddress: string | null) {
  const modifiedAt = row.modifiedAt.toISOString();
  const today = day?.toISOString() ?? '';
  return {
    '@timestamp': today > modifiedAt ? today : modifiedAt,
    ecs: { version: ECS_VERSION },
    event: EVENT,
    labels: labels(row),
    ...(row.tags.length > 0 && { tags: row.tags }),
    threat: { feed: { name: 'Tipline' }, indicator: indicator(row, publicAddress) },
    ...(row.type === 'USER_AGENT' && { user_agent: { original: row.value } }),
    // ECS has no field for it within an indicator; its hashes of certificates are in upper case.
    ...(row.ofCertificate && {
      tls: { server: { hash: { [row.type.toLowerCase()]: row.value.toUpperCase() } } },
    }),
  };
}

/** ECS requires all labels to be keywords, without nesting. */
function labels({ severity, confidence, expiresAt }: ExportIndicator) {
  return {
    severity,
    confidence: String(confidence),
    ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
  };
}

function indicator(row: ExportIndicator, publicAddress: string | null) {
  return {
    ...(row.ofCertificate ? { type: 'x509-certificate' } : ecsObservable(row.type, row.value)),
    name: row.value,
    id: [row.id],
    provider: row.source,
    ...(publicAddress !== null && { reference: indicatorPage(publicAddress, row.id) }),
    confidence: confidenceName(row.confidence),
    marking: { tlp: tlpName(row.tlp), tlp_version: '2.0' },
    first_seen: row.firstSeen.toISOString(),
    last_seen: row.lastSeen.toISOString(),
    modified_at: row.modifiedAt.toISOString(),
  };
}

/** STIX 2.1, Appendix A: None/Low/Medium/High. */
function confidenceName(confidence: number): string {
  if (confidence === 0) return 'None';
  if (confidence < 30) return 'Low';
  return confidence < 70 ? 'Medium' : 'High';
}

const HIVES: ReadonlyMap<string, string> = new Map([
  ['HKEY_LOCAL_MACHINE', 'HKLM'],
  ['HKEY_CURRENT_USER', 'HKCU'],
  ['HKEY_CLASSES_ROOT', 'HKCR'],
  ['HKEY_USERS', 'HKU'],
  ['HKEY_CURRENT_CONFIG', 'HKCC'],
]);

/**
 * Returns `threat.indicator.type` and the fields that hold the value, which indicator match rules compare
 * with events.
 * @throws for a type without an ECS indicator type
 */
export function ecsObservable(
  type: IndicatorType,
  value: string,
): { type: string } & Record<string, unknown> {
  switch (type) {
    // The field takes single addresses: a network is in `threat.indicator.name` only.
    case 'IPV4':
      return { type: 'ipv4-addr', ...(!isBlock(value) && { ip: value }) };
    case 'IPV6':
      return { type: 'ipv6-addr', ...(!isBlock(value) && { ip: value }) };
    case 'DOMAIN':
      return { type: 'domain-name', url: domainFields(value) };
    case 'URL':
      return { type: 'url', url: urlFields(value) };
    case 'MD5':
    case 'SHA1':
    case 'SHA256':
      return { type: 'file', file: { hash: { [type.toLowerCase()]: value } } };
    case 'FILENAME':
      return { type: 'file', file: fileFields(value) };
    case 'EMAIL':
      return { type: 'email-addr', email: { address: value } };
    case 'REGISTRY_KEY':
      return { type: 'windows-registry-key', registry: registryFields(value) };
    case 'MUTEX':
      // ECS has the type, but no field for its value except threat.indicator.name.
      return { type: 'mutex' };
    case 'USER_AGENT':
      // ECS has no field for it within an indicator: the document holds `user_agent.original`.
      return { type: 'software' };
    case 'ASN':
      return { type: 'autonomous-system', as: { number: Number(value.slice(2)) } };
    default:
      throw new Error(`no ECS indicator type for ${type}`);
  }
}

/** ECS leaves an IPv6 address in its brackets. */
function domainFields(host: string) {
  const { isIp, domain, publicSuffix, subdomain } = parse(host, { validateHostname: false });
  if (isIp === true || !domain) return { domain: host };
  return {
    domain: host,
    registered_domain: domain,
    top_level_domain: publicSuffix,
    ...(subdomain && { subdomain }),
  };
}

function urlFields(url: string) {
  const { scheme, host, port, path, query } = urlParts(url);
  const extension = extensionOf(path.slice(path.lastIndexOf('/') + 1));
  return {
    original: url,
    full: url,
    scheme,
    ...domainFields(hostForms(host)[0] ?? host),
    ...(port !== null && { port }),
    path,
    ...(query.length > 1 && { query: query.slice(1) }),
    ...(extension && { extension }),
  };
}

/** A Windows or a POSIX path, or a base name. */
function fileFields(value: string) {
  const name = value.slice(Math.max(value.lastIndexOf('/'), value.lastIndexOf('\\')) + 1);
  const extension = extensionOf(name);
  return {
    ...(name && { name }),
    ...(name !== value && { path: value }),
    ...(extension && { extension }),
  };
}

/** Returns the last extension, without its dot; '' for none. */
function extensionOf(name: string): string {
  return /.\.([A-Za-z0-9]+)$/.exec(name)?.[1] ?? '';
}

/** Events abbreviate the hive, also in the path. */
function registryFields(value: string) {
  const end = `${value}\\`.indexOf('\\');
  const hive = HIVES.get(value.slice(0, end)) ?? value.slice(0, end);
  const key = value.slice(end + 1);
  return { hive, ...(key && { key }), path: `${hive}${value.slice(end)}` };
}
