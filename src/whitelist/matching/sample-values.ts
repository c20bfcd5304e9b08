import type { IndicatorType } from '../../model/vocabulary.ts';

/**
 * Two normalized values of each type that share little but the type: an expression that matches both matches
 * nearly all values. Names and addresses are reserved ones (RFC 2606, RFC 5737, RFC 3849, RFC 5398).
 */
export const SAMPLE_VALUES: Readonly<Record<IndicatorType, readonly [string, string]>> = {
  IPV4: ['203.0.113.77', '198.51.100.9'],
  IPV6: ['2001:db8::7:1', '3fff:0:9c::b'],
  DOMAIN: ['zq7.example', 'k-3w.b.test'],
  URL: ['http://zq7.example/', 'https://203.0.113.77:8443/a?b=C'],
  MD5: ['0f1e2d3c4b5a69788796a5b4c3d2e1f0', '7777777aaaaaaa7777777aaaaaaa7777'],
  SHA1: ['0f1e2d3c4b5a69788796a5b4c3d2e1f001234567', '7777777aaaaaaa7777777aaaaaaa7777777aaaaa'],
  SHA256: [
    '0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef0123456789abcdef',
    '7777777aaaaaaa7777777aaaaaaa7777777aaaaaaa7777777aaaaaaa7777777a',
  ],
  EMAIL: ['zq7@k-3w.test', 'a.b@c.example'],
  CVE: ['CVE-1999-0001', 'CVE-2024-7654321'],
  BTC_ADDRESS: ['1ZQ7zq7ZQ7zq7ZQ7zq7ZQ7zq7ZQ7zq7Z', 'bc1qk3wk3wk3wk3wk3wk3wk3wk3wk3wk3w'],
  REGISTRY_KEY: ['hkey_local_machine\\zq7', 'hkey_users\\.default\\k-3w'],
  MUTEX: ['Global\\zq7', '{8761-K}'],
  FILENAME: ['zq7.dll', '/tmp/k-3w'],
  USER_AGENT: ['mozilla/5.0 (zq7)', 'curl/8.0'],
  ASN: ['AS64496', 'AS65551'],
};
