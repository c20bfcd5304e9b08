import { describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import { expectRejected } from './cases.ts';

const HASHES = [
  ['MD5', 'd41d8cd98f00b204e9800998ecf8427e', 'md5', 'MD-5'],
  ['SHA1', 'da39a3ee5e6b4b0d3255bfef95601890afd80709', 'sha1', 'SHA-1'],
  ['SHA256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'sha256', 'SHA-256'],
] as const;

describe.each(HASHES)('%s notations', (type, digest, name, hyphened) => {
  it.each([
    digest,
    digest.toUpperCase(),
    digest.slice(0, 8).toUpperCase() + digest.slice(8),
    ` ${digest}\r\n`,
    `"${digest}"`,
    `'${digest}'`,
    `\`${digest}\``,
    `[${digest}]`,
    `(${digest.toUpperCase()})`,
    `\ufeff${digest}`,
    `${digest.slice(0, 9)}\u200b${digest.slice(9)}`,
    `${digest.slice(0, 9)}\u00ad${digest.slice(9)}`,
    `${name}:${digest}`,
    `${name}: ${digest}`,
    `${name}=${digest}`,
    `${name} = ${digest}`,
    `${name.toUpperCase()} ${digest}`,
    `${hyphened}: ${digest.toUpperCase()}`,
    `0x${digest}`,
    `0X${digest.toUpperCase()}`,
  ])('%j is normalized to the digest in lower case', (raw) =>
    expect(normalize(type, raw)).toEqual({ type, value: digest, normalized: digest }),
  );

  it.each([
    digest.slice(1),
    `${digest}0`,
    `${digest}${digest}`,
    `g${digest.slice(1)}`,
    `${digest.slice(0, -1)}…`,
    `${digest}  setup.exe`,
    `${digest} *setup.exe`,
    `${digest},`,
    digest.match(/../g)?.join(':') ?? '',
    digest.match(/../g)?.join(' ') ?? '',
    `imphash:${digest}`,
    `${name}:0x${digest}`,
    `sha512:${digest}`,
    `x${digest}`,
    '-',
    'n/a',
    'ｄ'.repeat(digest.length),
  ])('%j is rejected for its length or its digits', (raw) =>
    expectRejected(type, raw, `not ${digest.length} hexadecimal digits`),
  );
});
