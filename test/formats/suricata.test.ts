import { describe, expect, it } from 'vitest';
import { suricataFormat } from '../../src/formats/suricata.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, written } from './input.ts';

const rulesFor = async (type: IndicatorType, value: string) =>
  await written(suricataFormat(), [exportIndicator(1, type, value)]);

describe('suricata', () => {
  it('is this, whole', async () => {
    await expectGolden(await written(suricataFormat(), GOLDEN), 'indicators.suricata.rules');
  });

  it('asks for a domain and its subdomains, wherever names are seen', async () => {
    const text = await rulesFor('DOMAIN', 'evil.example');
    expect(text).toContain('dns.query; dotprefix; content:".evil.example"; nocase; endswith;');
    expect(text).toContain('tls.sni; dotprefix; content:".evil.example"; nocase; endswith;');
    expect(text).toContain('http.host; to_lowercase; dotprefix; content:".evil.example"; endswith;');
  });

  it('asks for a public suffix alone, wherever names are seen', async () => {
    const text = await rulesFor('DOMAIN', 'co.uk');
    expect(text).toContain('dns.query; content:"co.uk"; nocase; bsize:5;');
    expect(text).toContain('tls.sni; content:"co.uk"; nocase; bsize:5;');
    expect(text).toContain('http.host; to_lowercase; content:"co.uk"; bsize:5;');
  });

  it('asks for the host and the whole raw target of a URL', async () => {
    const text = await rulesFor('URL', 'http://evil.example/a%7Eb?c');
    expect(text).toContain('http.host; to_lowercase; content:"evil.example"; bsize:12; ');
    expect(text).toContain('http.uri.raw; content:"/a%7Eb?c"; bsize:8; ');
  });

  it('finds a target that normalizing leaves alone in a request to a proxy too', async () => {
    expect(await rulesFor('URL', 'http://evil.example/gate.php?id=1')).toContain(
      'http.uri.raw; content:"/gate.php?id=1"; endswith; http.uri; bsize:14; ',
    );
  });

  it('asks for a port that is not the default', async () => {
    expect(await rulesFor('URL', 'http://[2001:db8::5]:8080/six')).toContain(
      'http.host.raw; content:"[2001|3A|db8|3A 3A|5]|3A|8080"; nocase; bsize:18; ',
    );
  });

  it('looks for https in HTTP of either version, where it is decrypted, and not in the SNI', async () => {
    const text = await rulesFor('URL', 'https://shared.example/evil');
    expect(text).toContain('alert http $HOME_NET any -> any any ');
    expect(text).not.toContain('tls.sni');
  });

  it('compares the ends and the length of what is too long for a line', async () => {
    const text = await rulesFor('URL', `http://long.example/${'a'.repeat(8000)}`);
    expect(text).toMatch(
      /http\.uri\.raw; content:"\/a{499}"; startswith; content:"a{500}"; endswith; bsize:8001;/,
    );
  });

  it('compares a user agent whole, in any letter case', async () => {
    expect(await rulesFor('USER_AGENT', 'Übel/1.0')).toContain(
      'http.user_agent; content:"|C3 9C|bel/1.0"; nocase; bsize:9; ',
    );
  });

  it('sees IPv6 addresses with home networks that are only IPv4', async () => {
    expect(await rulesFor('IPV6', '2001:db8::5')).toContain('alert ip any any <> [2001:db8::5] any ');
  });
});
