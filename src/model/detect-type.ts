import { parse } from 'tldts';
import { normalize } from './normalize.ts';
import { refang } from './refang.ts';
import type { IndicatorType } from './vocabulary.ts';

/** What a value must look like before the type is tried, in the order they are tried. */
const MARKS: readonly [IndicatorType, RegExp][] = [
  ['CVE', /^CVE\W/i],
  ['MD5', /^[0-9a-f]{32}$/i],
  ['SHA1', /^[0-9a-f]{40}$/i],
  ['SHA256', /^[0-9a-f]{64}$/i],
  ['ASN', /^ASN? {0,4}\d/i],
  ['IPV4', /^\d{1,3}\./],
  ['IPV6', /^\[?[0-9a-f]{0,4}:[0-9a-f]{0,4}:/i],
  ['URL', /^(?:https?|ftps?|wss?):[/\\]/i],
  ['EMAIL', /^[^/@]{1,256}@[^/@]{1,256}$/],
  ['REGISTRY_KEY', /^\\?(?:hk|registry[\\:]|computer\\hk)[a-z_]{1,20}:?[\\/]/i],
  ['BTC_ADDRESS', /^(?:[13]|bc1)/i],
];
const HOST_AND_PATH = /^[^/\s]{1,300}\//;

/**
 * The type of a value that came without one, from a plain list or a CSV; null when the text is of no type
 * that can be told from its form. Names need a known public suffix, so that `setup.exe` is no domain.
 * A type it returns is one that `normalize` accepts the value as.
 */
export function detectType(raw: string): IndicatorType | null {
  const text = refang(raw.trim());
  if (text === null) return null;
  for (const [type, mark] of MARKS) {
    if (!mark.test(text)) continue;
    const result = normalize(type, raw);
    if ('type' in result) return result.type;
  }
  return detectNamed(HOST_AND_PATH.test(text) ? 'URL' : 'DOMAIN', raw);
}

function detectNamed(type: 'URL' | 'DOMAIN', raw: string): IndicatorType | null {
  const result = normalize(type, raw);
  if ('rejected' in result) return null;
  const { isIp, isIcann, domain } = parse(result.value, { validateHostname: false });
  return isIp || (isIcann && domain !== null) ? type : null;
}
