import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { buildMatcher } from '../../src/whitelist/matching/matcher.ts';
import { listsIn, parsed, SHIPPED } from './lists.ts';

const lists = listsIn(SHIPPED).map(({ id, json }) => ({ id, list: parsed(json) }));
const matcher = buildMatcher(lists);

function listHiding(type: IndicatorType, raw: string): string | undefined {
  const result = normalize(type, raw);
  if ('rejected' in result) throw new Error(result.rejected);
  return matcher.find(result.type, result.normalized)?.listId;
}

describe('the built-in warninglists', () => {
  it.each(lists.map(({ id, list }) => [id, list] as const))(
    '%s has a description and unique, valid entries',
    (_, list) => {
      expect(list.rejectedEntries).toEqual([]);
      expect(list.description).not.toBe('');
      expect(new Set(list.entries).size).toBe(list.entries.length);
    },
  );

  it.each<[IndicatorType, string]>([
    ['IPV4', '0.0.0.0'],
    ['IPV4', '10.1.2.3'],
    ['IPV4', '100.127.255.255'],
    ['IPV4', '127.0.0.1'],
    ['IPV4', '169.254.169.254'],
    ['IPV4', '172.31.255.255'],
    ['IPV4', '192.0.0.8'],
    ['IPV4', '192.0.0.11'],
    ['IPV4', '192.0.0.171'],
    ['IPV4', '203.0.113.1'],
    ['IPV4', '239.255.255.250'],
    ['IPV4', '255.255.255.255'],
    ['URL', 'http://127.0.0.1:8080/a'],
    ['URL', 'http://[::1]/'],
  ])('cover %s %s', (type, value) => {
    expect(listHiding(type, value)).toMatch(/^special-use-ipv[46]\.json$/);
  });

  it.each<[IndicatorType, string, string]>([
    ['IPV6', '::1', 'special-use-ipv6.json'],
    ['IPV6', 'fe80::1', 'special-use-ipv6.json'],
    ['IPV6', 'fd12:3456::1', 'special-use-ipv6.json'],
    ['IPV6', 'ff02::fb', 'special-use-ipv6.json'],
    ['IPV6', '2001:db8::1', 'special-use-ipv6.json'],
    ['DOMAIN', 'www.example.com', 'reserved-names.json'],
    ['DOMAIN', 'evil.test', 'reserved-names.json'],
    ['DOMAIN', 'printer.home.arpa', 'reserved-names.json'],
    ['DOMAIN', '1.0.16.172.in-addr.arpa', 'reserved-names.json'],
    ['EMAIL', 'user@example.org', 'reserved-names.json'],
    ['URL', 'http://localhost/', 'reserved-names.json'],
    ['IPV4', '8.8.8.8', 'public-resolvers.json'],
    ['IPV6', '2620:fe::fe', 'public-resolvers.json'],
    ['URL', 'https://1.1.1.1/dns-query', 'public-resolvers.json'],
    ['URL', 'https://dns.google/resolve?name=a.example', 'public-resolver-names.json'],
  ])('cover %s %s by %s', (type, value, id) => {
    expect(listHiding(type, value)).toBe(id);
  });

  it.each(['md5', 'sha1', 'sha256'] as const)('cover the %s of an empty file', (algorithm) => {
    const digest = createHash(algorithm).update('').digest('hex');
    expect(listHiding(algorithm.toUpperCase() as IndicatorType, digest)).toBe('empty-files.json');
  });

  it.each<[IndicatorType, string]>([
    ['IPV4', '192.0.0.9'],
    ['IPV4', '192.0.0.10'],
    ['IPV4', '192.0.1.0'],
    ['IPV4', '192.88.99.1'],
    ['IPV4', '192.31.196.1'],
    ['IPV4', '198.20.0.1'],
    ['IPV4', '223.255.255.255'],
    ['IPV4', '8.8.8.9'],
    ['IPV6', '2001:1::1'],
    ['IPV6', '2001:4:112::1'],
    ['IPV6', '2001::1'],
    ['IPV6', '2001:20::1'],
    ['IPV6', '2001:200::1'],
    ['IPV6', '2002:c000:201::1'],
    ['IPV6', '64:ff9b::808:808'],
    ['DOMAIN', 'expyuzz4wqqyqhjn.onion'],
    ['DOMAIN', 'example.com.co'],
    ['DOMAIN', 'tunnel.dns.google'],
    ['EMAIL', 'user@google.com'],
  ])('do not cover %s %s', (type, value) => {
    expect(listHiding(type, value)).toBeUndefined();
  });
});
