import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ListKind } from '../../src/whitelist/matching/rule.ts';
import { parseWarninglist } from '../../src/whitelist/matching/warninglist.ts';
import { REAL_DATA } from '../support/real-data.ts';
import { listsIn, parsed } from './lists.ts';

const LIST = { name: 'A list', description: 'Of examples', version: 20240101, type: 'hostname' };

function reasonAgainst(type: ListKind, entry: unknown, attributes?: string[]): string | undefined {
  return parsed({ ...LIST, type, matching_attributes: attributes, list: [entry] }).rejectedEntries[0]?.reason;
}

describe('a MISP warninglist', () => {
  it('is parsed with its trimmed entries', () => {
    const json = {
      ...LIST,
      matching_attributes: ['domain', 'hostname'],
      list: [' Example.com ', 'example.net'],
    };
    expect(parseWarninglist(json)).toEqual({
      name: 'A list',
      description: 'Of examples',
      version: '20240101',
      kind: 'hostname',
      types: ['DOMAIN', 'URL'],
      entries: ['Example.com', 'example.net'],
      rejectedEntries: [],
    });
  });

  it('defaults to strings, version 1 and all types', () => {
    const list = parsed({ name: 'A list', list: ['d41d8cd98f00b204e9800998ecf8427e'] });
    expect(list).toMatchObject({ kind: 'string', version: '1', description: '' });
    expect(list.types).toHaveLength(15);
  });

  it('may have comments on its entries', () => {
    expect(parsed({ ...LIST, list: { 'example.com': 'ours', 'example.net': '' } }).entries).toEqual([
      'example.com',
      'example.net',
    ]);
  });

  it.each([
    ['text', 'not an object'],
    [[], 'not an object'],
    [null, 'not an object'],
    [{ ...LIST, name: '' }, 'no usable name'],
    [{ ...LIST, name: 'a\u0000b' }, 'no usable name'],
    [{ ...LIST, description: 5 }, 'description not usable'],
    [{ ...LIST, version: {} }, 'version neither a number nor a short text'],
    [{ ...LIST, type: 'fuzzy' }, 'type not known'],
    [{ ...LIST, matching_attributes: 'domain' }, 'matching_attributes not a list of names'],
    [
      { ...LIST, matching_attributes: ['x509-fingerprint-sha1'] },
      'no matching attribute that can be compared',
    ],
    [
      { ...LIST, type: 'cidr', matching_attributes: ['domain'] },
      'no matching attribute that can be compared',
    ],
    [{ ...LIST, list: 'example.com' }, 'no list of entries'],
  ])('rejects %j', (json, rejected) => {
    expect(parseWarninglist(json)).toEqual({ rejected });
  });
});

describe('the types of a warninglist', () => {
  it.each<[ListKind, string[], string[]]>([
    ['hostname', ['hostname', 'domain|ip'], ['DOMAIN', 'URL']],
    ['cidr', ['ip-src', 'ip-dst|port', 'domain|ip'], ['IPV4', 'IPV6', 'URL']],
    ['substring', ['email-src', 'whois-registrant-email', 'domain|ip'], ['EMAIL']],
    ['string', ['md5', 'filename|md5', 'ssdeep'], ['MD5']],
    ['string', ['filename|md5'], ['MD5', 'FILENAME']],
    ['string', ['domain|ip'], ['IPV4', 'IPV6', 'DOMAIN', 'URL']],
    ['regex', ['domain'], ['DOMAIN']],
    ['hostname', ['ALL'], ['IPV4', 'IPV6', 'DOMAIN', 'URL', 'EMAIL']],
  ])('of kind %s for %j are %j', (type, attributes, types) => {
    expect(parsed({ ...LIST, type, matching_attributes: attributes, list: [] }).types).toEqual(types);
  });
});

