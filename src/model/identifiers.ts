import type { NormalizeResult } from './normalize-result.ts';

// The digits alone, or after the algorithm's own name (`sha256:…` of OCI, `MD5 = …` of reports) or 0x.
const HASHES = {
  MD5: { form: hashForm('md-?5', 32), rejected: 'not 32 hexadecimal digits' },
  SHA1: { form: hashForm('sha-?1', 40), rejected: 'not 40 hexadecimal digits' },
  SHA256: { form: hashForm('sha-?256', 64), rejected: 'not 64 hexadecimal digits' },
} as const;

// CVE Record Format 5: four digits of year, 4 to 19 of sequence. Word processors turn the hyphens into
// dashes.
const CVE = /^CVE[\p{Pd}\u2212](\d{4})[\p{Pd}\u2212](\d{4,19})$/iu;
const FIRST_CVE_YEAR = 1999;

const ASN = /^(?:ASN?:? {0,4})?(?:(\d{1,10})|(\d{1,5})\.(\d{1,5}))$/i;
const MAX_ASN = 4_294_967_295;
const MAX_ASDOT_HALF = 65_535;
const NOT_AN_ASN = { rejected: 'not an AS number' };

function hashForm(name: string, digits: number): RegExp {
  return new RegExp(`^(?:${name}(?: {0,2}[:=] {0,2}| {1,2})|0x)?([0-9a-f]{${digits}})$`, 'i');
}

/** Lower-case hexadecimal digits of exactly the hash's length. */
export function normalizeHash(type: keyof typeof HASHES, text: string): NormalizeResult {
  const { form, rejected } = HASHES[type];
  const digest = form.exec(text)?.[1]?.toLowerCase();
  if (digest === undefined) return { rejected };
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
  const [, plain, high, low] = ASN.exec(text) ?? [];
  if (plain !== undefined) return asn(Number(plain));
  return high === undefined || low === undefined ? NOT_AN_ASN : fromAsdot(Number(high), Number(low));
}

/**
 * RFC 5396 asdot+, as in `AS1.10`. A number that ends in .0 is more often one that was read as a fraction.
 */
function fromAsdot(high: number, low: number): NormalizeResult {
  if (high > MAX_ASDOT_HALF || low > MAX_ASDOT_HALF) return NOT_AN_ASN;
  return low === 0 ? { rejected: 'ambiguous AS number' } : asn(high * (MAX_ASDOT_HALF + 1) + low);
}

function asn(number: number): NormalizeResult {
  if (number < 1 || number > MAX_ASN) return NOT_AN_ASN;
  return { type: 'ASN', value: `AS${number}`, normalized: `AS${number}` };
}
