import { describe, expect, it } from 'vitest';
import { addressProblem } from '../../src/outbound/ssrf-guard.ts';

const REFUSED = 'its address is neither public nor in an allowed network';
const resolving =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: 4 }));

describe('addressProblem', () => {
  it.each([
    ['a loopback address', 'http://127.0.0.1/list', REFUSED],
    ['a private address', 'http://10.1.2.3:8080/list', REFUSED],
    ['a private IPv6 address', 'http://[fd00::1]/list', REFUSED],
    ['an address in an allowed network', 'http://10.20.1.1/list', null],
    ['a public address', 'https://192.0.1.1/list', null],
  ])('judges %s', async (_, url, expected) => {
    expect(await addressProblem(new URL(url), ['10.20.0.0/16'])).toBe(expected);
  });

  it('judges a name by all addresses that it resolves to', async () => {
    const url = new URL('https://feed.example/list');
    expect(await addressProblem(url, [], resolving('127.0.0.1', '10.0.0.1'))).toBe(REFUSED);
    expect(await addressProblem(url, [], resolving('127.0.0.1', '192.0.1.1'))).toBeNull();
  });

  it('reports nothing for a name that does not resolve', async () => {
    const url = new URL('https://feed.example/list');
    expect(await addressProblem(url, [], () => Promise.reject(new Error('EAI_AGAIN')))).toBeNull();
  });
});