describe('a warninglist entry', () => {
  it.each<[ListKind, unknown, string]>([
    ['string', 5, 'not text'],
    ['string', '', 'empty'],
    ['substring', '  ', 'empty'],
    ['string', 'a\nb', 'control characters'],
    ['string', 'x'.repeat(1_000_000), 'longer than 8192 characters'],
    ['hostname', 'com', 'a public suffix'],
    ['hostname', '.co.uk', 'a public suffix'],
    ['hostname', '*.com', 'a public suffix'],
    ['hostname', 'onion', 'a public suffix'],
    ['hostname', 'https://example.com/', 'not a host name'],
    ['hostname', '.', 'not a host name'],
    ['hostname', '*', 'not a host name'],
    ['hostname', 'a..b', 'not a host name'],
    ['cidr', '0.0.0.0/0', 'a network wider than /8'],
    ['cidr', '128.0.0.0/1', 'a network wider than /8'],
    ['cidr', '::/0', 'a network wider than /3'],
    ['cidr', '2000::/3', 'a network wider than /16'],
    ['cidr', '::ffff:0:0/96', 'a network wider than /104'],
    ['cidr', '::ffff:0:0/95', 'prefix length out of range'],
    ['cidr', '192.0.2.0/33', 'prefix length out of range'],
    ['cidr', '192.0.2.0/', 'prefix length out of range'],
    ['cidr', '192.0.2.0/+8', 'prefix length out of range'],
    ['cidr', '192.0.2.1/24', 'a network with bits set behind its prefix: write 192.0.2.0/24'],
    ['cidr', '2001:db8::1/64', 'a network with bits set behind its prefix: write 2001:db8::/64'],
    ['cidr', '2001:db8:1::/47', 'a network with bits set behind its prefix: write 2001:db8::/47'],
    ['cidr', '010.0.0.0/8', 'neither an address nor a network'],
    ['cidr', 'example.com', 'neither an address nor a network'],
    ['substring', 'www', 'a part shorter than 4 characters'],
    ['substring', 'https://', 'a part of very many values'],
    ['substring', '.co.uk', 'a public suffix'],
    ['substring', 'x'.repeat(254), 'a part longer than 253 characters'],
    ['regex', 'abc', 'an expression without delimiters'],
    ['regex', '/abc', 'an expression without delimiters'],
    ['regex', '/', 'an expression without delimiters'],
    ['regex', '/a b/x', 'an expression with a modifier not supported'],
    ['regex', '/a(?=b)/', 'an expression that RE2 cannot run'],
    ['regex', '/(?<!a)bcd/', 'an expression that RE2 cannot run'],
    ['regex', '/(a)\\1/', 'an expression that RE2 cannot run'],
    ['regex', '/a++b/', 'an expression that RE2 cannot run'],
    ['regex', `/${'('.repeat(400)}/`, 'an expression that RE2 cannot run'],
    ['regex', `/${'a'.repeat(1001)}/`, 'an expression longer than 1000 characters'],
    ['regex', `/${'x{0,1000}'.repeat(100)}/`, 'an expression too large'],
    ['regex', '/[a-f]{600}/', 'an expression too large'],
    ['regex', '/.*/', 'an expression that matches everything'],
    ['regex', '/./', 'an expression that matches everything'],
    ['regex', '/^[0-9a-f]{32}$/', 'an expression that matches everything'],
    ['regex', '/@/', 'an expression that matches everything'],
  ])('of kind %s cannot be %j: %s', (kind, entry, reason) => {
    expect(reasonAgainst(kind, entry)).toBe(reason);
  });

  it.each<[ListKind, string]>([
    ['hostname', 'test'],
    ['hostname', 'home.arpa'],
    ['cidr', '240.0.0.0/4'],
    ['cidr', '10.0.0.0/8'],
    ['cidr', 'fc00::/7'],
    ['regex', '/(a+)+$/'],
  ])('of kind %s can be %j', (kind, entry) => {
    expect(reasonAgainst(kind, entry)).toBeUndefined();
  });

  it("must be a value of one of its list's types", () => {
    const sha512 = 'a'.repeat(128);
    expect(reasonAgainst('string', sha512, ['md5', 'sha512'])).toBe('no value of a type of the list');
  });

  it('is identified by its index when rejected', () => {
    const list = parsed({ ...LIST, list: ['example.com', 'com', 'example.net', 7] });
    expect(list.entries).toEqual(['example.com', 'example.net']);
    expect(list.rejectedEntries).toEqual([
      { index: 1, reason: 'a public suffix' },
      { index: 3, reason: 'not text' },
    ]);
  });

  it('beyond the maximum number of expressions is rejected', () => {
    const list = parsed({
      ...LIST,
      type: 'regex',
      list: Array.from({ length: 10_000 }, (_, n) => `/^a${n}$/`),
    });
    expect(list.entries).toHaveLength(50);
    expect(list.rejectedEntries.at(-1)).toEqual({ index: 9_999, reason: 'more than 50 expressions' });
  });
});

describe.skipIf(!existsSync(REAL_DATA))('the public warninglists', () => {
  it('are accepted except hashes of other lengths', () => {
    const rejected = listsIn(`${REAL_DATA}/warninglists`).flatMap(({ id, json }) =>
      parsed(json).rejectedEntries.map(({ reason }) => `${id}: ${reason}`),
    );
    expect(rejected).toEqual(Array(3).fill('empty-hashes.json: no value of a type of the list'));
  });
});
