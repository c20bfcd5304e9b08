import { describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import { expectRejected, expectValue } from './cases.ts';

it('URL: a Latin-1 host name is still parsed after many plain ones', () => {
  const plain = Buffer.from('http://evil.example/a', 'latin1').toString('latin1');
  for (let i = 0; i < 30_000; i++) normalize('URL', plain);
  const international = Buffer.from('http://bücher.example/', 'latin1').toString('latin1');
  const rejected = Array.from({ length: 100 }, () => normalize('URL', international)).filter(
    (r) => 'rejected' in r,
  );
  expect(rejected).toEqual([]);
});

describe('URL notations', () => {
  it.each([
    'hxxp://evil[.]example/a',
    'hXXp://evil[.]example/a',
    'HXXP://EVIL[.]EXAMPLE/a',
    'hxtp://evil.example/a',
    'h**p://evil.example/a',
    'h__p://evil.example/a',
    'hxp://evil.example/a',
    'hxxxp://evil.example/a',
    'hxxp[:]//evil.example/a',
    'hxxp(:)//evil.example/a',
    'hxxp{:}//evil.example/a',
    'hxxp[://]evil.example/a',
    'hxxp(://)evil.example/a',
    'hxxp[://evil.example/a',
    'hxxp[:/]/evil.example/a',
    'hxxp[:][/][/]evil.example/a',
    'hxxp:[//]evil.example/a',
    'hxxp[:]\\\\evil.example\\a',
    'hxxp ://evil.example/a',
    'hxxp:// evil.example/a',
    'hxxp [:] // evil [.] example/a',
    'http：//evil.example/a',
    'hxxp\\[:\\]//evil\\[.\\]example/a',
    'http:\\/\\/evil.example\\/a',
    'http://evil.example\\/a',
    'http://evil\\.example/a',
    'http://evil[.example/a',
    'http://evil.]example/a',
    'http://evil dot example/a',
    'http://evil(dot)example/a',
    'http://evil[.]example[:]80/a',
    'http://evil[.]example[/]a',
    'evil[.]example/a',
    'evil\\.example/a',
    'evil.example:80/a',
    'http:/evil.example/a',
    'http:///evil.example/a',
    'http://http://evil.example/a',
    'https://hxxp://evil[.]example/a',
    'http://evil.example:/a',
    'http://evil.example:00080/a',
    'http://@evil.example/a',
    'http://:@evil.example/a',
    'http://ｅｖｉｌ。example/a',
    'http://ev%69l%2eexample/a',
    'http://evil.example/./b/../a#top',
    'http://evil.example/a#a#b',
    '‘hxxp://evil[.]example/a’',
    'http://e\u200bvil.example/\u00ada',
  ])('%j is http://evil.example/a', (raw) => expectValue('URL', raw, 'http://evil.example/a'));

  it.each([
    // The standard leaves the case of escapes, the case of paths and a host's last dot alone.
    ['http://evil.example/%2f%2F', 'http://evil.example/%2f%2F'],
    ['http://evil.example./A', 'http://evil.example./A'],
    ['http://evil.example/a[.b', 'http://evil.example/a[.b'],
    ['http://evil.example?a=\\.b', 'http://evil.example/?a=\\.b'],
    ['https://https://t.me/evil', 'https://t.me/evil'],
    ['http://evil.example/http://a.example/', 'http://evil.example/http://a.example/'],
    ['http://user:p%40ss@evil.example:8080/', 'http://user:p%40ss@evil.example:8080/'],
    ['http://good.example@evil.example/', 'http://good.example@evil.example/'],
    ['http://evil.example\\@good.example/', 'http://evil.example/@good.example/'],
    ['http://[2001[:]db8[::]7]:8080/', 'http://[2001:db8::7]:8080/'],
    ['http://[::ffff:192.0.2.7]/', 'http://[::ffff:c000:207]/'],
    ['http://3221225991/', 'http://192.0.2.7/'],
    ['hxxp://192[.]0[.]2[.]7:8080/bin.sh', 'http://192.0.2.7:8080/bin.sh'],
    ['http://bücher.example/ü?ü', 'http://xn--bcher-kva.example/%C3%BC?%C3%BC'],
    ['http://نامه\u200cای.example/', 'http://xn--mgba3gch31f060k.example/'],
    ['http://нов\u200cый.example/', 'http://xn--b1aoke0e.example/'],
    ['fxps://evil[.]example/', 'ftps://evil.example/'],
    ['f*p://evil.example/', 'ftp://evil.example/'],
    ['wss[:]//evil[.]example', 'wss://evil.example/'],
  ])('%j is %s', (raw, value) => expectValue('URL', raw, value));

  it.each([
    ['http://a.example/ hxxp://b.example/', 'more than one URL'],
    ['hxxp[:]//a.example/ hxxps[:]//b.example/', 'more than one URL'],
    ['hxxp[s]://evil.example/', 'not a valid URL'],
    ['http://evil .example/', 'not a valid URL'],
    ['http://[fe80::1%25eth0]/', 'not a valid URL'],
    ['http://192.0.2.256/', 'not a valid URL'],
    ['http://evil.example:65536/', 'not a valid URL'],
    ['[evil](http://evil.example/)', 'not a valid URL'],
    ['https;//evil.example/', 'not a valid URL'],
    ['http://evil.example/a\tb', 'control characters'],
    ['http://evil.example/a\r\nb', 'control characters'],
    ['meow://evil.example/', 'unsupported URL scheme'],
    ['ldap://evil.example/x', 'unsupported URL scheme'],
    ['evil.example:/x', 'unsupported URL scheme'],
    ['192.0.2.0/24', 'a network, not a URL'],
    ['192.0.2.0/255.255.255.0', 'a network, not a URL'],
    ['hxxp://*.evil[.]example/', 'a wildcard, not a URL'],
    [`http://${'ü'.repeat(2000)}.example/`, 'not a valid host'],
    ['evil\\.example', 'a URL without scheme and path'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('URL', raw, reason));
});
