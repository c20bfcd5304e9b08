import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

const GENESIS = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';
const SEGWIT = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

describe('BTC_ADDRESS notations', () => {
  it.each([
    [GENESIS, GENESIS],
    [` ${GENESIS} `, GENESIS],
    [`"${GENESIS}"`, GENESIS],
    [`[${GENESIS}]`, GENESIS],
    [`bitcoin:${GENESIS}`, GENESIS],
    [`bitcoin:${GENESIS}?amount=0.5&label=x`, GENESIS],
    [`BITCOIN:${SEGWIT.toUpperCase()}`, SEGWIT],
    [`1A1zP1eP5QGefi2D\u200bMPTfTL5SLmv7DivfNa`, GENESIS],
    // The shortest: twenty zero bytes.
    ['1111111111111111111114oLvT2', '1111111111111111111114oLvT2'],
    ['1B8QtVGktfjBfNptp1Ay1DVt5C47rq3yWY', '1B8QtVGktfjBfNptp1Ay1DVt5C47rq3yWY'],
    ['3ATq2KXvPw9TEv6w8ED1ig8A71gB8ZcZpw', '3ATq2KXvPw9TEv6w8ED1ig8A71gB8ZcZpw'],
    [SEGWIT, SEGWIT],
    [SEGWIT.toUpperCase(), SEGWIT],
    ['bc1q8rmdq7k3yfpupadvvkd430vdjwva72hua0gst4', 'bc1q8rmdq7k3yfpupadvvkd430vdjwva72hua0gst4'],
    // BIP 350, valid addresses: versions 0 to 16, 2 to 40 bytes.
    [
      'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
      'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
    ],
    ['BC1SW50QGDZ25J', 'bc1sw50qgdz25j'],
    ['bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
  ])('%j is %s', (raw, value) => expectValue('BTC_ADDRESS', raw, value));

  it.each([
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'a Bitcoin address with a wrong checksum'],
    [GENESIS.slice(0, -1), 'a Bitcoin address with a wrong checksum'],
    ['3ATq2KXvPw9TEv6w8ED1ig8A71gB8ZcZpx', 'a Bitcoin address with a wrong checksum'],
    [`${SEGWIT.slice(0, -1)}5`, 'a Bitcoin address with a wrong checksum'],
    // BIP 350, invalid addresses: bech32 for version 2, bech32m for version 0, version 17, 1 and 41 bytes, no program.
    ['bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj', 'a Bitcoin address with a wrong checksum'],
    [
      'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL',
      'a Bitcoin address with a wrong checksum',
    ],
    [
      'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R',
      'a Bitcoin address with a wrong checksum',
    ],
    ['bc1pw5dgrnzv', 'not a Bitcoin address'],
    [
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
      'a Bitcoin address with a wrong checksum',
    ],
    ['BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P', 'a Bitcoin address with a wrong checksum'],
    ['bc1gmk9yu', 'not a Bitcoin address'],
    ['BC1Qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'a Bitcoin address in mixed case'],
    ['bc1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'a Bitcoin address in mixed case'],
    ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'an address of a Bitcoin test network'],
    ['2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'an address of a Bitcoin test network'],
    ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'an address of a Bitcoin test network'],
    ['bitcoin:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'an address of a Bitcoin test network'],
    ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfx', 'not a Bitcoin address'],
    ['5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ', 'not a Bitcoin address'],
    ['qph3s8p27pfg2lxgpzqmdel25tsmlryatyhxwzx3x5', 'not a Bitcoin address'],
    ['0x52908400098527886E0F7030069857D2E4169EE7', 'not a Bitcoin address'],
    [GENESIS.replace('z', '0'), 'not a Bitcoin address'],
    [GENESIS.replace('z', 'l'), 'not a Bitcoin address'],
    [`${GENESIS}, ${GENESIS}`, 'not a Bitcoin address'],
    ['bitcoin:', 'not a Bitcoin address'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('BTC_ADDRESS', raw, reason));
});
