import ipaddr from 'ipaddr.js';
import type { ExportIndicator } from '../format.ts';
import { isPublicSuffix } from '../public-suffix.ts';
import { urlParts } from '../url-parts.ts';
import { literal, type SigmaComparison } from './pattern.ts';

/**
 * Returns comparisons for a name and the names below it; `notevil.example` is neither. The names below a
 * public suffix, such as `duckdns.org`, belong to different customers: it is compared alone.
 */
export function domainComparisons(field: string, name: string): SigmaComparison[] {
  const itself = { selection: 'selection_domain', field, pattern: name };
  if (isPublicSuffix(name)) return [itself];
  return [itself, { selection: 'selection_subdomain', field: `${field}|endswith`, pattern: `.${name}` }];
}

/**
 * Returns comparisons for an address; IPv6 in the form of RFC 5952 and, as Sysmon writes it, with all its
 * zeros.
 */
export function addressComparisons(field: string, { type, value }: ExportIndicator): SigmaComparison[] {
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
export function webRequestComparisons(row: ExportIndicator): SigmaComparison[] {
  switch (row.type) {
    case 'URL':
      return requestedUrls(row.value).map((url) => ({
        selection: 'selection_url',
        field: 'c-uri',
        pattern: literal(url),
      }));
    case 'DOMAIN':
      return domainComparisons('cs-host', row.value);
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
  const rest = `${host}${port === null ? '' : `:${port}`}${path}${query}`;
  const whole = `${scheme.replace(/^ws/, 'http')}://${rest}`;
  // Without its scheme, an ftp URL would match HTTP requests.
  return scheme.startsWith('ftp') ? [whole] : [whole, rest];
}
