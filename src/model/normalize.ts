import {
  normalizeAsn,
  normalizeBitcoinAddress,
  normalizeCve,
  normalizeFileName,
  normalizeHash,
  normalizeMutex,
  normalizeRegistryKey,
  normalizeUserAgent,
} from './identifiers.ts';
import type { NormalizeResult } from './normalize-address.ts';
import { normalizeIpv4, normalizeIpv6 } from './normalize-address.ts';
import { normalizeEmail } from './normalize-email.ts';
import { normalizeDomain, normalizeUrl } from './normalize-url.ts';
import { refang } from './refang.ts';
import { readText } from './text.ts';
import type { IndicatorType } from './vocabulary.ts';

/** Each takes text from `readText`, refanged unless its type is in `IS_LITERAL`. */
const NORMALIZERS: Readonly<Record<IndicatorType, (text: string) => NormalizeResult>> = {
  IPV4: normalizeIpv4,
  IPV6: normalizeIpv6,
  DOMAIN: normalizeDomain,
  URL: normalizeUrl,
  MD5: (text) => normalizeHash('MD5', text),
  SHA1: (text) => normalizeHash('SHA1', text),
  SHA256: (text) => normalizeHash('SHA256', text),
  EMAIL: normalizeEmail,
  CVE: normalizeCve,
  BTC_ADDRESS: normalizeBitcoinAddress,
  REGISTRY_KEY: normalizeRegistryKey,
  MUTEX: normalizeMutex,
  FILENAME: normalizeFileName,
  USER_AGENT: normalizeUserAgent,
  ASN: normalizeAsn,
};

/**
 * Brackets, quotes and invisible characters are part of these types: a mutex `{8761-…}`, a file name with
 * U+202E.
 */
const IS_LITERAL: ReadonlySet<IndicatorType> = new Set(['REGISTRY_KEY', 'MUTEX', 'FILENAME', 'USER_AGENT']);

/**
 * Returns the canonical form of a value of the given type, or the reason why there is none: short, stable,
 * for counting, without the value in it. Never throws, and normalizing a returned `value` changes nothing.
 */
export function normalize(type: IndicatorType, raw: string): NormalizeResult {
  const read = readText(raw);
  if ('rejected' in read) return read;
  if (IS_LITERAL.has(type)) return NORMALIZERS[type](read.text);
  const text = refang(read.text);
  if (text === null) return { rejected: 'nested defanging' };
  return text === '' ? { rejected: 'empty' } : NORMALIZERS[type](text);
}
