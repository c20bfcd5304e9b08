import { detectType } from '../model/detect-type.ts';
import { normalize } from '../model/normalize.ts';
import type { NormalizeResult } from '../model/normalize-result.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';
import { addressType, withoutPort } from './address-type.ts';
import { printable } from './printable.ts';

type Reading = IndicatorType | 'address' | 'address:port' | 'domain:port';

/** Words that files use for types, lower case without blanks, `_` and `-`. */
const READING_BY_WORD = new Map<string, Reading>([
  ...INDICATOR_TYPES.map((type): [string, Reading] => [wordKey(type), type]),
  ['ip', 'address'],
  ['ipaddress', 'address'],
  ['ipaddr', 'address'],
  ['ipsrc', 'address'],
  ['ipdst', 'address'],
  ['ipv4addr', 'IPV4'],
  ['ipv6addr', 'IPV6'],
  ['ip:port', 'address:port'],
  ['ipport', 'address:port'],
  ['ipv4:port', 'address:port'],
  ['ipv6:port', 'address:port'],
  ['ipdst|port', 'address:port'],
  ['ipsrc|port', 'address:port'],
  ['domainname', 'DOMAIN'],
  ['hostname', 'DOMAIN'],
  ['fqdn', 'DOMAIN'],
  ['domain:port', 'domain:port'],
  ['hostname:port', 'domain:port'],
  ['uri', 'URL'],
  ['md5hash', 'MD5'],
  ['filehashmd5', 'MD5'],
  ['sha1hash', 'SHA1'],
  ['filehashsha1', 'SHA1'],
  ['sha256hash', 'SHA256'],
  ['filehashsha256', 'SHA256'],
  ['emailaddress', 'EMAIL'],
  ['emailaddr', 'EMAIL'],
  ['emailsrc', 'EMAIL'],
  ['emaildst', 'EMAIL'],
  // ThreatFox's words for the two senders of a mail.
  ['envelopefrom', 'EMAIL'],
  ['bodyfrom', 'EMAIL'],
  ['vulnerability', 'CVE'],
  ['btc', 'BTC_ADDRESS'],
  ['bitcoin', 'BTC_ADDRESS'],
  ['bitcoinaddress', 'BTC_ADDRESS'],
  ['regkey', 'REGISTRY_KEY'],
  ['registry', 'REGISTRY_KEY'],
  ['filepath', 'FILENAME'],
  ['file', 'FILENAME'],
  ['as', 'ASN'],
]);

function wordKey(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

export function isTypeWord(word: string): boolean {
  return READING_BY_WORD.has(wordKey(word));
}

/** Normalizes a value whose type the file names in a word, as in `sha256_hash` or `IPV4:PORT`. */
export function normalizeNamed(word: string, value: string): NormalizeResult {
  const reading = READING_BY_WORD.get(wordKey(word));
  if (reading === undefined) return { rejected: `unknown type: ${printable(word.toLowerCase())}` };
  return normalizeAs(reading, value);
}

export function normalizeAs(reading: Reading, value: string): NormalizeResult {
  if (reading === 'address') return normalize(addressType(value), value);
  if (reading === 'domain:port') return normalize('DOMAIN', withoutPort(value));
  if (reading === 'address:port') {
    const host = withoutPort(value);
    return normalize(addressType(host), host);
  }
  return normalize(reading, value);
}

/** Normalizes a value whose type the file does not name. */
export function normalizeDetected(value: string): NormalizeResult {
  const type = detectType(value);
  return type === null ? { rejected: 'type not recognized' } : normalize(type, value);
}
