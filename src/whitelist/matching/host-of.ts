import type { IndicatorType } from '../../model/vocabulary.ts';

/**
 * Returns the host in a normalized value, without user name, port, brackets and trailing dot; null for types
 * without a host. The IPv6 host of a URL is in the notation of the URL standard and may be IPv4-mapped.
 */
export function hostOf(type: IndicatorType, normalized: string): string | null {
  switch (type) {
    case 'DOMAIN':
    case 'IPV4':
    case 'IPV6':
      return normalized;
    case 'EMAIL':
      return normalized.slice(normalized.lastIndexOf('@') + 1);
    case 'URL':
      return hostOfUrl(normalized);
    default:
      return null;
  }
}

function hostOfUrl(url: string): string {
  const start = url.indexOf('://') + 3;
  const path = url.indexOf('/', start);
  const authority = url.slice(start, path === -1 ? undefined : path);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']'));
  const colon = host.indexOf(':');
  const name = colon === -1 ? host : host.slice(0, colon);
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
