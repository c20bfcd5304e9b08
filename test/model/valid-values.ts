import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import type { IndicatorType } from '../../src/model/vocabulary.ts';

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: length, maxLength: length });
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9]([a-z0-9_-]{0,20}[a-z0-9])?$/),
  fc.constantFrom('bücher', 'новый', '例え', 'نامه\u200cای', 'Straße', 'XN--BCHER-KVA'),
);
const domain = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 4 }), fc.constantFrom('example', 'COM', 'рф', 'xn--p1ai'))
  .map(([labels, top]) => [...labels, top].join('.'));

const host = fc.oneof(
  domain,
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
);
const user = fc.constantFrom('', 'bob@', 'bob:p%40ss@', 'b.o-b:@');
const port = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 0, max: 65535 }).map((number) => `:${number}`),
);
const path = fc.string({ unit: fc.constantFrom(...'abC/.-_~%?&=+@:;,!$*()[]{}|\\\'ü^"<> '), maxLength: 40 });
const url = fc
  .tuple(fc.constantFrom('http', 'https', 'ftp', 'ftps', 'ws', 'wss'), user, host, port, path)
  .map(([scheme, ...rest]) => `${scheme}://${rest.slice(0, 3).join('')}/${rest[3]}`);

const base58check = createBase58check((data: Uint8Array) => createHash('sha256').update(data).digest());
const legacy = fc
  .tuple(fc.constantFrom(0x00, 0x05), bytes(20))
  .map(([version, hash]) => base58check.encode(Uint8Array.of(version, ...hash)));
const segwit = fc.oneof(
  fc.oneof(bytes(20), bytes(32)).map((program) => bech32.encode('bc', [0, ...bech32.toWords(program)])),
  fc
    .tuple(fc.integer({ min: 1, max: 16 }), fc.uint8Array({ minLength: 2, maxLength: 40 }))
    .map(([version, program]) => bech32m.encode('bc', [version, ...bech32m.toWords(program)])),
);

const free = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter((text) => text.trim() !== '' && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text));

/** Values of each type that `normalize` accepts (of URL and FILENAME: nearly all), in no special form. */
export const VALID: Readonly<Record<IndicatorType, fc.Arbitrary<string>>> = {
  IPV4: fc.ipV4(),
  IPV6: fc.ipV6().filter((address) => !/^::ffff:/i.test(address)),
  DOMAIN: domain,
  URL: url,
  MD5: hex(32),
  SHA1: hex(40),
  SHA256: hex(64),
  EMAIL: fc
    .tuple(fc.stringMatching(/^[a-zA-Z0-9+_-]{1,20}(\.[a-z0-9{}|~!#]{1,9})?$/), domain)
    .map((parts) => parts.join('@')),
  CVE: fc
    .tuple(fc.integer({ min: 1999, max: 9999 }), fc.stringMatching(/^\d{4,19}$/))
    .map(([year, sequence]) => `CVE-${year}-${sequence}`),
  BTC_ADDRESS: fc.oneof(legacy, segwit),
  REGISTRY_KEY: fc
    .tuple(
      fc.constantFrom('HKLM', 'hkcu', 'HKEY_USERS', 'HKCR', 'HKCC'),
      fc.array(fc.stringMatching(/^[\w {}.[\]%-]{1,12}$/)),
    )
    .map(([hive, keys]) => [hive, ...keys].join('\\')),
  MUTEX: free,
  FILENAME: free,
  USER_AGENT: free,
  ASN: fc.integer({ min: 1, max: 4_294_967_295 }).map((number) => `AS${number}`),
};
