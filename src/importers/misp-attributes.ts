import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-result.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { addressType, withoutPort } from './address-type.ts';
import { printable } from './printable.ts';

type Part = (value: string) => NormalizeResult;

const as =
  (type: IndicatorType): Part =>
  (value) =>
    normalize(type, value);
const address: Part = (value) => normalize(addressType(value), value);
const REJECTED_HALF: NormalizeResult = { rejected: 'composite value without its second part' };

/** The normalizers of each attribute type; two for a composite, whose halves are separated by `|`. */
const PARTS_BY_TYPE = new Map<string, [Part] | [Part, Part]>([
  ['ip-src', [address]],
  ['ip-dst', [address]],
  ['ip-src|port', [(value) => address(hostOfPair(value))]],
  ['ip-dst|port', [(value) => address(hostOfPair(value))]],
  ['domain', [as('DOMAIN')]],
  ['hostname', [as('DOMAIN')]],
  ['hostname|port', [(value) => normalize('DOMAIN', hostOfPair(value))]],
  ['domain|ip', [as('DOMAIN'), address]],
  ['url', [as('URL')]],
  ['md5', [as('MD5')]],
  ['sha1', [as('SHA1')]],
  ['sha256', [as('SHA256')]],
  ['filename', [as('FILENAME')]],
  ['filename|md5', [as('FILENAME'), as('MD5')]],
  ['filename|sha1', [as('FILENAME'), as('SHA1')]],
  ['filename|sha256', [as('FILENAME'), as('SHA256')]],
  ['malware-sample', [as('FILENAME'), as('MD5')]],
  ['email', [as('EMAIL')]],
  ['email-src', [as('EMAIL')]],
  ['email-dst', [as('EMAIL')]],
  ['vulnerability', [as('CVE')]],
  ['btc', [as('BTC_ADDRESS')]],
  ['regkey', [as('REGISTRY_KEY')]],
  // The data after the bar belongs to the key's value, which no indicator type can hold.
  ['regkey|value', [(value) => normalize('REGISTRY_KEY', value.split('|', 1)[0] ?? '')]],
  ['mutex', [as('MUTEX')]],
  ['user-agent', [as('USER_AGENT')]],
  ['AS', [as('ASN')]],
]);

/** Types that are silently ignored: context for people, never an observable. All other types are rejected. */
const IGNORED_TYPES = new Set([
  ...['text', 'comment', 'other', 'link', 'port', 'datetime', 'counter', 'size-in-bytes', 'float', 'boolean'],
]);

/** Returns a result for each observable of an attribute; none for a type that is ignored. */
export function attributeObservables(type: string, value: string): NormalizeResult[] {
  if (IGNORED_TYPES.has(type)) return [];
  const parts = PARTS_BY_TYPE.get(type);
  if (parts === undefined) return [{ rejected: `type not supported: ${printable(type)}` }];
  const [first, second] = parts;
  if (second === undefined) return [first(value)];
  // A file name may contain a bar, a hash or an address never does.
  const bar = value.lastIndexOf('|');
  if (bar < 0) return [first(value), REJECTED_HALF];
  return [first(value.slice(0, bar)), second(value.slice(bar + 1))];
}

/** Returns the host of `192.0.2.1|443`, as MISP writes it, or of `192.0.2.1:443`, as people do. */
function hostOfPair(value: string): string {
  const bar = value.indexOf('|');
  return bar < 0 ? withoutPort(value) : value.slice(0, bar);
}
