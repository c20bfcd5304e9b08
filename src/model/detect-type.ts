import { parse } from 'tldts';
import { normalize, normalizeRead, type ReadText, readRaw } from './normalize.ts';
import { isNetwork, type NormalizedIndicator, type NormalizeResult } from './normalize-address.ts';
import { refang } from './refang.ts';
import type { IndicatorType } from './vocabulary.ts';

/** The patterns that a value must match before the type is tried, in the order they are tried. */
const TYPE_PATTERNS: readonly [IndicatorType, RegExp][] = [
  ['CVE', /^CVE\W/i],
  ['MD5', /^(?:md-?5[:= ]{1,5})?[0-9a-f]{32}$/i],
  ['SHA1', /^(?:sha-?1[:= ]{1,5})?[0-9a-f]{40}$/i],
  ['SHA256', /^(?:sha-?256[:= ]{1,5})?[0-9a-f]{64}$/i],
  ['ASN', /^ASN?:? {0,4}\d/i],
  ['IPV4', /^\d{1,3}[\\[({]{0,2}\./],
  ['IPV6', /^\[{0,2}[0-9a-f]{0,4}[\\[({]?:[\])}]?[0-9a-f]{0,4}[\\[({]?:/i],
  ['URL', /^(?:https?|ftps?|wss?):[/\\]/i],
  ['EMAIL', /^[^/@]{1,256}[@＠][^/@]{1,256}$/],
  [
    'REGISTRY_KEY',
    /^\\?(?:hk|registry[\\:]|(?:my )?computer\\hk|microsoft\.powershell\.core\\registry:)[a-z_: ]{1,20}:?[\\/]/i,
  ],
  ['BTC_ADDRESS', /^(?:bitcoin:|[13]|bc1)/i],
];
/** A CIDR block with something behind it, such as a count or a comment. */
const PREFIX_AND_MORE = /^\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}[\s,;:|–—-]/;
const HOST_AND_PATH = /^[^/\s]{1,300}\//;

/**
 * Returns the type of a value from a plain list or a CSV that states none; null if its form identifies no
 * type. Names need a known public suffix, so that `setup.exe` is not a domain, and must not contain spaces,
 * so that a sentence with the word `dot` is not one. `normalize` accepts the value as the returned type.
 */
export function detectType(raw: string): IndicatorType | null {
  return detect(raw)?.type ?? null;
}

function detect(raw: string): NormalizedIndicator | null {
  const read = readRaw(raw);
  if ('rejected' in read || read.refanged === null) return null;
  const text = read.refanged;
  for (const [type, mark] of TYPE_PATTERNS) {
    if (!mark.test(text)) continue;
    const result = normalizeRead(type, read);
    if ('type' in result) return result;
  }
  if (PREFIX_AND_MORE.test(text)) return null;
  if (HOST_AND_PATH.test(text)) return detectByHostname('URL', read);
  return text.includes(' ') ? null : detectByHostname('DOMAIN', read);
}

export const TYPE_NOT_RECOGNIZED = { rejected: 'type not recognized' };

/** Normalizes a value whose type nothing names. */
export function normalizeDetected(value: string): NormalizeResult {
  const detected = detect(value);
  if (detected !== null) return detected;
  const network = NETWORK.test(value) && isNetwork(refang(value.trim()) ?? '');
  return network ? normalize(value.includes(':') ? 'IPV6' : 'IPV4', value) : TYPE_NOT_RECOGNIZED;
}

const NETWORK = /^[\da-f:.\\[\](){}\s]{3,100}\/[\])}]?[\d.]{1,15}$/i;

function detectByHostname(type: 'URL' | 'DOMAIN', read: ReadText): NormalizedIndicator | null {
  const result = normalizeRead(type, read);
  if ('rejected' in result) return null;
  const { isIp, isIcann, domain } = parse(result.value, { validateHostname: false });
  return isIp || (isIcann && domain !== null) ? result : null;
}
