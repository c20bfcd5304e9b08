import ipaddr from 'ipaddr.js';

const PREFIX = /^(0|[1-9]\d{0,2})$/;

/**
 * Returns whether a configured text is an address or a network: four decimal parts or IPv6, without a zone.
 * `ipaddr.js` alone also accepts `10.1` (10.0.0.1), octal and hexadecimal parts.
 */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  if (more.length > 0 || (prefix !== undefined && !PREFIX.test(prefix))) return false;
  const isIpv4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isIpv4 && !(ipaddr.IPv6.isValid(address) && !address.includes('%'))) return false;
  return Number(prefix ?? 0) <= (isIpv4 ? 32 : 128);
}
