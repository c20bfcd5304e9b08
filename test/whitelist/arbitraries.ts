import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { normalize } from '../../src/model/normalize.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { COMPANY_SUFFIXES, REGISTRY_SUFFIXES } from './naive.ts';

// Few letters and numbers, so that entries and values meet.
const label = fc.constantFrom('a', 'b', 'ab', 'ba', 'aab', 'a-b');
const suffix = fc.constantFrom(...REGISTRY_SUFFIXES, ...COMPANY_SUFFIXES, 'example', 'a.example');
export const name = fc
  .tuple(fc.array(label, { maxLength: 3 }), suffix)
  .map(([labels, end]) => [...labels, end].join('.'));
const ipv4 = fc
  .tuple(fc.constantFrom(10, 192), fc.constantFrom(0, 1), fc.constantFrom(0, 128), fc.nat(3))
  .map((octets) => octets.join('.'));
const ipv6 = fc
  .tuple(
    fc.constantFrom('2001', 'fe80'),
    fc.constantFrom('db8', '0', '8000'),
    fc.constantFrom('', '1:', 'c000:'),
  )
  .map(([a, b, c]) => ipaddr.IPv6.parse(`${a}:${b}:${c}:1`).toRFC5952String());
export const address = fc.oneof(ipv4, ipv6);
export const network = fc.tuple(address, fc.nat(112)).map(([text, spare]) => {
  const all = text.includes(':') ? 128 : 32;
  // Never so wide that it would be refused.
  const bits = all - (spare % (all === 32 ? 25 : 113));
  const family = all === 32 ? ipaddr.IPv4 : ipaddr.IPv6;
  const first = family.networkAddressFromCIDR(`${text}/${bits}`);
  return `${first.toString()}/${bits}`;
});
const path = fc.constantFrom('/', '/a', '/A?b=a.example', '/@ab.example/', '/AAB/10.0.0.1');
const host = fc.oneof(
  name,
  address.map((text) => (text.includes(':') ? `[${text}]` : text)),
);
export const url = fc
  .tuple(
    fc.constantFrom('http', 'https', 'ftps'),
    fc.constantFrom('', 'ab:ba@', 'a.example@'),
    host,
    fc.constantFrom('', ':8080', '.'),
    path,
  )
  .map(([scheme, user, at, after, end]) => {
    const dotted = after === '.' && (at.startsWith('[') || /\d$/.test(at)) ? '' : after;
    return `${scheme}://${user}${at}${dotted}${end}`;
  });
export const email = fc
  .tuple(fc.constantFrom('a', 'ab.example', 'abuse'), name)
  .map((parts) => parts.join('@'));
export const file = fc.constantFrom('a.example', 'AB.exe', 'c:\\aab\\ab.exe', '10.0.0.1');

export const value = fc
  .oneof(
    fc.tuple(fc.constant<IndicatorType>('DOMAIN'), name),
    fc.tuple(fc.constant<IndicatorType>('IPV4'), ipv4),
    fc.tuple(fc.constant<IndicatorType>('IPV6'), ipv6),
    fc.tuple(fc.constant<IndicatorType>('URL'), url),
    fc.tuple(fc.constant<IndicatorType>('EMAIL'), email),
    fc.tuple(fc.constant<IndicatorType>('FILENAME'), file),
    fc.tuple(fc.constant<IndicatorType>('MUTEX'), file),
  )
  .map(([type, raw]) => normalize(type, raw))
  .filter((result) => 'type' in result)
  .map((result) => ('type' in result ? { type: result.type, normalized: result.normalized } : undefined))
  .filter((result) => result !== undefined);
