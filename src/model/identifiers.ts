import type { NormalizeResult } from './normalize-result.ts';

const HASHES = {
  MD5: { form: /^[0-9a-fA-F]{32}$/, rejected: 'not 32 hexadecimal digits' },
  SHA1: { form: /^[0-9a-fA-F]{40}$/, rejected: 'not 40 hexadecimal digits' },
  SHA256: { form: /^[0-9a-fA-F]{64}$/, rejected: 'not 64 hexadecimal digits' },
} as const;

// CVE Record Format 5: four digits of year, 4 to 19 of sequence. Word processors turn the hyphens into dashes.
const CVE = /^CVE[-\u2010-\u2015\u2212](\d{4})[-\u2010-\u2015\u2212](\d{4,19})$/i;
const FIRST_CVE_YEAR = 1999;

const ASN = /^(?:ASN? {0,4})?(\d{1,10})$/i;
const MAX_ASN = 4_294_967_295;

/** Lower-case hexadecimal digits of exactly the hash's length. */
export function normalizeHash(type: keyof typeof HASHES, text: string): NormalizeResult {
  const { form, rejected } = HASHES[type];
  if (!form.test(text)) return { rejected };
  const digest = text.toLowerCase();
  return { type, value: digest, normalized: digest };
}

/** `CVE-2021-44228`, upper case. */
export function normalizeCve(text: string): NormalizeResult {
  const [, year = '', sequence = ''] = CVE.exec(text) ?? [];
  if (Number(year) < FIRST_CVE_YEAR) return { rejected: 'not a CVE id' };
  const id = `CVE-${year}-${sequence}`;
  return { type: 'CVE', value: id, normalized: id };
}

/** `AS` and the number in decimal (RFC 5396 asplain), 1 to 4294967295. */
export function normalizeAsn(text: string): NormalizeResult {
  const number = Number(ASN.exec(text)?.[1] ?? 0);
  if (number < 1 || number > MAX_ASN) return { rejected: 'not an AS number' };
  return { type: 'ASN', value: `AS${number}`, normalized: `AS${number}` };
}
