import { describe, expect, it } from 'vitest';
import { isPublicSuffix } from '../../src/formats/url-parts.ts';

describe('isPublicSuffix', () => {
  it.each([
    ['of ICANN', 'co.uk'],
    ['of a company', 'github.io'],
    ['of a dynamic DNS', 'duckdns.org'],
    ['by a wildcard', 'foo.ck'],
    ['in Punycode', 'xn--55qx5d.cn'],
  ])('accepts a suffix %s: %s', (_, name) => {
    expect(isPublicSuffix(name)).toBe(true);
  });

  it.each([
    ['is registered', 'evil.example'],
    ['is registered below one of ICANN', 'evil.co.uk'],
    ["is a customer's", 'evil.github.io'],
    ['is an exception of a wildcard', 'www.ck'],
    ['has an underscore', '_dmarc.co.uk'],
  ])('rejects a name that %s: %s', (_, name) => {
    expect(isPublicSuffix(name)).toBe(false);
  });
});
