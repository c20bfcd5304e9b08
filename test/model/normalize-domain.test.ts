import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

const LABEL_OF_63 = 'a'.repeat(63);

describe('DOMAIN', () => {
  it.each([
    ['Evil.Example', 'evil.example'],
    ['asu12.store.', 'asu12.store'],
    ['newidealupvc.com:443', 'newidealupvc.com'],
    ['cdnappservice.web.app ', 'cdnappservice.web.app'],
    ['www[.]evil[.]com', 'www.evil.com'],
    ['evil[dot]com', 'evil.com'],
    ['evil(.)com', 'evil.com'],
    ['ev\u00adil.com', 'evil.com'],
    ['“evil.com”', 'evil.com'],
    ['_dmarc.evil.com', '_dmarc.evil.com'],
    ['public-faq-start-helps_-trezr.typedream.app', 'public-faq-start-helps_-trezr.typedream.app'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['МОСКВА.РФ', 'xn--80adxhks.xn--p1ai'],
    ['evil。com', 'evil.com'],
    ['\u05d0\u05d1\u05d2.com', 'xn--4dbcd.com'],
    ['\u05d01.com', 'xn--1-zhc.com'],
    ['xn--80ak6aa92e.com', 'xn--80ak6aa92e.com'],
    ['1.2.3.4.com', '1.2.3.4.com'],
    ['abc.b32.i2p', 'abc.b32.i2p'],
    [`${LABEL_OF_63}.com`, `${LABEL_OF_63}.com`],
  ])('%j is %s', (raw, value) => expectValue('DOMAIN', raw, value));

  it.each([
    ['http://evil.com/', 'a URL, not a domain'],
    ['hxxp://evil[.]com', 'a URL, not a domain'],
    ['fgr1w2gnsdvsb.xyz/x', 'a URL, not a domain'],
    ['1.2.3.4', 'an IP address, not a domain'],
    ['１.２.３.４', 'an IP address, not a domain'],
    ['1.2.3.4:80', 'an IP address, not a domain'],
    ['*.evil.com', 'a wildcard, not a domain'],
    ['localhost', 'a single label, not a domain'],
    ['evil.123', 'not a valid top-level domain'],
    ['C91.196.152.28', 'not a valid top-level domain'],
    ['1.0x10', 'not a valid top-level domain'],
    ['setup.ex_', 'not a valid top-level domain'],
    ['a..com', 'not a valid domain'],
    ['.evil.com', 'not a valid domain'],
    ['-evil.com', 'not a valid domain'],
    ['domain autuo.xicp.net', 'not a valid domain'],
    ['a@evil.com', 'not a valid domain'],
    ['evil%2ecom', 'not a valid domain'],
    ['münchen?.de', 'not a valid domain'],
    ['xn--a.com', 'not a valid domain'],
    ['xn--ab-.com', 'not a valid domain'],
    ['www.XN--A.com', 'not a valid domain'],
    ['xn--xn--a-.com', 'not a valid domain'],
    // RFC 5893 §2: a label with right-to-left text begins with a letter and does not mix directions.
    ['\u0660.com', 'not a valid domain'],
    ['a\u05d0.com', 'not a valid domain'],
    ['\u05d0a.com', 'not a valid domain'],
    ['xn--a-zhc.com', 'not a valid domain'],
    // Digits may follow, but not European and Arabic-Indic ones together.
    ['\u05d01\u0660.com', 'not a valid domain'],
    [`${LABEL_OF_63}a.com`, 'domain label longer than 63 characters'],
    [`${`${LABEL_OF_63}.`.repeat(4)}com`, 'domain longer than 253 characters'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('DOMAIN', raw, reason));
});
