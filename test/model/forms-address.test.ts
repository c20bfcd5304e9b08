import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

/** How reports, tickets and logs write addresses. */
describe('IPV4 notations', () => {
  it.each([
    '192[.]0[.]2[.]7',
    '192.0.2[.]7',
    '192(.)0(.)2(.)7',
    '192{.}0{.}2{.}7',
    '192[dot]0[DOT]2(dot)7',
    '192<.>0<dot>2<.>7',
    '192 [.] 0 [.] 2 [.] 7',
    '192 dot 0 dot 2 dot 7',
    '192\\.0\\.2\\.7',
    '192\\[.\\]0\\[.\\]2\\[.\\]7',
    '192[.0.2.7',
    '192.0.2.]7',
    '192【.】0［.］2.7',
    '192.0.2.7.',
    '192.0.2.7:',
    '192.0.2.7:0',
    '192.0.2.7:65535',
    '192[.]0[.]2[.]7[:]443',
    '192.0.2.7/32',
    '[192.0.2.7]',
    '(192.0.2.7)',
    '«192.0.2.7»',
    '‘192.0.2.7’',
    '\u202a192.0.2.7\u202c',
    '192.0.2\u200b.7',
    '\ufeff192.0.2.7\r\n',
    '::ffff:192.0.2.7',
    '::ffff:c000:207',
    '0:0:0:0:0:FFFF:192.0.2.7',
    '[::ffff:192.0.2.7]:8080',
    '::ffff:192.0.2.7%eth0',
    '::ffff:192.0.2.7/128',
  ])('%j is 192.0.2.7', (raw) => expectValue('IPV4', raw, '192.0.2.7'));

  it.each([
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['192[.]0[.]2[.]0/24', '192.0.2.0/24'],
    ['192.0.2[.]0[/]24', '192.0.2.0/24'],
    ['192.0.2.0/255.255.255.0', '192.0.2.0/24'],
    ['192.0.2.6/31', '192.0.2.6/31'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['128.0.0.0/1', '128.0.0.0/1'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
    ['192.0.2.7/255.255.255.255', '192.0.2.7'],
  ])('the network %j is %s', (raw, value) => expectValue('IPV4', raw, value));

  it.each([
    ['192.0.2.7/255.255.255.0', 'a network with bits set behind its prefix'],
    ['192.0.2.0/0.0.0.255', 'a network whose mask is no prefix'],
    ['192.0.2.7/31', 'a network with bits set behind its prefix'],
    ['192.0.2.1-192.0.2.9', 'a range, not an address'],
    ['192.0.2.1 – 192.0.2.9', 'a range, not an address'],
    ['192.0.2.1-9', 'a range, not an address'],
    ['192.0.2.*', 'a range, not an address'],
    ['192.0.x.x', 'a range, not an address'],
    ['192.0.2.XXX', 'a range, not an address'],
    ['0300.0.2.7', 'ambiguous IPv4 address'],
    ['192.0.2.007', 'ambiguous IPv4 address'],
    ['0xC0.0.2.7', 'ambiguous IPv4 address'],
    ['192.0.519', 'ambiguous IPv4 address'],
    ['4294967295', 'ambiguous IPv4 address'],
    ['4294967296', 'not an IPv4 address'],
    ['66.0.543.66', 'not an IPv4 address'],
    ['192.0.2.256', 'not an IPv4 address'],
    ['192.0.2.7..', 'not an IPv4 address'],
    ['192.0.2.7:443:80', 'not an IPv4 address'],
    ['192.0.2.7, 192.0.2.8', 'not an IPv4 address'],
    ['192。0。2。7', 'not an IPv4 address'],
    ['192 . 0 . 2 . 7', 'not an IPv4 address'],
    ['tcp://192.0.2.7:443', 'not an IPv4 address'],
    ['-', 'not an IPv4 address'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('IPV4', raw, reason));
});

describe('IPV6 notations', () => {
  it.each([
    '2001:DB8::7',
    '2001:0DB8:0:0:0:0:0:7',
    '2001:0db8:0000:0000:0000:0000:0000:0007',
    '2001:db8:0::0:7',
    '2001:db8::0.0.0.7',
    '2001[:]db8[:][:]7',
    '2001[:]db8[::]7',
    '2001(:)db8(:)(:)7',
    '2001{:}db8{:}{:}7',
    '2001\\:db8\\:\\:7',
    '2001\\[:\\]db8\\[:\\]\\[:\\]7',
    '[2001:db8::7]',
    '[2001:db8::7]:',
    '[2001:db8::7]:443',
    '[2001[:]db8[:][:]7][:]443',
    '2001:db8::7%eth0',
    '2001:db8::7%25eth0',
    '[2001:db8::7%3]',
    '[2001:db8::7%en0]:22',
    '2001:db8::7/128',
    '2001:db8::7%eth0/128',
    '"2001:db8::7"',
    '<2001:db8::7>',
    '2001:db8::7\u200e',
    '\t2001:db8::7 ',
  ])('%j is 2001:db8::7', (raw) => expectValue('IPV6', raw, '2001:db8::7'));

  it.each([
    ['[::]', '::'],
    ['[::]:80', '::'],
    ['[::]1', '::1'],
    ['fe80[::]', 'fe80::'],
    ['::ffff:0:192.0.2.7', '::ffff:0:c000:207'],
    ['64:FF9B::192.0.2.7', '64:ff9b::c000:207'],
  ])('%j is %s', (raw, value) => expectValue('IPV6', raw, value));

  it.each([
    ['2001:DB8:0::/32', '2001:db8::/32'],
    ['2001[:]db8[::]/32', '2001:db8::/32'],
    ['2001:db8::8/125', '2001:db8::8/125'],
  ])('the network %j is %s', (raw, value) => expectValue('IPV6', raw, value));

  it.each([
    ['fe80::1%eth0/64', 'a network with bits set behind its prefix'],
    ['::/0', 'a network with IPv4-mapped addresses'],
    ['::fffe:0:0/95', 'a network with IPv4-mapped addresses'],
    ['::/19', 'a network with IPv4-mapped addresses'],
    ['::ffff:192.0.2.7/120', 'a network with bits set behind its prefix'],
    ['2001:db8::1-2001:db8::9', 'a range, not an address'],
    ['2001:db8:::7', 'not an IPv6 address'],
    ['2001:db8::7::', 'not an IPv6 address'],
    ['2001:db8::g', 'not an IPv6 address'],
    ['2001:db8::00007', 'not an IPv6 address'],
    ['2001:db8:1:2:3:4:5', 'not an IPv6 address'],
    ['[2001:db8::7', 'not an IPv6 address'],
    ['[2001:db8::7]:70000', 'not an IPv6 address'],
    ['2001:db8::192.0.2.256', 'not an IPv6 address'],
    ['2001:db8::192.0.2.07', 'not an IPv6 address'],
    ['00:1b:44:11:3a:b7', 'not an IPv6 address'],
    ['https://[2001:db8::7]/', 'not an IPv6 address'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('IPV6', raw, reason));
});
