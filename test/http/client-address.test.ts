import { describe, expect, it } from 'vitest';
import { isNetwork } from '../../src/config/kinds.ts';
import { clientAddress, inNetworks } from '../../src/http/client-address.ts';

describe('the client address', () => {
  const proxies = ['10.0.0.0/8', '::1'];

  it.each([
    ['the socket’s, whatever a stranger claims', '203.0.113.9', '10.1.1.1', [], '203.0.113.9'],
    ['the socket’s, when that is no proxy of ours', '203.0.113.9', '198.51.100.1', proxies, '203.0.113.9'],
    ['the hop before our proxy', '10.0.0.1', '198.51.100.1', proxies, '198.51.100.1'],
    [
      'the rightmost hop that is not ours',
      '10.0.0.1',
      '192.0.2.66, 198.51.100.1, 10.2.2.2',
      proxies,
      '198.51.100.1',
    ],
    ['unknown left of what is no address', '10.0.0.1', '198.51.100.1, hidden', proxies, 'unknown'],
    ['unknown when a proxy hides it', '10.0.0.1', 'unknown', proxies, 'unknown'],
    ['unknown when it is not written in full', '10.0.0.1', '192.0.2', proxies, 'unknown'],
    ['unknown when it is written in hexadecimal', '10.0.0.1', '0xcb.0.113.9', proxies, 'unknown'],
    ['without its port', '10.0.0.1', '203.0.113.9:51234', proxies, '203.0.113.9'],
    ['of IPv6 without its port', '10.0.0.1', '[2001:db8::9]:4711', proxies, '2001:db8::9'],
    ['of IPv6 in brackets', '10.0.0.1', '[2001:db8::9]', proxies, '2001:db8::9'],
    ['mapped, in brackets', '10.0.0.1', '[::ffff:203.0.113.9]:80', proxies, '203.0.113.9'],
    ['of the hop before a proxy with a port', '10.0.0.1', '203.0.113.9, 10.0.0.2:80', proxies, '203.0.113.9'],
    ['unknown with anything else', '10.0.0.1', '"203.0.113.9"', proxies, 'unknown'],
    ['the leftmost when all are ours', '10.0.0.1', '10.0.0.3, 10.0.0.2', proxies, '10.0.0.3'],
    ['the proxy’s own without a header', '10.0.0.1', undefined, proxies, '10.0.0.1'],
    ['IPv4 where it came mapped', '::ffff:203.0.113.9', undefined, [], '203.0.113.9'],
    ['behind a proxy that came mapped', '::ffff:10.0.0.1', '::ffff:198.51.100.1', proxies, '198.51.100.1'],
    ['of an IPv6 proxy', '::1', '2001:db8::5', proxies, '2001:db8::5'],
  ])('is %s', (_, socket, header, trusted, expected) => {
    expect(clientAddress(socket, header, trusted)).toBe(expected);
  });

  it('matches only networks of its address family', () => {
    expect(inNetworks('192.0.2.1', ['::/0'])).toBe(false);
    expect(inNetworks('2001:db8::1', ['0.0.0.0/0'])).toBe(false);
    expect(inNetworks('::ffff:192.0.2.1', ['192.0.2.0/24'])).toBe(true);
    expect(inNetworks('127.0.0.1', ['::ffff:127.0.0.0/104'])).toBe(true);
    expect(inNetworks('127.0.0.1', ['::ffff:127.0.0.1'])).toBe(true);
    expect(inNetworks('128.0.0.1', ['::ffff:127.0.0.0/104'])).toBe(false);
    expect(inNetworks('not an address', ['0.0.0.0/0', '::/0'])).toBe(false);
  });
});

describe('isNetwork', () => {
  it.each(['10.0.0.0/8', '192.0.2.7', '0.0.0.0/0', '::1', '2001:db8::/32', '::ffff:10.0.0.0/104'])(
    'accepts %s',
    (text) => expect(isNetwork(text)).toBe(true),
  );

  it.each([
    ...['10.1', '10', '0x0a000001', '010.0.0.1', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/08', '10.1/16'],
    ...['::/129', 'fe80::1%eth0', '1.2.3.4/8/8', ' 10.0.0.1', '', 'localhost', '10.0.0.0/1e1', '256.0.0.1'],
  ])('rejects "%s"', (text) => expect(isNetwork(text)).toBe(false));
});
