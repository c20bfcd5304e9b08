import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayConnect, parseNetworks } from '../../src/outbound/ssrf-guard.ts';

const NOT_PUBLIC = {
  'this network': ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
  'link-local and cloud metadata': [
    '169.254.1.1',
    '169.254.169.254',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    '100.100.100.200',
    '192.0.0.192',
    '64:ff9b::100.100.100.200',
    '64:ff9b::192.0.0.192',
  ],
  'platform of Azure': ['168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::168.63.129.16'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'reserved and broadcast': ['192.0.0.1', '240.0.0.1', '255.255.255.255', '198.18.0.1', '4000::1', 'fec0::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::ffff:10.0.0.1'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::8.8.8.8'],
  '6to4, Teredo, ISATAP': ['2002:7f00:1::', '2002:808:808::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'ISATAP under a global prefix': ['2600::5efe:10.0.0.1', '2600::200:5efe:7f00:1'],
  'no address': ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4.5', '127.0.0.1:80'],
};

describe('an address', () => {
  it.each(Object.entries(NOT_PUBLIC).flatMap(([kind, all]) => all.map((address) => [kind, address])))(
    'of the kind «%s» is rejected: %s',
    (_, address) => {
      expect(mayConnect(address, [])).toBe(false);
    },
  );

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '172.32.0.1',
    '168.63.129.15',
    '168.63.129.17',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('that is public is allowed: %s', (address) => {
    expect(mayConnect(address, [])).toBe(true);
  });

  it.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['::ffff:10.1.2.3', '10.0.0.0/8', true],
    ['64:ff9b::10.1.2.3', '10.0.0.0/8', true],
    ['11.1.2.3', '11.1.2.4', true],
    ['168.63.129.16', '168.63.129.16', true],
    ['192.168.0.1', '10.0.0.0/8', false],
    ['192.168.0.1', '192.168.0.1', true],
    ['192.168.0.2', '192.168.0.1', false],
    ['fd00::1', 'fd00::/8', true],
    ['::1', '127.0.0.0/8', false],
    ['::127.0.0.1', '127.0.0.0/8', false],
    ['2002:7f00:1::', '127.0.0.0/8', false],
    ['0.0.0.0', '127.0.0.0/8', false],
  ])('%s with %s: allowed is %s', (address, network, expected) => {
    expect(mayConnect(address, parseNetworks([network]))).toBe(expected);
  });

  it('that embeds an IPv4 address is judged like that address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const expected = mayConnect(address, []);
        expect(mayConnect(`::ffff:${address}`, [])).toBe(expected);
        expect(mayConnect(`64:ff9b::${address}`, [])).toBe(expected);
      }),
    );
  });

  it('of any form never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4Extended(), fc.ipV6(), fc.string()), (address) => {
        expect(typeof mayConnect(address, [])).toBe('boolean');
      }),
    );
  });
});

describe('parseNetworks', () => {
  it.each([
    '',
    'localhost',
    '10/8',
    '10.0.0.0/33',
    '10.0.0.0/',
    '::/129',
    '10.0.0.0/8 ',
    '::ffff:10.0.0.0/104',
    '/8',
  ])('names an invalid network: %j', (text) => {
    expect(() => parseNetworks(['127.0.0.0/8', text])).toThrow(`not a network in CIDR notation: ${text}`);
  });
});
