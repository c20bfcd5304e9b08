import { describe, expect, it } from 'vitest';
import { suricataFormat } from '../../src/formats/suricata.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, written } from './input.ts';

const rulesFor = async (type: IndicatorType, value: string) =>
  await written(suricataFormat(), [exportIndicator(1, type, value)]);

describe('suricata', () => {
  it('matches the golden file', async () => {
    await expectGolden(await written(suricataFormat(), GOLDEN), 'indicators.suricata.rules');
  });

  it('matches a domain and its subdomains in DNS, TLS and HTTP', async () => {
    const text = await rulesFor('DOMAIN', 'evil.example');
    expect(text).toContain('dns.query; dotprefix; content:".evil.example"; nocase; endswith;');
    expect(text).toContain('tls.sni; dotprefix; content:".evil.example"; nocase; endswith;');
    expect(text).toContain('http.host; to_lowercase; dotprefix; content:".evil.example"; pcre:"/^\\.?$/R";');
  });

  it('matches only the public suffix itself in DNS, TLS and HTTP', async () => {
    const text = await rulesFor('DOMAIN', 'co.uk');
    expect(text).toContain('dns.query; content:"co.uk"; nocase; startswith; endswith;');
    expect(text).toContain('tls.sni; content:"co.uk"; nocase; startswith; endswith;');
    expect(text).toContain('http.host; to_lowercase; content:"co.uk"; startswith; pcre:"/^\\.?$/R";');
  });

  it('matches the host and the complete raw target of a URL', async () => {
    const text = await rulesFor('URL', 'http://evil.example/a%7Eb?c');
    expect(text).toContain('http.host; to_lowercase; content:"evil.example"; startswith; pcre:"/^\\.?$/R"; ');
    expect(text).toContain('http.uri.raw; content:"/a%7Eb?c"; bsize:8; ');
  });

  it('matches a target unaffected by normalization also in proxy requests', async () => {
    expect(await rulesFor('URL', 'http://evil.example/gate.php?id=1')).toContain(
      'http.uri.raw; content:"/gate.php?id=1"; endswith; http.uri; bsize:14; ',
    );
  });

  it('matches a host with and without a dot at its end', async () => {
    const rules = ['http://evil.example/a', 'http://evil.example./a'].map((url) => rulesFor('URL', url));
    const [relative, rooted] = await Promise.all(rules);
    expect(rooted?.replaceAll('evil.example./a', 'evil.example/a')).toBe(relative);
  });

  it('matches a non-default port', async () => {
    expect(await rulesFor('URL', 'http://[2001:db8::5]:8080/six')).toContain(
      'content:"[2001|3A|db8|3A 3A|5]"; startswith; pcre:"/^\\.?$/R"; http.host.raw; content:"|3A|8080"; endswith; ',
    );
  });

  it('matches HTTPS URLs in decrypted HTTP, and not by SNI', async () => {
    const text = await rulesFor('URL', 'https://shared.example/evil');
    expect(text).toContain('alert http $HOME_NET any -> any any ');
    expect(text).not.toContain('tls.sni');
  });

  it('matches both ends and the length of a value too long for a line', async () => {
    const text = await rulesFor('URL', `http://long.example/${'a'.repeat(8000)}`);
    expect(text).toMatch(
      /http\.uri\.raw; content:"\/a{499}"; startswith; content:"a{500}"; endswith; bsize:8001;/,
    );
  });

  it('matches a complete user agent, ignoring case', async () => {
    expect(await rulesFor('USER_AGENT', 'Übel/1.0')).toContain(
      'http.user_agent; content:"|C3 9C|bel/1.0"; nocase; bsize:9; ',
    );
  });

  it('matches IPv6 addresses independently of HOME_NET', async () => {
    expect(await rulesFor('IPV6', '2001:db8::5')).toContain('alert ip any any <> [2001:db8::5] any ');
  });
});
