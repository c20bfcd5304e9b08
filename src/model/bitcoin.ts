import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import type { NormalizeResult } from './normalize-result.ts';

const LEGACY = /^[13][1-9A-HJ-NP-Za-km-z]{24,34}$/;
const SEGWIT = /^(?:bc1[02-9ac-hj-np-z]{11,87}|BC1[02-9AC-HJ-NP-Z]{11,87})$/;
const PAY_TO_PUBLIC_KEY_HASH = 0x00;
const PAY_TO_SCRIPT_HASH = 0x05;
const LEGACY_LENGTH = 21;

const WRONG_CHECKSUM = { rejected: 'a Bitcoin address with a wrong checksum' };

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** A main-net address whose checksum holds: Base58Check, or bech32 (BIP 173) and bech32m (BIP 350), lower case. */
export function normalizeBitcoinAddress(text: string): NormalizeResult {
  if (LEGACY.test(text)) return isLegacyAddress(text) ? accept(text) : WRONG_CHECKSUM;
  if (!SEGWIT.test(text)) return { rejected: 'not a Bitcoin address' };
  const lower = text.toLowerCase();
  return isSegwitAddress(lower) ? accept(lower) : WRONG_CHECKSUM;
}

function accept(address: string): NormalizeResult {
  return { type: 'BTC_ADDRESS', value: address, normalized: address };
}

function isLegacyAddress(text: string): boolean {
  try {
    const payload = base58check.decode(text);
    const version = payload[0];
    return (
      payload.length === LEGACY_LENGTH &&
      (version === PAY_TO_PUBLIC_KEY_HASH || version === PAY_TO_SCRIPT_HASH)
    );
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
