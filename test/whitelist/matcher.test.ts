import { describe, expect, it } from 'vitest';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { buildMatcher } from '../../src/whitelist/matching/matcher.ts';
import type { ListKind } from '../../src/whitelist/matching/rule.ts';
import { hitIn, listOf } from './lists.ts';

type Case = [kind: ListKind, entry: string, type: IndicatorType, value: string];

const HITS: Case[] = [
  ['hostname', 'example.com', 'DOMAIN', 'example.com'],
  ['hostname', 'example.com', 'DOMAIN', 'a.b.example.com'],
  ['hostname', 'example.com', 'URL', 'https://user:pw@www.example.com:8443/a?b=@c/'],
  ['hostname', 'example.com', 'URL', 'http://www.example.com./a'],
  ['hostname', 'example.com', 'EMAIL', 'a@mail.example.com'],
  ['hostname', '.Example.COM.', 'DOMAIN', 'www.example.com'],
  ['hostname', 'example.com/', 'DOMAIN', 'example.com'],
  ['hostname', 'bücher.example', 'DOMAIN', 'xn--bcher-kva.example'],
  ['hostname', '*.example.com', 'DOMAIN', 'www.example.com'],
  ['hostname', 'localhost', 'URL', 'http://localhost:8080/'],
  ['hostname', 'home.arpa', 'DOMAIN', 'printer.home.arpa'],
  ['hostname', '192.0.2.1', 'URL', 'http://192.0.2.1/a'],
  ['hostname', 'github.io', 'DOMAIN', 'github.io'],
  ['hostname', '*.github.io', 'DOMAIN', 'someone.github.io'],
  ['string', 'example.com', 'DOMAIN', 'example.com'],
  ['string', 'example.com', 'URL', 'http://example.com/a'],
  ['string', 'example.com', 'EMAIL', 'a@example.com'],
  ['string', '.example.com', 'DOMAIN', 'www.example.com'],
  ['string', '.example.com', 'DOMAIN', 'example.com'],
  ['string', 'HTTP://Example.com:80/Path', 'URL', 'http://example.com/Path'],
  ['string', 'example.com/a', 'URL', 'http://example.com/a'],
  ['string', 'example.com/a', 'URL', 'https://example.com/a'],
  ['string', 'example.com:80/', 'URL', 'http://example.com/'],
  ['string', 'example.com:80/', 'URL', 'https://example.com:80/'],
  ['string', 'http://example.com/a', 'URL', 'http://example.com./a'],
  ['string', 'http://example.com.:8080/a', 'URL', 'http://example.com:8080/a'],
  ['string', 'D41D8CD98F00B204E9800998ECF8427E', 'MD5', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['string', '192.0.2.1', 'IPV4', '192.0.2.1'],
  ['string', '192.0.2.1', 'URL', 'http://192.0.2.1:8080/'],
  ['string', '2001:DB8:0:0::1', 'IPV6', '2001:db8::1'],
  ['string', 'Global\\Mutex', 'MUTEX', 'Global\\Mutex'],
  ['string', 'Setup.exe', 'FILENAME', 'setup.exe'],
  ['cidr', '192.0.2.0/24', 'IPV4', '192.0.2.255'],
  ['cidr', '192.0.2.128/25', 'IPV4', '192.0.2.128'],
  ['cidr', '192.0.2.1', 'IPV4', '192.0.2.1'],
  ['cidr', '192.0.2.0/255.255.255.0', 'IPV4', '192.0.2.255'],
  ['cidr', '192.0.2.0/24', 'URL', 'http://192.0.2.7/'],
  ['cidr', '192.0.2.0/24', 'URL', 'http://[::ffff:c000:207]/'],
  ['cidr', '::ffff:192.0.2.0/120', 'IPV4', '192.0.2.7'],
  ['cidr', 'FE80::/10', 'IPV6', 'febf:ffff::1'],
  ['cidr', '2001:db8::/32', 'URL', 'http://[2001:db8::1]:8080/a'],
  ['cidr', '2001:db8::/33', 'IPV6', '2001:db8:7fff::'],
  ['substring', 'xample', 'DOMAIN', 'www.example.com'],
  ['substring', 'Example.com', 'URL', 'http://www.example.com/a'],
  ['substring', 'example.com', 'EMAIL', 'a@example.com'],
  ['substring', 'abuse@', 'EMAIL', 'abuse@example.com'],
  ['substring', '/wp-content/', 'URL', 'http://evil.example/wp-content/a'],
  ['substring', 'windows defender', 'REGISTRY_KEY', 'hkey_local_machine\\software\\windows defender'],
  ['substring', 'global\\m', 'MUTEX', 'Global\\Mutex'],
  ['regex', '/^(security|abuse)\\@.*\\..*$/i', 'EMAIL', 'abuse@example.com'],
  ['regex', '#^http://a\\.example/$#', 'URL', 'http://a.example./'],
  ['regex', '#^https?://[^/]+/robots\\.txt$#', 'URL', 'http://a.example/robots.txt'],
  ['regex', '{^Global.mutex$}i', 'MUTEX', 'Global\\Mutex'],
];

const MISSES: Case[] = [
  ['hostname', 'example.com', 'DOMAIN', 'notexample.com'],
  ['hostname', 'example.com', 'DOMAIN', 'example.com.evil.test'],
  ['hostname', 'www.example.com', 'DOMAIN', 'example.com'],
  ['hostname', 'example.com', 'URL', 'http://evil.test/example.com'],
  ['hostname', 'example.com', 'URL', 'http://example.com@evil.test/'],
  ['hostname', 'example.com', 'URL', 'http://evil.test/@example.com/'],
  ['hostname', 'example.com', 'EMAIL', 'example.com@evil.test'],
  ['hostname', 'example.com', 'FILENAME', 'example.com'],
  ['hostname', '*.example.com', 'DOMAIN', 'example.com'],
  ['hostname', 'com', 'DOMAIN', 'evil.com'],
  ['hostname', 'github.io', 'DOMAIN', 'someone.github.io'],
  ['string', 'example.com', 'DOMAIN', 'www.example.com'],
  ['string', '.com', 'DOMAIN', 'evil.com'],
  ['string', 'global\\mutex', 'MUTEX', 'Global\\Mutex'],
  ['string', 'http://example.com/a', 'URL', 'https://example.com/a'],
  ['string', 'example.com:80/', 'URL', 'https://example.com/'],
  ['string', 'example.com/a', 'URL', 'ftp://example.com/a'],
  ['string', 'http://example.com/path', 'URL', 'http://example.com/Path'],
  ['cidr', '192.0.2.0/24', 'IPV4', '192.0.3.0'],
  ['cidr', '192.0.2.0/24', 'DOMAIN', '192.0.2.7.example.com'],
  ['cidr', '192.0.2.0/24', 'URL', 'http://evil.test/192.0.2.7'],
  ['cidr', '2001:db8::/33', 'IPV6', '2001:db8:8000::'],
  ['cidr', '0.0.0.0/0', 'IPV4', '198.51.100.1'],
  ['cidr', '::/0', 'IPV6', '2001:db8::1'],
  ['substring', 'example.com', 'URL', 'http://evil.test/?to=example.com'],
  ['substring', 'example.com', 'EMAIL', 'example.com@evil.test'],
  ['substring', 'http', 'URL', 'http://evil.test/'],
  ['regex', '/.*/', 'DOMAIN', 'evil.test'],
  ['regex', '/^abuse@/', 'EMAIL', 'no-abuse@example.com'],
];

describe('the matcher', () => {
  it.each(HITS)('with %s %s matches %s %s', (kind, entry, type, value) => {
    expect(hitIn(kind, [entry], type, value)).toEqual({ listId: 'list', entry });
  });

  it.each(MISSES)('with %s %s does not match %s %s', (kind, entry, type, value) => {
    expect(hitIn(kind, [entry], type, value)).toBeNull();
  });

  it('ignores types that the list does not cover', () => {
    expect(hitIn('hostname', ['example.com'], 'EMAIL', 'a@example.com', ['DOMAIN', 'URL'])).toBeNull();
  });

  it('returns the first matching list, whatever its kind', () => {
    const matcher = buildMatcher([
      { id: 'none', list: listOf('string', []) },
      { id: 'other', list: listOf('hostname', ['a.test']) },
      { id: 'first', list: listOf('regex', ['/example/']) },
      { id: 'second', list: listOf('string', ['www.example.com']) },
    ]);
    expect(matcher.find('DOMAIN', 'www.example.com')?.listId).toBe('first');
  });

  it('skips an equal entry of an earlier list for other types', () => {
    const matcher = buildMatcher([
      { id: 'domains', list: listOf('hostname', ['example.com'], ['DOMAIN']) },
      { id: 'mail', list: listOf('hostname', ['example.com'], ['EMAIL']) },
    ]);
    expect(matcher.find('EMAIL', 'a@example.com')?.listId).toBe('mail');
  });

  it('returns the first matching entry of a list', () => {
    expect(hitIn('cidr', ['192.0.2.0/25', '192.0.2.0/24', '192.0.2.1'], 'IPV4', '192.0.2.1')?.entry).toBe(
      '192.0.2.0/25',
    );
  });

  it('matches nothing without lists', () => {
    expect(buildMatcher([]).find('DOMAIN', 'example.com')).toBeNull();
  });

  it('never throws for a value that was not normalized', () => {
    const matcher = buildMatcher([{ id: 'all', list: listOf('hostname', ['example.com']) }]);
    for (const value of [
      '',
      'http://',
      'http:',
      '@',
      '[',
      'http://[',
      '.',
      '1.2.3',
      ':',
      '::::::',
      'x'.repeat(1e6),
    ])
      for (const type of ['URL', 'EMAIL', 'IPV4', 'IPV6', 'DOMAIN', 'MD5'] as const)
        expect(matcher.find(type, value)).toBeNull();
  });
});
