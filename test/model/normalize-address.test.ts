import { describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import { expectRejected, expectValue } from './cases.ts';

describe('IPV4', () => {
  it.each([
    ['8.8.8.8', '8.8.8.8'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['  185.220.101.1\t', '185.220.101.1'],
    ['1[.]2[.]3[.]4', '1.2.3.4'],
    ['1.2.3[.]4', '1.2.3.4'],
    ['1(.)2{.}3[dot]4', '1.2.3.4'],
    ['1 [.] 2 [.] 3 [.] 4', '1.2.3.4'],
    ['"1.2.3.4"', '1.2.3.4'],
    ['[1.2.3.4]', '1.2.3.4'],
    ['1.2.3.4\u200b', '1.2.3.4'],
    ['1.2.3.4:443', '1.2.3.4'],
    ['1.2.3[.]4[:]8080', '1.2.3.4'],
    ['1.2.3.4/32', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:102:304', '1.2.3.4'],
    ['[::ffff:1.2.3.4]:80', '1.2.3.4'],
  ])('%j is %s', (raw, value) => expectValue('IPV4', raw, value));

  it.each([
    ['1.2.3.4/24', 'a network with bits set behind its prefix'],
    ['1.2.3.4/33', 'not an IPv4 address'],
    ['01.2.3.4', 'ambiguous IPv4 address'],
    ['010.8.8.8', 'ambiguous IPv4 address'],
    ['0x7f.0.0.1', 'ambiguous IPv4 address'],
    ['0x7f000001', 'ambiguous IPv4 address'],
    ['2130706433', 'ambiguous IPv4 address'],
    ['127.1', 'ambiguous IPv4 address'],
    ['256.1.1.1', 'not an IPv4 address'],
    ['1.2.3.4.5', 'not an IPv4 address'],
    ['1.2.3.4:65536', 'not an IPv4 address'],
    ['1.2.3.4:None', 'not an IPv4 address'],
    ['１.２.３.４', 'not an IPv4 address'],
    ['2001:db8::1', 'not an IPv4 address'],
    ['http://1.2.3.4/', 'not an IPv4 address'],
    ['evil.example', 'not an IPv4 address'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('IPV4', raw, reason));
});

describe('IPV6', () => {
  it.each([
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['::1', '::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['2001[:]db8[:][:]1', '2001:db8::1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['::1.2.3.4', '::102:304'],
  ])('%j is %s', (raw, value) => expectValue('IPV6', raw, value));

  it.each([
    ['2001:db8::1/32', 'a network with bits set behind its prefix'],
    ['::ffff:0:0/95', 'not an IPv6 address'],
    ['2001:db8::1/129', 'not an IPv6 address'],
    ['2001:db8::1::2', 'not an IPv6 address'],
    ['12345::', 'not an IPv6 address'],
    ['1:2:3:4:5:6:7:8:9', 'not an IPv6 address'],
    ['::ffff:010.1.1.1', 'not an IPv6 address'],
    ['[2001:db8::1]:65536', 'not an IPv6 address'],
    ['fe80::1%', 'not an IPv6 address'],
    ['1.2.3.4', 'not an IPv6 address'],
    ['12:30', 'not an IPv6 address'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('IPV6', raw, reason));

  it.each(['::ffff:1.2.3.4', '::FFFF:102:304', '[::ffff:1.2.3.4]:443', '::ffff:1.2.3.4/128'])(
    'the IPv4-mapped %s becomes IPV4',
    (raw) =>
      expect(normalize('IPV6', raw)).toEqual({ type: 'IPV4', value: '1.2.3.4', normalized: '1.2.3.4' }),
  );
});
