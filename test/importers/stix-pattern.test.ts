import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { observablesOf } from '../../src/importers/stix-indicator.ts';
import { parsePattern } from '../../src/importers/stix-pattern.ts';

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';
const SHA256 = 'a'.repeat(64);

const found = (pattern: string) =>
  observablesOf(parsePattern(pattern)).map((one) =>
    'rejected' in one ? `- ${one.rejected}` : `${one.type} ${one.value}`,
  );

describe('observablesOf', () => {
  it.each([
    ["[ipv4-addr:value = '192.0.2.1']", 'IPV4 192.0.2.1'],
    ["[ipv6-addr:value='2001:db8::1']", 'IPV6 2001:db8::1'],
    ["[domain-name:value = 'Bad.example.com']", 'DOMAIN bad.example.com'],
    ["[url:value = 'http://bad.example.com/a']", 'URL http://bad.example.com/a'],
    [`[file:hashes.MD5 = '${MD5}']`, `MD5 ${MD5}`],
    [`[file:hashes.'SHA-256' = '${SHA256}']`, `SHA256 ${SHA256}`],
    [`[file:hashes."SHA-256" = '${SHA256}']`, `SHA256 ${SHA256}`],
    [`[file:hashes.sha256='${SHA256}']`, `SHA256 ${SHA256}`],
    [`[file:hashes.SHA-256 == '${SHA256}']`, `SHA256 ${SHA256}`],
    [`[file:hashes.'SHA-1' = '${'b'.repeat(40)}']`, `SHA1 ${'b'.repeat(40)}`],
    ["[file:name = 'a.exe']", 'FILENAME a.exe'],
    ["[file:path = '/data/a']", 'FILENAME /data/a'],
    ["[email-addr:value = 'a@example.com']", 'EMAIL a@example.com'],
    ["[email-message:from_ref.value = 'a@example.com']", 'EMAIL a@example.com'],
    ["[email-message:sender_ref.value = 'a@example.com']", 'EMAIL a@example.com'],
    [
      "[windows-registry-key:key = 'HKEY_LOCAL_MACHINE\\\\Software\\\\A']",
      'REGISTRY_KEY HKEY_LOCAL_MACHINE\\Software\\A',
    ],
    ["[mutex:name = 'it\\'s']", "MUTEX it's"],
    ['[autonomous-system:number = 64512]', 'ASN AS64512'],
    ["[network-traffic:dst_ref.value = '192.0.2.1']", 'IPV4 192.0.2.1'],
    ["[network-traffic:dst_ref.value = '2001:db8::1']", 'IPV6 2001:db8::1'],
    ["[network-traffic:dst_ref.value = 'bad.example.com']", 'DOMAIN bad.example.com'],
    [
      "[network-traffic:extensions.'http-request-ext'.request_header.'User-Agent' = 'Bot/1']",
      'USER_AGENT Bot/1',
    ],
    [
      "[cryptocurrency-wallet:value = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa']",
      'BTC_ADDRESS 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    ],
    [
      "[network-traffic:dst_ref.type = 'ipv4-addr' AND network-traffic:dst_ref.value = '192.0.2.1']",
      'IPV4 192.0.2.1',
    ],
    [
      "[network-traffic:src_ref.value = 'bad.example.com' AND network-traffic:src_ref.type = 'domain-name']",
      'DOMAIN bad.example.com',
    ],
    ["[(ipv4-addr:value = '192.0.2.1')]", 'IPV4 192.0.2.1'],
    ["([ipv4-addr:value = '192.0.2.1'])", 'IPV4 192.0.2.1'],
    ["[ipv4-addr:value = '192.0.2.1'] WITHIN 60 SECONDS", 'IPV4 192.0.2.1'],
  ])('reads %s', (pattern, observable) => {
    expect(found(pattern)).toEqual([observable]);
  });

  it.each([
    "[ipv4-addr:value = '192.0.2.1' OR ipv4-addr:value = '192.0.2.2']",
    "[ipv4-addr:value = '192.0.2.1'] OR [ipv4-addr:value = '192.0.2.2']",
    "[ipv4-addr:value IN ('192.0.2.1', '192.0.2.2')]",
  ])('yields one observable for each alternative of %s', (pattern) => {
    expect(found(pattern)).toEqual(['IPV4 192.0.2.1', 'IPV4 192.0.2.2']);
  });

  it('yields the hashes of one file, of which each identifies it', () => {
    const pattern = `[file:hashes.MD5 = '${MD5}' AND file:hashes.'SHA-256' = '${SHA256}' AND file:hashes.'SHA-512' = 'x']`;
    expect(found(pattern)).toEqual([`MD5 ${MD5}`, `SHA256 ${SHA256}`, '- hash type not supported: SHA-512']);
  });

  it('rejects an alternative without affecting the others', () => {
    expect(found("[process:name = 'a' OR ipv4-addr:value = '192.0.2.1']")).toEqual([
      '- unknown type: process:name',
      'IPV4 192.0.2.1',
    ]);
  });

  it.each([
    ["[file:name = 'a' AND file:size = 5]", 'AND across observables'],
    [
      "[network-traffic:dst_ref.type = 'ipv6-addr' AND network-traffic:dst_ref.value = '192.0.2.1']",
      'AND across observables',
    ],
    [
      "[network-traffic:src_ref.type = 'ipv4-addr' AND network-traffic:dst_ref.value = '192.0.2.1']",
      'AND across observables',
    ],
    [
      "[network-traffic:dst_ref.type = 'ipv4-addr' AND network-traffic:dst_ref.value = '192.0.2.1' AND network-traffic:dst_port = 80]",
      'AND across observables',
    ],
    [
      "[network-traffic:dst_ref.type = 'ipv4-addr' AND network-traffic:dst_port = 80]",
      'AND across observables',
    ],
    [`[file:hashes.MD5 = '${MD5}' AND file:name = 'a']`, 'AND across observables'],
    [`[file:hashes.MD5 = '${MD5}' AND file:hashes.md5 = '${'b'.repeat(32)}']`, 'AND across observables'],
    [`[file:hashes.MD5 = '${MD5}' AND file:hashes.'SHA-256' != '${SHA256}']`, 'AND across observables'],
    [`[file:hashes.MD5 = '${MD5}'] AND [file:hashes.'SHA-256' = '${SHA256}']`, 'AND across observables'],
    [
      `[x509-certificate:hashes.MD5 = '${MD5}' AND x509-certificate:hashes.'SHA-256' = '${SHA256}']`,
      'AND across observables',
    ],
    ["[mutex:name = 'a'] AND [mutex:name = 'b']", 'AND across observables'],
    ["[mutex:name = 'a'] FOLLOWEDBY [mutex:name = 'b']", 'FOLLOWEDBY across observables'],
    ["[mutex:name = 'a'] REPEATS 5 TIMES", 'qualifier not supported: REPEATS'],
    [
      "[mutex:name = 'a'] START t'2020-01-01T00:00:00Z' STOP t'2021-01-01T00:00:00Z'",
      'qualifier not supported: START STOP',
    ],
    ["[ipv4-addr:value != '192.0.2.1']", 'operator not supported: !='],
    ["[ipv4-addr:value NOT = '192.0.2.1']", 'operator not supported: NOT ='],
    ["[ipv4-addr:value NOT IN ('192.0.2.1')]", 'operator not supported: NOT IN'],
    ["[domain-name:value LIKE '%.com']", 'operator not supported: LIKE'],
    ["[domain-name:value MATCHES '.*']", 'operator not supported: MATCHES'],
    ["[domain-name:value ISSUBSET 'a.example']", 'operator not supported: ISSUBSET'],
    ["[ipv4-addr:value NOT ISSUBSET '192.0.2.0/24']", 'operator not supported: NOT ISSUBSET'],
    ["[ipv4-addr:value ISSUPERSET '192.0.2.0/24']", 'operator not supported: ISSUPERSET'],
    ['[EXISTS mutex:name]', 'operator not supported: EXISTS'],
    ['[NOT EXISTS mutex:name]', 'operator not supported: NOT EXISTS'],
    [`[file:hashes.'SHA-512' = 'x']`, 'hash type not supported: SHA-512'],
    ["[app:id = 'com.example']", 'unknown type: app:id'],
    ["[process:image_ref.name = 'a']", 'unknown type: process:image_ref.name'],
    ["[directory:path = 'a']", 'unknown type: directory:path'],
    ["[x-custom:thing[0].part[*] = 'a']", 'unknown type: x-custom:thing.part'],
    ['[mutex:name = 5]', 'value is not text'],
    ["[mutex:name = h'ff']", 'value is not text'],
    ['[constructor:prototype = 5]', 'unknown type: constructor:prototype'],
  ])('rejects %s', (pattern, reason) => {
    expect(found(pattern)).toEqual([`- ${reason}`]);
  });

  it.each([
    '',
    'mutex:name',
    "[mutex:name = 'a'",
    "[mutex:name = 'a]",
    "mutex:name = 'a'",
    '[mutex:name = ]',
    "[mutex:name 'a']",
    "[mutex:name = 'a'] trailing",
    "[mutex:name = 'a' OR]",
    `${'('.repeat(100_000)}`,
    `[${'('.repeat(40)}mutex:name = 'a'${')'.repeat(40)}]`,
    `[mutex:name = 'a']${' WITHIN 1 SECONDS'.repeat(50_000)}`,
  ])('cannot parse %.40s', (pattern) => {
    expect(found(pattern)).toEqual(['- pattern not readable']);
  });

  it.each(["= '192.0.2.0/24'", "ISSUBSET '192.0.2.0/24'", "IN ('192.0.2.0/24')"])(
    'reads the network in %s',
    (test) => {
      expect(found(`[ipv4-addr:value ${test}]`)).toEqual(['IPV4 192.0.2.0/24']);
    },
  );

  it('never throws and always returns a result, for arbitrary text', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '(',
      ')',
      "'",
      '\\',
      ' AND ',
      ' OR ',
      ' NOT ',
      ':',
      '.',
      '=',
      'IN',
      'a',
      '5',
      ' ',
      't',
    );
    const nearlyPattern = fc.array(piece).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nearlyPattern), (text) => {
        expect(observablesOf(parsePattern(text)).length).toBeGreaterThan(0);
      }),
    );
  });

  it('rejects a long hostile pattern', () => {
    const hostile = `[mutex:name = '${"\\'".repeat(500_000)}`;
    expect(parsePattern(hostile)).toBeNull();
  });

  it('restores the values of any pattern of equalities joined by OR', () => {
    const quote = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
    const value = fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/);
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), (values) => {
        const pattern = `[${values.map((text) => `mutex:name = ${quote(text)}`).join(' OR ')}]`;
        expect(found(pattern)).toEqual(values.map((text) => `MUTEX ${text}`));
      }),
    );
  });
});
