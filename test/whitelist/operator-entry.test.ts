import { describe, expect, it } from 'vitest';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { parseOperatorEntry } from '../../src/whitelist/matching/entry.ts';

const NAMES = ['DOMAIN', 'URL', 'EMAIL'];
const NETWORKS = ['IPV4', 'IPV6', 'URL'];

const EXPRESSION = '/^https?:\\/\\/example\\.com\\//';
const WILDCARD = `a URL with a wildcard: write an expression, such as ${EXPRESSION}, or give the type URL if the * belongs to it`;

describe('parseOperatorEntry', () => {
  it.each([
    ['8.8.8.8', 'cidr', '8.8.8.8/32', NETWORKS],
    ['8[.]8[.]8[.]8', 'cidr', '8.8.8.8/32', NETWORKS],
    ['10.0.0.0/8', 'cidr', '10.0.0.0/8', NETWORKS],
    ['2001:DB8::/32', 'cidr', '2001:db8::/32', NETWORKS],
    ['Example.com.', 'hostname', 'example.com', NAMES],
    ['example[.]com', 'hostname', 'example.com', NAMES],
    ['*.example.com', 'hostname', '*.example.com', NAMES],
    ['=www.example.com', 'string', 'www.example.com', NAMES],
    ['localhost', 'hostname', 'localhost', NAMES],
    ['printer.local', 'hostname', 'printer.local', NAMES],
    ['user@Example.com', 'string', 'user@example.com', ['EMAIL']],
    ['hxxp://example.com', 'string', 'http://example.com/', ['URL']],
    ['192.0.2.1/index.html', 'string', '192.0.2.1/index.html', ['URL']],
    ['Example[.]com:443/A', 'string', 'example.com:443/A', ['URL']],
    ['example.com:80/', 'string', 'example.com:80/', ['URL']],
    ['192.0.2.0/255.255.255.0', 'cidr', '192.0.2.0/24', NETWORKS],
    ['192.0.2.0 - 192.0.2.255', 'cidr', '192.0.2.0/24', NETWORKS],
    ['D41D8CD98F00B204E9800998ECF8427E', 'string', 'd41d8cd98f00b204e9800998ecf8427e', ['MD5']],
    ['cve-2021-44228', 'string', 'CVE-2021-44228', ['CVE']],
    ['AS 64496', 'string', 'AS64496', ['ASN']],
    ['HKLM\\Software\\Ours', 'string', 'hkey_local_machine\\software\\ours', ['REGISTRY_KEY']],
  ])('parses %s as %s %s', (text, kind, entry, types) => {
    expect(parseOperatorEntry(text)).toEqual({ kind, entry, types });
  });

  it('parses text in slashes as a regular expression', () => {
    expect(parseOperatorEntry('/^(noc|soc)@/i')).toMatchObject({ kind: 'regex', entry: '/^(noc|soc)@/i' });
  });

  it.each<[string, IndicatorType, object]>([
    ['Setup.exe', 'FILENAME', { kind: 'string', entry: 'setup.exe', types: ['FILENAME'] }],
    ['Global\\Ours', 'MUTEX', { kind: 'string', entry: 'Global\\Ours', types: ['MUTEX'] }],
    ['/opt/ours/run', 'FILENAME', { kind: 'string', entry: '/opt/ours/run', types: ['FILENAME'] }],
    ['intranet.corp', 'DOMAIN', { kind: 'hostname', entry: 'intranet.corp', types: NAMES }],
    ['http://other.com/a*b', 'URL', { kind: 'string', entry: 'http://other.com/a*b', types: ['URL'] }],
    ['::ffff:192.0.2.1', 'IPV6', { kind: 'cidr', entry: '192.0.2.1/32', types: NETWORKS }],
  ])('parses %s as a %s when the type is given', (text, type, entry) => {
    expect(parseOperatorEntry(text, type)).toEqual(entry);
  });

  it.each([
    ['', 'empty'],
    ['com', 'a public suffix'],
    ['co.uk', 'a public suffix'],
    ['*.com', 'a public suffix'],
    ['0.0.0.0/0', 'a network wider than /8'],
    ['::/0', 'a network wider than /3'],
    ['192.0.2.1/24', 'a network with bits set behind its prefix: write 192.0.2.0/24'],
    ['192.0.2.0/64', 'prefix length out of range'],
    ['192.0.2.1/255.255.255.0', 'a network with bits set behind its prefix: write 192.0.2.0/24'],
    ['10.0.0.0/0.0.0.255', 'a netmask that is no prefix'],
    ['0.0.0.0/0.0.0.0', 'a network wider than /8'],
    ['192.0.2.6-192.0.2.9', 'a range of 2 networks: add 192.0.2.6/31, 192.0.2.8/31'],
    ['192.0.2.9-192.0.2.6', 'a range that ends before it begins'],
    ['192.0.2.*', 'a range: write it as networks, such as 192.0.2.0/24'],
    ['setup.exe', 'neither a name nor a value whose type can be told'],
    ['intranet.corp', 'neither a name nor a value whose type can be told'],
    ['two words', 'neither a name nor a value whose type can be told'],
    ['/opt/ours/run', 'an expression with a modifier not supported'],
    ['/.*/', 'an expression that matches everything'],
    ['/(?=a)b/', 'an expression that RE2 cannot run'],
    ['=com', 'a single label, not a domain'],
    ['other.com/*', WILDCARD],
    ['https://other.com/a/*', WILDCARD],
  ])('rejects %j: %s', (text, rejected) => {
    expect(parseOperatorEntry(text)).toEqual({ rejected });
  });

  it('names an expression that it accepts in place of a URL with a wildcard', () => {
    expect(parseOperatorEntry(EXPRESSION)).toMatchObject({ kind: 'regex', entry: EXPRESSION });
  });

  it('is idempotent', () => {
    for (const text of [
      '8.8.8.8',
      '2001:DB8::/32',
      'Example.com',
      '*.example.com',
      'hxxp://example.com/A',
      'example.com:80/A',
      'example.com:443/',
      '/ab+c/',
    ]) {
      const once = parseOperatorEntry(text);
      expect('entry' in once && parseOperatorEntry(once.entry)).toEqual(once);
    }
  });
});
