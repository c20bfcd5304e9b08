import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';
const SHA1 = 'da39a3ee5e6b4b0d3255bfef95601890afd80709';
const SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('hashes', () => {
  it.each([
    ['MD5', MD5],
    ['SHA1', SHA1],
    ['SHA256', SHA256],
  ] as const)('%s is converted to lower case', (type, digest) =>
    expectValue(type, ` '${digest.toUpperCase()}' `, digest),
  );

  it.each([
    ['MD5', SHA1, 'not 32 hexadecimal digits'],
    ['SHA1', MD5, 'not 40 hexadecimal digits'],
    ['SHA256', SHA1, 'not 64 hexadecimal digits'],
    ['SHA256', `${SHA256}a`, 'not 64 hexadecimal digits'],
    ['MD5', MD5.replace('d', 'g'), 'not 32 hexadecimal digits'],
    ['MD5', 'None', 'not 32 hexadecimal digits'],
  ] as const)('%s %j is rejected: %s', (type, raw, reason) => expectRejected(type, raw, reason));
});

describe('CVE', () => {
  it.each([
    ['cve-2021-44228', 'CVE-2021-44228'],
    ['CVE-1999-0001', 'CVE-1999-0001'],
    ['(CVE-2024-1234567)', 'CVE-2024-1234567'],
    ['CVE‑2021–44228', 'CVE-2021-44228'],
  ])('%j is %s', (raw, value) => expectValue('CVE', raw, value));

  it.each([
    'CVE-2021-123',
    'CVE-21-44228',
    '2021-44228',
    'CVE-2021-4422x',
    'CVE-1998-0001',
    'CVE 2021 44228',
  ])('%j is rejected', (raw) => expectRejected('CVE', raw, 'not a CVE id'));
});

describe('ASN', () => {
  it.each([
    ['AS13335', 'AS13335'],
    ['as 13335', 'AS13335'],
    ['asn13335', 'AS13335'],
    ['13335', 'AS13335'],
    ['AS0013335', 'AS13335'],
    ['4294967295', 'AS4294967295'],
  ])('%j is %s', (raw, value) => expectValue('ASN', raw, value));

  it.each(['0', 'AS0', 'AS4294967296', 'AS99999999999', 'AS65536.1', 'AS', 'AS-13335', 'AS13335 EXAMPLE'])(
    '%j is rejected',
    (raw) => expectRejected('ASN', raw, 'not an AS number'),
  );
});

describe('BTC_ADDRESS', () => {
  it.each([
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
    ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    [
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    ],
  ])('%j is %s', (raw, value) => expectValue('BTC_ADDRESS', raw, value));

  const wrongChecksum = 'a Bitcoin address with a wrong checksum';
  it.each([
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', wrongChecksum],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', wrongChecksum],
    // BIP 350: version 1 under bech32 and version 0 under bech32m are both wrong.
    ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', wrongChecksum],
    ['bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', wrongChecksum],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7KV8F3T4', 'a Bitcoin address in mixed case'],
    ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'an address of a Bitcoin test network'],
    ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'an address of a Bitcoin test network'],
    ['0x52908400098527886E0F7030069857D2E4169EE7', 'not a Bitcoin address'],
    ['qph3s8p27pfg2lxgpzqmdel25tsmlryatyhxwzx3x5', 'not a Bitcoin address'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('BTC_ADDRESS', raw, reason));
});
