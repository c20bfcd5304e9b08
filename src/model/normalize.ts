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
  const read = readRaw(raw);
  return 'rejected' in read ? read : normalizeRead(type, read);
}

/** A text as it stands, trimmed, and refanged; null: it is nested too deeply. */
export interface ReadText {
  text: string;
  refanged: string | null;
}

/** Reads a text of which the type is still to be found. */
export function readRaw(raw: string): ReadText | { rejected: string } {
  const read = readText(raw);
  return 'rejected' in read ? read : { text: read.text, refanged: refang(read.text) };
}

/** The same as `normalize`, for several types of one text. */
export function normalizeRead(type: IndicatorType, { text, refanged }: ReadText): NormalizeResult {
  if (IS_LITERAL.has(type)) return NORMALIZERS[type](text);
  if (refanged === null) return { rejected: 'nested defanging' };
  return refanged === '' ? { rejected: 'empty' } : NORMALIZERS[type](refanged);
}
