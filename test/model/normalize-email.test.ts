import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

describe('EMAIL', () => {
  it.each([
    ['Bob.Smith+x@EVIL.com', 'Bob.Smith+x@evil.com', 'bob.smith+x@evil.com'],
    ['mailto:bob@evil.com?subject=hi', 'bob@evil.com', 'bob@evil.com'],
    ['Bob "the" Smith <Bob@evil.com>', 'Bob@evil.com', 'bob@evil.com'],
    ['<bob@evil.com>', 'bob@evil.com', 'bob@evil.com'],
    ['bob[@]evil[.]com', 'bob@evil.com', 'bob@evil.com'],
    ['bob [at] evil [dot] com', 'bob@evil.com', 'bob@evil.com'],
    ['bob@münchen.de', 'bob@xn--mnchen-3ya.de', 'bob@xn--mnchen-3ya.de'],
    ['müller@evil.com', 'müller@evil.com', 'müller@evil.com'],
  ])('%j is %s', (raw, value, normalized) => expectValue('EMAIL', raw, value, normalized));

  it.each([
    'bob',
    '@evil.com',
    'bob@',
    'bob@localhost',
    'bob@1.2.3.4',
    'bob@evil.com:25',
    'a@b@evil.com',
    'bob smith@evil.com',
    'bob..smith@evil.com',
    '.bob@evil.com',
    `${'a'.repeat(65)}@evil.com`,
    'http://evil.com/',
  ])('%j is rejected', (raw) => expectRejected('EMAIL', raw, 'not an e-mail address'));
});
