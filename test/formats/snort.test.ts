import { describe, expect, it } from 'vitest';
import { snortFormat } from '../../src/formats/snort.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const rulesFor = async (type: IndicatorType, value: string) =>
  await written(snortFormat(), [exportIndicator(1, type, value)]);

/** What Suricata alone understands. */
const SURICATA_ONLY = /(?:dns|tls|http|file)\.[a-z]|; (?:nocase|endswith|startswith|bsize|dotprefix)[;:]/;

describe('snort', () => {
  it('has three rules for addresses: on a SYN, on data, and on other protocols, all once a flow', async () => {
    const rows = [exportIndicator(1, 'IPV4', '198.51.100.7')];
    const rules = (await written(snortFormat(), rows)).split('\n').filter((line) => line.startsWith('alert'));
    expect(
      rules.map((rule) => /^alert (\w+)|(?:flags|dsize|ip_proto):[^;]+|sid:\d+/g[Symbol.match](rule)),
    ).toEqual([
      ['alert tcp', 'flags:+S', 'sid:4000000000'],
      ['alert tcp', 'dsize:>0', 'sid:4000000001'],
      ['alert ip', 'ip_proto:!6', 'sid:4000000002'],
    ]);
    const once = 'flowbits:isnotset,tipline.address; flowbits:set,tipline.address;';
    expect(rules.filter((rule) => rule.includes(once))).toHaveLength(3);
  });

  it('matches the golden file', async () => {
    await expectGolden(await written(snortFormat(), GOLDEN), 'indicators.snort.rules');
  });

  it('contains no Suricata-only keywords', async () => {
    const text = await written(snortFormat(), [...GOLDEN, ...HOSTILE]);
    expect(text.replace(/msg:"[^"]*"|content:"[^"]*"/g, '')).not.toMatch(SURICATA_ONLY);
  });

  it('matches the labels of a domain up to the root', async () => {
    expect(await rulesFor('DOMAIN', 'evil.example')).toContain(
      'content:"|04|evil|07|example|00|",nocase,offset 12; ',
    );
  });

  it('matches a server name equal to the domain or below it', async () => {
    expect(await rulesFor('DOMAIN', 'evil.example')).toContain(
      'content:"|00 00|"; byte_jump:2,5,relative,post_offset -14; ' +
        'pcre:"/\\G(?:\\x00\\x0C|[^\\x00]\\.)evil\\.example/Rsi"; ',
    );
  });

  it('matches only the public suffix itself in DNS, TLS and HTTP', async () => {
    const text = await rulesFor('DOMAIN', 'co.uk');
    expect(text).toContain(
      'content:"|02|co|02|uk|00|",nocase,offset 12,depth 9; ' +
        'pcre:"/^.{4}(?:..)?\\x00\\x01.{6}\\x02co\\x02uk\\x00/si"; ',
    );
    expect(text).toContain('pcre:"/\\G\\x00\\x05co\\.uk/Rsi"; ');
    expect(text).toContain('pcre:"/^co\\.uk\\.?(?:\\x3a\\d*)?\\z/i"; ');
  });

  it('matches the host and the complete raw target of a URL', async () => {
    const text = await rulesFor('URL', 'http://evil.example:8080/a%7Eb?c');
    expect(text).toContain(
      'http_header:field host; content:"evil.example",nocase; pcre:"/^evil\\.example\\.?\\x3a8080\\z/i"; ',
    );
    expect(text).toContain('http_raw_uri; content:"/a%7Eb?c"; bufferlen:8; ');
  });

  it('matches a target unaffected by normalization also in proxy requests', async () => {
    expect(await rulesFor('URL', 'http://evil.example/gate.php?id=1')).toContain(
      'http_raw_uri; content:"/gate.php?id=1"; isdataat:!1,relative; http_uri; bufferlen:14; ',
    );
  });

  it('matches both ends and the length of a value too long for a line', async () => {
    expect(await rulesFor('URL', `http://long.example/${'a'.repeat(8000)}`)).toMatch(
      /http_raw_uri; content:"\/a{499}",depth 500; content:"a{500}",offset 7501; bufferlen:8001;/,
    );
  });

  it('alerts on an address once per flow', async () => {
    expect(await rulesFor('IPV4', '198.51.100.7')).toContain(
      'flowbits:isnotset,tipline.address; flowbits:set,tipline.address; ',
    );
  });
});
