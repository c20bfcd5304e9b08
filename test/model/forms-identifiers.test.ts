import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

describe('CVE notations', () => {
  it.each([
    'CVE-2021-44228',
    'cve-2021-44228',
    'Cve-2021-44228',
    ' CVE-2021-44228\n',
    '[CVE-2021-44228]',
    '(cve-2021-44228)',
    '"CVE-2021-44228"',
    'CVE\u20102021\u201044228',
    'CVE\u20112021\u201144228',
    'CVE\u20122021\u201244228',
    'CVE–2021–44228',
    'CVE—2021-44228',
    'CVE\u22122021\u221244228',
    'CVE\uff0d2021\uff0d44228',
    'CVE\ufe632021\ufe6344228',
    'CVE-2021-\u200b44228',
  ])('%j is CVE-2021-44228', (raw) => expectValue('CVE', raw, 'CVE-2021-44228'));

  it.each(['CVE-1999-0001', 'CVE-2014-123456', 'CVE-2024-1234567890123456789'])(
    '%j is kept unchanged',
    (raw) => expectValue('CVE', raw, raw),
  );

  it.each([
    '2021-44228',
    'CVE2021-44228',
    'CVE-202144228',
    'CVE_2021_44228',
    'CVE 2021-44228',
    'CVE-2021-442',
    'CVE-2021-12345678901234567890',
    'CVE-21-44228',
    'CVE-1998-1234',
    'CVE-2021-4422X',
    'CVE-2021-44228, CVE-2021-45046',
    'CVE-2021-44228 (Log4Shell)',
    'CAN-2001-0500',
    'GHSA-jfh8-c2jp-5v3q',
    'https://www.cve.org/CVERecord?id=CVE-2021-44228',
    'CVE-２０２１-44228',
  ])('%j is rejected', (raw) => expectRejected('CVE', raw, 'not a CVE id'));
});

describe('ASN notations', () => {
  it.each([
    ['AS64496', 'AS64496'],
    ['as64496', 'AS64496'],
    ['AS 64496', 'AS64496'],
    ['ASN64496', 'AS64496'],
    ['ASN 64496', 'AS64496'],
    ['ASN: 64496', 'AS64496'],
    ['AS:64496', 'AS64496'],
    ['64496', 'AS64496'],
    [' 64496 ', 'AS64496'],
    ['[AS64496]', 'AS64496'],
    ['(AS64496)', 'AS64496'],
    ['AS064496', 'AS64496'],
    ['AS1', 'AS1'],
    ['AS4294967295', 'AS4294967295'],
    // RFC 5396: asdot and asdot+
    ['AS1.10', 'AS65546'],
    ['1.10', 'AS65546'],
    ['ASN 1.10', 'AS65546'],
    ['AS0.64496', 'AS64496'],
    ['AS65535.65535', 'AS4294967295'],
    ['AS1[.]10', 'AS65546'],
  ])('%j is %s', (raw, value) => expectValue('ASN', raw, value));

  it.each([
    ['64496.0', 'ambiguous AS number'],
    ['AS64496.0', 'ambiguous AS number'],
    ['1.0', 'ambiguous AS number'],
    ['AS0', 'not an AS number'],
    ['0.0', 'ambiguous AS number'],
    ['AS4294967296', 'not an AS number'],
    ['AS65536.1', 'not an AS number'],
    ['AS1.65536', 'not an AS number'],
    ['AS1.2.3', 'not an AS number'],
    ['AS-64496', 'not an AS number'],
    ['AS64496 EXAMPLE-NET', 'not an AS number'],
    ['AS64496-AS64511', 'not an AS number'],
    ['64,496', 'not an AS number'],
    ['6.4496e4', 'not an AS number'],
    ['AS', 'not an AS number'],
    ['AS-EXAMPLE', 'not an AS number'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('ASN', raw, reason));
});
