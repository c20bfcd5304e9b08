import { describe, expect, it } from 'vitest';
import { QUERYABLE_PROVIDERS } from '../../src/enrichment/providers/catalogue.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { KEY } from './provider-server.ts';

const MD5 = '0123456789abcdef0123456789abcdef';
const SHA256 = MD5 + MD5;

const providerOf = (name: string) => {
  const provider = QUERYABLE_PROVIDERS.find((candidate) => candidate.name === name);
  if (!provider) throw new Error(name);
  return provider;
};

const gets: [string, IndicatorType, string, string][] = [
  ['virustotal', 'IPV4', '192.0.2.1', '/ip_addresses/192.0.2.1'],
  ['virustotal', 'IPV6', '2001:db8::1', '/ip_addresses/2001%3Adb8%3A%3A1'],
  ['virustotal', 'DOMAIN', 'www.example.com', '/domains/www.example.com'],
  ['virustotal', 'MD5', MD5, `/files/${MD5}`],
  // The example of https://docs.virustotal.com/reference/url, in base64url without padding.
  [
    'virustotal',
    'URL',
    'http://www.somedomain.com/this/is/my/url',
    '/urls/aHR0cDovL3d3dy5zb21lZG9tYWluLmNvbS90aGlzL2lzL215L3VybA',
  ],
  ['virustotal', 'URL', 'http://example.com/?a>b~', '/urls/aHR0cDovL2V4YW1wbGUuY29tLz9hPmJ-'],
  ['abuseipdb', 'IPV4', '192.0.2.1', '/check?ipAddress=192.0.2.1&maxAgeInDays=90'],
  ['abuseipdb', 'IPV6', '2001:db8::1', '/check?ipAddress=2001%3Adb8%3A%3A1&maxAgeInDays=90'],
  ['otx', 'IPV4', '192.0.2.1', '/indicators/IPv4/192.0.2.1/general'],
  ['otx', 'IPV6', '2001:db8::1', '/indicators/IPv6/2001%3Adb8%3A%3A1/general'],
  ['otx', 'DOMAIN', 'example.co.uk', '/indicators/domain/example.co.uk/general'],
  ['otx', 'DOMAIN', 'mail.example.co.uk', '/indicators/hostname/mail.example.co.uk/general'],
  ['otx', 'DOMAIN', 'evil.duckdns.org', '/indicators/hostname/evil.duckdns.org/general'],
  [
    'otx',
    'URL',
    'http://example.com/a?b=/../c#d',
    '/indicators/url/http%3A%2F%2Fexample.com%2Fa%3Fb%3D%2F..%2Fc%23d/general',
  ],
  ['otx', 'SHA256', SHA256, `/indicators/file/${SHA256}/general`],
  ['otx', 'CVE', 'CVE-2021-44228', '/indicators/cve/CVE-2021-44228/general'],
  ['greynoise', 'IPV4', '192.0.2.1', '/v3/community/192.0.2.1'],
  ['shodan', 'IPV6', '2001:db8::1', `/shodan/host/2001%3Adb8%3A%3A1?minify=true&key=${KEY}`],
];

describe('a provider request', () => {
  it.each(gets)('to %s for a %s, %s, is GET %s', (name, type, normalized, path) => {
    const request = providerOf(name).request(type, normalized, KEY);
    expect(request).toMatchObject({ method: 'GET', path });
    expect(request.body).toBeUndefined();
  });

  it.each([
    ['URL', 'http://example.com/?a=1&b=2', '/url/', 'url=http%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D2'],
    ['DOMAIN', 'example.com', '/host/', 'host=example.com'],
    ['IPV4', '192.0.2.1', '/host/', 'host=192.0.2.1'],
    ['MD5', MD5, '/payload/', `md5_hash=${MD5}`],
    ['SHA256', SHA256, '/payload/', `sha256_hash=${SHA256}`],
  ] as const)('to urlhaus for a %s, %s, is POST %s with %s', (type, normalized, path, body) => {
    expect(providerOf('urlhaus').request(type, normalized, KEY)).toMatchObject({
      method: 'POST',
      path,
      body,
    });
  });

  it.each([
    ['virustotal', 'x-apikey'],
    ['abuseipdb', 'key'],
    ['otx', 'x-otx-api-key'],
    ['greynoise', 'key'],
    ['urlhaus', 'auth-key'],
  ])('to %s has the key in %s, and nowhere else', (name, header) => {
    const provider = providerOf(name);
    const { credentials, ...rest } = provider.request('IPV4', '192.0.2.1', KEY);
    expect(credentials).toEqual({ [header]: KEY });
    expect(JSON.stringify(rest)).not.toContain(KEY);
  });

  const everyType = QUERYABLE_PROVIDERS.flatMap((provider) =>
    provider.accepts.map((type) => [provider.name, type, provider] as const),
  );
  it.each(everyType)('to %s for a %s stays below the base URL', (_name, type, provider) => {
    const { path } = provider.request(type, '../../admin?x=1#y', KEY);
    const { pathname } = new URL(`https://example.com/base${path}`);
    expect(pathname).toMatch(/^\/base\/./);
    expect(pathname).not.toContain('admin?');
    expect(new URL(`https://example.com/base${path}`).hash).toBe('');
  });
});

describe('QUERYABLE_PROVIDERS', () => {
  it.each(QUERYABLE_PROVIDERS.map((provider) => [provider.name, provider] as const))(
    '%s uses HTTPS',
    (_name, { defaultBaseUrl }) => {
      expect(defaultBaseUrl).toMatch(/^https:\/\/[^?#]*[^/?#]$/);
    },
  );
});
