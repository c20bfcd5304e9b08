import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import type { NormalizeResult } from './normalize-result.ts';

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
