import { describe, expect, it } from 'vitest';
import { readValue, visitCandidates } from '../../src/lookup/candidates.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';

const LENGTHS: ReadonlyMap<IndicatorType, number[]> = new Map([
  ['IPV4', [32, 24, 8]],
  ['IPV6', [64]],
]);

function candidates(text: string): string[] {
  const read = readValue(text);
  if ('unreadable' in read) throw new Error(read.unreadable);
  const found: string[] = [];
  visitCandidates(read, LENGTHS, (relation, type, text, start, end) => {
    found.push(`${relation} ${type} ${text.slice(start, end)}`);
    return true;
  });
  return found;
}

describe('the candidates of a value', () => {
  it.each([
    [
      '203.0.113.7',
      ['exact IPV4 203.0.113.7', 'in-network IPV4 203.0.113.0/24', 'in-network IPV4 203.0.0.0/8'],
    ],
    ['203.0.112.0/20', ['exact IPV4 203.0.112.0/20', 'in-network IPV4 203.0.0.0/8']],
    ['d41d8cd98f00b204e9800998ecf8427e', ['exact MD5 d41d8cd98f00b204e9800998ecf8427e']],
    [
      'a[.]b[.]evil[.]com',
      ['exact DOMAIN a.b.evil.com', 'parent-domain DOMAIN b.evil.com', 'parent-domain DOMAIN evil.com'],
    ],
    ['evil.co.uk', ['exact DOMAIN evil.co.uk']],
    [
      'a.customer.github.io',
      ['exact DOMAIN a.customer.github.io', 'parent-domain DOMAIN customer.github.io'],
    ],
    [
      'user@mail.evil.com',
      [
        'exact EMAIL user@mail.evil.com',
        'email-domain DOMAIN mail.evil.com',
        'parent-domain DOMAIN evil.com',
      ],
    ],
    [
      'hxxp://www.evil.com:8080/a/b.php?id=1',
      [
        'exact URL http://www.evil.com:8080/a/b.php?id=1',
        'url-prefix URL http://www.evil.com:8080/a/b.php',
        'url-prefix URL http://www.evil.com:8080/a/',
        'url-prefix URL http://www.evil.com:8080/a',
        'url-prefix URL http://www.evil.com:8080/',
        'url-prefix URL http://www.evil.com.:8080/a/b.php?id=1',
        'url-prefix URL http://www.evil.com.:8080/a/b.php',
        'url-prefix URL http://www.evil.com.:8080/a/',
        'url-prefix URL http://www.evil.com.:8080/a',
        'url-prefix URL http://www.evil.com.:8080/',
        'url-host DOMAIN www.evil.com',
        'parent-domain DOMAIN evil.com',
      ],
    ],
    [
      'http://203.0.113.7/',
      [
        'exact URL http://203.0.113.7/',
        'url-scheme URL https://203.0.113.7/',
        'url-host IPV4 203.0.113.7',
        'in-network IPV4 203.0.113.0/24',
        'in-network IPV4 203.0.0.0/8',
      ],
    ],
    [
      'http://[2001:db8::7]/?a',
      [
        'exact URL http://[2001:db8::7]/?a',
        'url-scheme URL https://[2001:db8::7]/?a',
        'url-prefix URL http://[2001:db8::7]/',
        'url-host IPV6 2001:db8::7',
        'in-network IPV6 2001:db8::/64',
      ],
    ],
    [
      'http://localhost/',
      [
        'exact URL http://localhost/',
        'url-scheme URL https://localhost/',
        'url-prefix URL http://localhost./',
      ],
    ],
    ['ftp://localhost/', ['exact URL ftp://localhost/', 'url-prefix URL ftp://localhost./']],
    [
      'http://evil.com/a?b',
      [
        'exact URL http://evil.com/a?b',
        'url-scheme URL https://evil.com/a?b',
        'url-prefix URL http://evil.com/a',
        'url-prefix URL http://evil.com/',
        'url-prefix URL http://evil.com./a?b',
        'url-prefix URL http://evil.com./a',
        'url-prefix URL http://evil.com./',
        'url-host DOMAIN evil.com',
      ],
    ],
    [
      'https://evil.com.:8443/a?b',
      [
        'exact URL https://evil.com.:8443/a?b',
        'url-prefix URL https://evil.com.:8443/a',
        'url-prefix URL https://evil.com.:8443/',
        'url-prefix URL https://evil.com:8443/a?b',
        'url-prefix URL https://evil.com:8443/a',
        'url-prefix URL https://evil.com:8443/',
        'url-host DOMAIN evil.com',
      ],
    ],
    [
      'https://www.bank.com@evil.com/a/login?id=a@b',
      [
        'exact URL https://www.bank.com@evil.com/a/login?id=a@b',
        'url-scheme URL http://www.bank.com@evil.com/a/login?id=a@b',
        'url-prefix URL https://www.bank.com@evil.com/a/login',
        'url-prefix URL https://www.bank.com@evil.com/a/',
        'url-prefix URL https://www.bank.com@evil.com/a',
        'url-prefix URL https://www.bank.com@evil.com/',
        'url-prefix URL https://evil.com/a/login?id=a@b',
        'url-prefix URL https://evil.com/a/login',
        'url-prefix URL https://evil.com/a/',
        'url-prefix URL https://evil.com/a',
        'url-prefix URL https://evil.com/',
        'url-prefix URL https://evil.com./a/login?id=a@b',
        'url-prefix URL https://evil.com./a/login',
        'url-prefix URL https://evil.com./a/',
        'url-prefix URL https://evil.com./a',
        'url-prefix URL https://evil.com./',
        'url-host DOMAIN evil.com',
      ],
    ],
  ])('of %s are itself and what is above it', (text, expected) => {
    expect(candidates(text)).toEqual(expected);
  });

  it('are few, however deep a path and however long a name', () => {
    expect(candidates(`http://evil.com/${'a/'.repeat(3000)}`).length).toBeLessThan(80);
    expect(candidates(`${'a.'.repeat(120)}evil.com`).length).toBeLessThan(130);
  });

  it.each(['', 'a sentence', 'setup.exe', '\0'])('are none for %j, whose form identifies no type', (text) => {
    expect(readValue(text)).toHaveProperty('unreadable');
  });
});
