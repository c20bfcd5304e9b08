import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import type { NormalizeResult } from './normalize-address.ts';
import { unwrap } from './refang.ts';

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

const HIVES: ReadonlyMap<string, string> = new Map([
  ['hklm', 'HKEY_LOCAL_MACHINE'],
  ['hkcu', 'HKEY_CURRENT_USER'],
  ['hkcr', 'HKEY_CLASSES_ROOT'],
  ['hku', 'HKEY_USERS'],
  ['hkcc', 'HKEY_CURRENT_CONFIG'],
  ['hkey_local_machine', 'HKEY_LOCAL_MACHINE'],
  ['hkey_current_user', 'HKEY_CURRENT_USER'],
  ['hkey_classes_root', 'HKEY_CLASSES_ROOT'],
  ['hkey_users', 'HKEY_USERS'],
  ['hkey_current_config', 'HKEY_CURRENT_CONFIG'],
  // The names the kernel and most sandboxes use.
  ['registry\\machine', 'HKEY_LOCAL_MACHINE'],
  ['registry\\user', 'HKEY_USERS'],
]);

// Computer\ is the notation of the registry editor, Registry:: and HKLM: that of PowerShell; a blank replaces
// a lost `_`.
const HIVE =
  /^\\?(?:(?:my )?computer\\|(?:microsoft\.powershell\.core\\)?registry::)?(registry\\(?:machine|user)|[a-z_ ]{3,19}):?(?=\\|$)/i;
const ENDING = /[\\\s]/;

/**
 * Normalizes a registry path below a known hive: long upper-case hive name, single backslashes, none at the
 * end.
 */
export function normalizeRegistryKey(text: string): NormalizeResult {
  // The whole in quotes, or in [ ] as in a .reg file: no hive starts with either.
  const path = singleBackslashes(unwrap(text));
  const match = HIVE.exec(path);
  const hive = HIVES.get(match?.[1]?.toLowerCase().replaceAll(' ', '_') ?? '');
  if (match === null || hive === undefined) return { rejected: 'not a key of a known registry hive' };
  const value = hive + path.slice(match[0].length);
  return { type: 'REGISTRY_KEY', value, normalized: value.toLowerCase() };
}

/** A slash is part of the name (`HKCR\MIME\…\text/html`) unless slashes are the only separators. */
function singleBackslashes(path: string): string {
  const separated = path.includes('\\') ? path : path.replaceAll('/', '\\');
  const single = separated.replace(/\\{2,}/g, '\\');
  let end = single.length;
  while (end > 0 && ENDING.test(single.charAt(end - 1))) end--;
  return single.slice(0, end);
}

/**
 * Windows' longest path is 32,767 units, but such paths are not shared as indicators; 4,096 is Linux'
 * PATH_MAX.
 */
const MAX_PATH_LENGTH = 4096;

/** Returns the name unchanged: the names of kernel objects are case-sensitive. */
export function normalizeMutex(text: string): NormalizeResult {
  return { type: 'MUTEX', value: text, normalized: text };
}

/** A base name or a full path. Identity ignores case, as Windows and macOS do. */
export function normalizeFileName(text: string): NormalizeResult {
  const name = withoutQuotes(text);
  if (name === '') return { rejected: 'empty' };
  if (name.length > MAX_PATH_LENGTH) return { rejected: `longer than ${MAX_PATH_LENGTH} characters` };
  return { type: 'FILENAME', value: name, normalized: name.toLowerCase() };
}

/** Double quotes come from command lines: no Windows name can hold one. */
function withoutQuotes(text: string): string {
  let name = text;
  while (name.length > 1 && name.startsWith('"') && name.endsWith('"')) name = name.slice(1, -1).trim();
  return name;
}

/** Letter case is kept for display; identity ignores it, as signatures do. */
export function normalizeUserAgent(text: string): NormalizeResult {
  return { type: 'USER_AGENT', value: text, normalized: text.toLowerCase() };
}

// BIP 21
const PAYMENT_URI = /^bitcoin:([^?]*)(?:\?.*)?$/i;
const LEGACY = /^[13][1-9A-HJ-NP-Za-km-z]{24,34}$/;
const SEGWIT = /^(?:bc1[02-9ac-hj-np-z]{11,87}|BC1[02-9AC-HJ-NP-Z]{11,87})$/;
const SEGWIT_IN_ANY_CASE = new RegExp(SEGWIT, 'i');
const TEST_LEGACY = /^[2mn][1-9A-HJ-NP-Za-km-z]{24,34}$/;
const TEST_SEGWIT = /^(?:tb|bcrt)1[02-9ac-hj-np-z]{11,87}$/i;
// Version bytes of pay-to-public-key-hash and pay-to-script-hash.
const MAIN_NET: readonly number[] = [0x00, 0x05];
const TEST_NET: readonly number[] = [0x6f, 0xc4];
const LEGACY_LENGTH = 21;

const WRONG_CHECKSUM = { rejected: 'a Bitcoin address with a wrong checksum' };

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/**
 * Normalizes a main-net address with a valid checksum: Base58Check, or bech32 (BIP 173) and bech32m (BIP
 * 350), lower case.
 */
export function normalizeBitcoinAddress(text: string): NormalizeResult {
  const address = PAYMENT_URI.exec(text)?.[1] ?? text;
  if (LEGACY.test(address)) return isLegacyAddress(address, MAIN_NET) ? accept(address) : WRONG_CHECKSUM;
  if (!SEGWIT.test(address)) return { rejected: whyNot(address) };
  const lower = address.toLowerCase();
  return isSegwitAddress(lower) ? accept(lower) : WRONG_CHECKSUM;
}

/** Mixed case is an error by BIP 173: the checksum could not detect a changed letter. */
function whyNot(text: string): string {
  if (SEGWIT_IN_ANY_CASE.test(text)) return 'a Bitcoin address in mixed case';
  const isTestNet = TEST_SEGWIT.test(text)
    ? isSegwitAddress(text.toLowerCase())
    : TEST_LEGACY.test(text) && isLegacyAddress(text, TEST_NET);
  return isTestNet ? 'an address of a Bitcoin test network' : 'not a Bitcoin address';
}

function accept(address: string): NormalizeResult {
  return { type: 'BTC_ADDRESS', value: address, normalized: address };
}

function isLegacyAddress(text: string, versions: readonly number[]): boolean {
  try {
    const payload = base58check.decode(text);
    const version = payload[0];
    return payload.length === LEGACY_LENGTH && version !== undefined && versions.includes(version);
  } catch {
    return false;
  }
}

/** BIP 350: version 0 takes bech32 and 20 or 32 bytes, later versions bech32m and 2 to 40 bytes. */
function isSegwitAddress(text: string): boolean {
  return (
    isWitness(bech32.decodeUnsafe(text)?.words, 0, 0) || isWitness(bech32m.decodeUnsafe(text)?.words, 1, 16)
  );
}

function isWitness(words: number[] | undefined, minVersion: number, maxVersion: number): boolean {
  const version = words?.[0];
  if (words === undefined || version === undefined) return false;
  const program = bech32.fromWordsUnsafe(words.slice(1));
  if (!program || version < minVersion || version > maxVersion) return false;
  return version === 0
    ? program.length === 20 || program.length === 32
    : program.length >= 2 && program.length <= 40;
}
