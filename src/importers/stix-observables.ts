import { normalize } from '../model/normalize.ts';
import type { NormalizedIndicator } from '../model/normalize-result.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { hostType } from './address-type.ts';
import { printable } from './printable.ts';
import { type Pattern, type PatternTest, type PatternValue, parsePattern } from './stix-pattern.ts';

export type Observable = NormalizedIndicator | { rejected: string };

/** Object paths that name an observable, with list indexes left out and in lower case. */
const TYPE_BY_PATH = new Map<string, IndicatorType | ((value: string) => IndicatorType)>([
  ['ipv4-addr:value', 'IPV4'],
  ['ipv6-addr:value', 'IPV6'],
  ['domain-name:value', 'DOMAIN'],
  ['url:value', 'URL'],
  ['file:name', 'FILENAME'],
  // Not in the standard, but mobile verification toolkits write it for a file's path.
  ['file:path', 'FILENAME'],
  ['email-addr:value', 'EMAIL'],
  ['email-message:from_ref.value', 'EMAIL'],
  ['email-message:sender_ref.value', 'EMAIL'],
  ['windows-registry-key:key', 'REGISTRY_KEY'],
  ['mutex:name', 'MUTEX'],
  ['autonomous-system:number', 'ASN'],
  ['network-traffic:src_ref.value', hostType],
  ['network-traffic:dst_ref.value', hostType],
  ['network-traffic:extensions.http-request-ext.request_header.user-agent', 'USER_AGENT'],
  ['vulnerability:name', 'CVE'],
  // Custom objects in wide use.
  ['hostname:value', 'DOMAIN'],
  ['user-agent:value', 'USER_AGENT'],
  ['cryptocurrency-wallet:value', 'BTC_ADDRESS'],
  ['cryptocurrency-wallet:address', 'BTC_ADDRESS'],
  ['x-cryptocurrency:address', 'BTC_ADDRESS'],
  ['bitcoin:address', 'BTC_ADDRESS'],
  ['bitcoin-address:value', 'BTC_ADDRESS'],
]);

const TYPE_BY_HASH = new Map<string, IndicatorType>([
  ['md5', 'MD5'],
  ['sha1', 'SHA1'],
  ['sha256', 'SHA256'],
]);

/**
 * Returns every observable that a STIX pattern names, normalized or with the reason for its rejection. At
 * least one.
 */
export function observablesOf(patternText: string): Observable[] {
  const pattern = parsePattern(patternText);
  return pattern === null ? [{ rejected: 'pattern not readable' }] : collect(pattern);
}

function collect(pattern: Pattern): Observable[] {
  switch (pattern.kind) {
    case 'OR':
      return pattern.parts.flatMap(collect);
    case 'AND':
    case 'FOLLOWEDBY':
      // Each half alone would match far more than its author meant.
      return [{ rejected: `${pattern.kind} across observables` }];
    case 'qualified':
      // One sighting is always within any span; but "five times" and "in that week" are not "once, ever".
      if (pattern.qualifier === 'WITHIN') return collect(pattern.of);
      return [{ rejected: `qualifier not supported: ${pattern.qualifier}` }];
    case 'test':
      return collectTest(pattern.test);
  }
}

function collectTest(test: PatternTest): Observable[] {
  const type = typeOfPath(test);
  if (typeof type === 'object') return [type];
  if (test.operator !== '=' && test.operator !== 'IN')
    return [{ rejected: `operator not supported: ${test.operator}` }];
  return test.values.map((value) => toObservable(type, value));
}

function typeOfPath({ object, path }: PatternTest) {
  const [first = '', second = ''] = path;
  if (object === 'file' && first === 'hashes' && path.length === 2) {
    const type = TYPE_BY_HASH.get(second.toLowerCase().replace(/[-_]/g, ''));
    return type ?? { rejected: `hash type not supported: ${printable(second)}` };
  }
  const name = `${object}:${path.join('.')}`;
  return TYPE_BY_PATH.get(name.toLowerCase()) ?? { rejected: `unknown type: ${printable(name)}` };
}

function toObservable(
  type: IndicatorType | ((value: string) => IndicatorType),
  value: PatternValue,
): Observable {
  if (type === 'ASN' && value.kind === 'number') return normalize('ASN', `AS${value.text}`);
  if (value.kind !== 'string') return { rejected: 'value is not text' };
  return normalize(typeof type === 'function' ? type(value.text) : type, value.text);
}
