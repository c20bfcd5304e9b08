import { createHash } from 'node:crypto';
import { bech32, createBase58check } from '@scure/base';
import { chance, fromQuantiles, integer, oneOf } from './random.mjs';
import { LENGTHS } from './spread.mjs';

/** Values are unique up to this index. */
export const MAX_INDICATORS = 2 ** 27;
const MAX_WORDS = 2 ** 24;

const WORDS =
  'login secure account verify update mail web app support office service bank wallet online cloud portal auth signin docs drive share pay invoice alert team help admin cdn static img news shop store free game crypto swap token claim airdrop ledger meta mask naver kakao google microsoft amazon apple paypal netflix dhl ups fedex usps post track tax gov health info data link check user sso reset'.split(
    ' ',
  );
const TOP_LEVELS = 'com com com com net org info xyz top online site shop ru cn io dev app club kr de'.split(
  ' ',
);
const EXTENSIONS = 'exe dll doc docx xls pdf zip rar js vbs ps1 lnk iso hta bat jar apk sh bin'.split(' ');
const SYLLABLES = 'ba co da fe gi ha jo ka le mi no pa qu re si to ul va we xa yo zi ar en is on'.split(' ');
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const RUN_KEYS = [
  'HKEY_CURRENT_USER\\Software\\Microsoft\\Windows\\CurrentVersion\\Run',
  'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services',
  'HKEY_CURRENT_USER\\Software\\Classes\\CLSID',
];

const length = Object.fromEntries(Object.entries(LENGTHS).map(([type, q]) => [type, fromQuantiles(q)]));
const base58check = createBase58check((bytes) => createHash('sha256').update(bytes).digest());

/** Distinguishes indexes that have the same word. */
const rest = (index) => (index < MAX_WORDS ? '' : (index >>> 24).toString(36));
/** Returns a unique word of fixed length for each index (multiplication by an odd number), also as a suffix of other words. */
const unique = (index) =>
  ((Math.imul(index + 1, 0x5bd1e995) >>> 0) % MAX_WORDS).toString(36).padStart(5, '0') + rest(index);
const digest = (algorithm, index) => createHash(algorithm).update(`sample ${index}`).digest('hex');

function words(random, size) {
  let text = oneOf(random, WORDS);
  while (text.length < size) {
    const next = chance(random, 0.5)
      ? oneOf(random, WORDS)
      : oneOf(random, SYLLABLES) + oneOf(random, SYLLABLES);
    text += (chance(random, 0.3) ? '-' : '') + next;
  }
  return text.slice(0, Math.max(0, size)).replace(/-$/, 'x');
}

const noise = (random, count) => Array.from({ length: count }, () => oneOf(random, LETTERS)).join('');

function domain(index, random) {
  const suffix = `${unique(index)}.${oneOf(random, TOP_LEVELS)}`;
  const remaining = length.DOMAIN(random) - suffix.length;
  if (remaining <= 0) return suffix;
  if (remaining < 40) return words(random, remaining) + suffix;
  return `${words(random, 30)}.${words(random, Math.min(remaining - 30, 50))}${suffix}`;
}

/** Some URLs have an address as host (as most malware URLs do), most a name (as most phishing URLs do). */
function url(index, random) {
  const scheme = chance(random, 0.6) ? 'https' : 'http';
  const host = chance(random, 0.15)
    ? `${integer(random, 1, 223)}.${integer(random, 0, 255)}.${integer(random, 0, 255)}.${integer(random, 1, 254)}`
    : `${words(random, Math.min(24, integer(random, 6, 16)))}.${oneOf(random, TOP_LEVELS)}`;
  const prefix = `${scheme}://${host}/`;
  const remaining = length.URL(random) - prefix.length;
  const file = chance(random, 0.3) ? `.${oneOf(random, EXTENSIONS)}` : '';
  if (remaining < 8) return `${prefix}${unique(index)}`;
  if (remaining < 40) return `${prefix}${words(random, remaining - 4)}/${unique(index)}${file}`;
  return `${prefix}${words(random, 20)}/${unique(index)}${file}?id=${noise(random, remaining - 24)}`;
}

const VALUES = {
  URL: url,
  DOMAIN: domain,
  IPV4: (index) => {
    const n = Math.imul(index + 1, 0x9e3779b1) >>> 0;
    return [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join('.');
  },
  IPV6: (index) =>
    `2a0${index % 10}:${((index >>> 8) & 0xffff).toString(16)}:${(index >>> 24).toString(16)}::${(index & 0xffff).toString(16)}`,
  SHA256: (index) => digest('sha256', index),
  SHA1: (index) => digest('sha1', index),
  MD5: (index) => digest('md5', index),
  CVE: (index) => `CVE-${2000 + (index % 26)}-${1000 + Math.floor(index / 26)}`,
  FILENAME: (index, random) => {
    const suffix = `${unique(index)}.${oneOf(random, EXTENSIONS)}`;
    const name = words(random, length.FILENAME(random) - suffix.length);
    return chance(random, 0.3) ? name.toUpperCase() + suffix : name + suffix;
  },
  EMAIL: (index, random) =>
    `${words(random, length.EMAIL(random) - 16)}${unique(index)}@${oneOf(random, WORDS)}.${oneOf(random, TOP_LEVELS)}`,
  REGISTRY_KEY: (index, random) => {
    const prefix = `${oneOf(random, RUN_KEYS)}\\`;
    return `${prefix}${words(random, length.REGISTRY_KEY(random) - prefix.length - 5)}${unique(index)}`;
  },
  ASN: (index) => `AS${1000 + index}`,
  MUTEX: (index, random) => `Global\\${words(random, length.MUTEX(random) - 12)}${unique(index)}`,
  USER_AGENT: (index, random) =>
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 ${words(random, 8)}/${1 + (index % 90)}.${index}`,
  BTC_ADDRESS: (index) => {
    const hash = createHash('sha1').update(`wallet ${index}`).digest();
    if (index % 5 === 0) return bech32.encode('bc', [0, ...bech32.toWords(hash)]);
    return base58check.encode(Buffer.concat([Buffer.from([0]), hash]));
  },
};

/** Returns the value of the indicator at an index, from 0: of the given type, and unique for every index. */
export function valueAt(type, index, random) {
  return VALUES[type](index, random);
}
