import { describe, expect, it } from 'vitest';
import { readValue } from '../../src/lookup/candidates.ts';
import { extractValues } from '../../src/lookup/extract.ts';

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';

async function found(text: string): Promise<string[]> {
  return (await extractValues(text)).map((value) => {
    const read = readValue(value);
    return 'unreadable' in read ? read.unreadable : `${read.type} ${read.value}`;
  });
}

describe('the observables in a text', () => {
  it.each([
    ['The host evil.com, and 203.0.113.7.', ['DOMAIN evil.com', 'IPV4 203.0.113.7']],
    [
      '(evil[.]com) "203(.)0(.)113(.)7" <evil{.}net>',
      ['DOMAIN evil.com', 'IPV4 203.0.113.7', 'DOMAIN evil.net'],
    ],
    ['see hxxps[:]//evil[.]com/a.php?x=1; then', ['URL https://evil.com/a.php?x=1']],
    [
      '[a link](hxxp://evil[.]com/a_(b).html), **evil.net**',
      ['URL http://evil.com/a_(b).html', 'DOMAIN evil.net'],
    ],
    ['<a href="http://evil.com/x">evil.org</a>', ['URL http://evil.com/x', 'DOMAIN evil.org']],
    [
      'domain:evil.com,ip=203.0.113.7;203.0.113.8:8443',
      ['DOMAIN evil.com', 'IPV4 203.0.113.7', 'IPV4 203.0.113.8'],
    ],
    ['http://a.com/x,http://b.com/y', ['URL http://a.com/x', 'URL http://b.com/y']],
    [`MD5: ${MD5.toUpperCase()}\nCVE-2021-44228 (Log4Shell)`, [`MD5 ${MD5}`, 'CVE CVE-2021-44228']],
    ['from user[at]evil[.]com at 2001:db8[:]:7', ['EMAIL user@evil.com', 'IPV6 2001:db8::7']],
    ['evil.com EVIL[.]COM evil.com.', ['DOMAIN evil.com']],
    ['It ran setup.exe, e.g. v1.2.3 and/or node.js. On 2026-01-31 at 12:00:00 nothing.', []],
    [
      '1764000000.01 826 10.3.12.54 TCP_MISS/200 46146 GET http://evil.com/a - HIER_DIRECT/203.0.113.7 text/html',
      ['IPV4 10.3.12.54', 'URL http://evil.com/a', 'IPV4 203.0.113.7'],
    ],
    [
      '203.0.113.0/24 203.0.113.7:80, 2001::1 12:34:56 1,234.5',
      ['IPV4 203.0.113.0/24', 'IPV4 203.0.113.7', 'IPV6 2001::1'],
    ],
    [`${'1'.repeat(32)} ${'1'.repeat(31)}`, [`MD5 ${'1'.repeat(32)}`]],
    ['2001:db8::1,2001:db8::2', ['IPV6 2001:db8::1', 'IPV6 2001:db8::2']],
    ['src=2001:db8::1;dst=10.0.0.1', ['IPV6 2001:db8::1', 'IPV4 10.0.0.1']],
    ['[2001:db8::1]:443 addr=2001:db8::2', ['IPV6 2001:db8::1', 'IPV6 2001:db8::2']],
    [
      '10.0.0.0/8,10.1.0.0/16,2001:db8:1::/48',
      ['IPV4 10.0.0.0/8', 'IPV4 10.1.0.0/16', 'IPV6 2001:db8:1::/48'],
    ],
    ['10.1.2.3/16;2001:db8::1/64', ['IPV4 10.1.2.3', 'IPV6 2001:db8::1']],
    ['src=2001:db8::1;url:http://evil.com/a', ['IPV6 2001:db8::1', 'URL http://evil.com/a']],
    ['\0\0\0evil.com\x00203.0.113.7\0', ['DOMAIN evil.com', 'IPV4 203.0.113.7']],
    ['', []],
  ])('of %j', async (text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  it('are all found in a long text', async () => {
    const names = Array.from({ length: 12_000 }, (_, n) => `host${n}.evil.com`);
    expect(await found(names.map((name) => `then ${name.replaceAll('.', '[.]')},`).join(' '))).toEqual(
      names.map((name) => `DOMAIN ${name}`),
    );
  });

  it('let other requests have their turn, also within a word', async () => {
    const names = Array.from({ length: 20_000 }, (_, n) => `host${n}.evil.com`);
    let turns = 0;
    const timer = setInterval(() => turns++);
    expect(await extractValues(names.join(','))).toEqual(names);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
  });

  it('are read up to a number of them', async () => {
    const names = Array.from({ length: 100 }, (_, n) => `host${n}.evil.com`);
    expect((await extractValues(names.join(','), 10)).length).toBe(11);
  });
});
