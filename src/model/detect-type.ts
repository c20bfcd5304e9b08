import { parse } from 'tldts';
import { normalize } from './normalize.ts';
import { isNetwork, type NormalizeResult } from './normalize-address.ts';
import { refang } from './refang.ts';
import { MAX_LENGTH } from './text.ts';
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
  const text = raw.length > MAX_LENGTH ? null : refang(raw.trim());
  if (text === null) return null;
  for (const [type, mark] of TYPE_PATTERNS) {
    if (!mark.test(text)) continue;
    const result = normalize(type, raw);
    if ('type' in result) return result.type;
  }
  if (PREFIX_AND_MORE.test(text)) return null;
  if (HOST_AND_PATH.test(text)) return detectByHostname('URL', raw);
  return text.includes(' ') ? null : detectByHostname('DOMAIN', raw);
}

export const TYPE_NOT_RECOGNIZED = { rejected: 'type not recognized' };

/** Normalizes a value whose type nothing names. */
export function normalizeDetected(value: string): NormalizeResult {
  const type = detectType(value);
  if (type !== null) return normalize(type, value);
  const network = NETWORK.test(value) && isNetwork(refang(value.trim()) ?? '');
  return network ? normalize(value.includes(':') ? 'IPV6' : 'IPV4', value) : TYPE_NOT_RECOGNIZED;
}

const NETWORK = /^[\da-f:.\\[\](){}\s]{3,100}\/[\])}]?[\d.]{1,15}$/i;

function detectByHostname(type: 'URL' | 'DOMAIN', raw: string): IndicatorType | null {
  const result = normalize(type, raw);
  if ('rejected' in result) return null;
  const { isIp, isIcann, domain } = parse(result.value, { validateHostname: false });
  return isIp || (isIcann && domain !== null) ? type : null;
}
