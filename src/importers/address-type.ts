import type { IndicatorType } from '../model/vocabulary.ts';

/** For formats with one word for both: only an IPv6 address has two colons or more. */
export function addressType(value: string): 'IPV4' | 'IPV6' {
  return value.indexOf(':') !== value.lastIndexOf(':') ? 'IPV6' : 'IPV4';
}

/** Returns the type of an address or a name, as in `dst_ref.value` or a column called `host`. */
export function hostType(value: string): IndicatorType {
  const type = addressType(value);
  return type === 'IPV6' || /^[\d.[\]]+$/.test(value.trim()) ? type : 'DOMAIN';
}

/** Returns the part before the port of `192.0.2.1:443`, `[2001:db8::1]:443` or `example.org:8080`. */
export function withoutPort(value: string): string {
  const match = /^(.*[^:]):\d{1,5}$/.exec(value.trim());
  const host = match?.[1] ?? value.trim();
  // Without brackets the last group of an IPv6 address would be taken for a port.
  if (host.startsWith('[') && host.endsWith(']') && host.includes(':')) return host.slice(1, -1);
  return addressType(host) === 'IPV6' ? value.trim() : host;
}
