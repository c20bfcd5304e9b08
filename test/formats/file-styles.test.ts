import { describe, expect, it } from 'vitest';
import { optionsFor } from '../../src/formats/catalogue.ts';
import type { GivenOptions, TxtStyle } from '../../src/formats/format.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import { txtFormat } from '../../src/formats/txt.ts';
import { exportIndicator, written } from './input.ts';

const names = (...values: string[]) => values.map((value, i) => exportIndicator(i + 1, 'DOMAIN', value));
const ipv4 = (...values: string[]) => values.map((value, i) => exportIndicator(i + 1, 'IPV4', value));

async function listed(
  style: TxtStyle,
  rows: Parameters<typeof written>[1],
  given: GivenOptions = {},
): Promise<{ lines: string[]; skipped: Skipped }> {
  const skipped = new Skipped();
  const options = optionsFor(
    'txt',
    { style, ...given },
    ['qradar', 'postfix', 'clamav'].includes(style) ? [rows[0]?.type ?? 'MD5'] : undefined,
    null,
  );
  if ('error' in options) throw new Error(options.error);
  const text = await written(txtFormat(options), rows, {}, 3, skipped);
  return { lines: text.trimEnd().split('\n'), skipped };
}

describe('nftables', () => {
  it('closes the list of one family before that of the other', async () => {
    const rows = [...ipv4('192.0.2.7', '198.51.100.0/24'), exportIndicator(3, 'IPV6', '2001:db8::/32')];
    const { lines } = await listed('nftables', rows);
    expect(lines.slice(6)).toEqual([
      'add element inet tipline ipv4 {',
      '192.0.2.7,',
      '198.51.100.0/24,',
      '}',
      'add element inet tipline ipv6 {',
      '2001:db8::/32,',
      '}',
    ]);
  });

  it('has no more entries than its limit', async () => {
    const { lines, skipped } = await listed('nftables', ipv4('192.0.2.1', '192.0.2.3', '192.0.2.5'), {
      limit: 2,
    });
    expect(lines.slice(6)).toEqual(['add element inet tipline ipv4 {', '192.0.2.1,', '192.0.2.3,', '}']);
    expect(skipped.counts).toEqual({ limit: 1 });
  });
});

describe('ipset', () => {
  it('divides all addresses, because a set has no prefix length of zero', async () => {
    const { lines } = await listed('ipset', ipv4('0.0.0.0/0'));
    expect(lines.filter((line) => line.startsWith('add'))).toEqual([
      'add tipline4-new 0.0.0.0/1',
      'add tipline4-new 128.0.0.0/1',
    ]);
  });
});

describe.each(['dnsmasq', 'unbound'] as const)('%s', (style) => {
  it('omits public suffixes, because it adds the names below', async () => {
    const { lines, skipped } = await listed(style, names('evil.example', 'github.io'));
    expect(lines.filter((line) => line.includes('github.io'))).toEqual([]);
    expect(lines.at(-1)).toBe('# Left out: public-suffix 1');
    expect(skipped.counts).toEqual({ 'public-suffix': 1 });
  });
});

describe('squid', () => {
  it('has no name below another that has the names below, in whichever order they come', async () => {
    const rows = names(
      'evil.example',
      'a.evil.example',
      'notevil.example',
      'x.github.io',
      'github.io',
      'z.a.evil.example',
    );
    const expected = ['.evil.example', '.notevil.example', '.x.github.io', 'github.io'];
    const reverse = rows.map((row, i) => ({ ...row, number: 100 - i }));
    for (const given of [rows, reverse]) {
      const { lines, skipped } = await listed('squid', given);
      expect(lines.sort()).toEqual(expected);
      expect(skipped.counts).toEqual({});
    }
  });
});

describe('hosts', () => {
  it('has public suffixes, because a line matches one name', async () => {
    expect((await listed('hosts', names('github.io'))).lines).toEqual(['0.0.0.0 github.io']);
  });
});

describe('qradar', () => {
  it('has single addresses only', async () => {
    const { lines, skipped } = await listed('qradar', ipv4('192.0.2.7', '198.51.100.0/24'));
    expect([lines, skipped.counts]).toEqual([['192.0.2.7'], { network: 1 }]);
  });

  it('omits values that would be several cells', async () => {
    const { lines, skipped } = await listed('qradar', [exportIndicator(1, 'URL', 'http://evil.example/a,b')]);
    expect([lines, skipped.counts]).toEqual([[''], { characters: 1 }]);
  });
});

describe('postfix', () => {
  it('rejects addresses and networks, whitelisted parts left out', async () => {
    const part = exportIndicator(1, 'IPV4', '198.51.100.0/30', { whitelistedParts: ['198.51.100.2'] });
    const { lines } = await listed('postfix', [part, exportIndicator(2, 'IPV6', '2001:db8::/32')]);
    expect(lines.slice(0, 3)).toEqual([
      '198.51.100.0/31 REJECT',
      '198.51.100.3 REJECT',
      '2001:db8::/32 REJECT',
    ]);
  });

  it('omits public suffixes, because a domain includes the names below', async () => {
    const { lines, skipped } = await listed('postfix', names('evil.example', 'github.io'));
    expect(lines[0]).toBe('evil.example REJECT');
    expect(skipped.counts).toEqual({ 'public-suffix': 1 });
  });

  it('has senders in lower case, and omits those that a table cannot have', async () => {
    const senders = ['Phisher@evil.example', 'a#b@evil.example'];
    const rows = senders.map((value, i) => exportIndicator(i + 1, 'EMAIL', value));
    const { lines, skipped } = await listed('postfix', rows);
    expect(lines[0]).toBe('phisher@evil.example REJECT');
    expect(skipped.counts).toEqual({ characters: 1 });
  });
});

describe('clamav', () => {
  const MD5 = 'd41d8cd98f00b204e9800998ecf8427a';

  it('has a signature for files of any size, with the id of the indicator, and no certificates', async () => {
    const row = exportIndicator(1, 'MD5', MD5);
    const certificate = exportIndicator(2, 'MD5', MD5.replace('d4', 'e5'), { ofCertificate: true });
    const { lines, skipped } = await listed('clamav', [row, certificate]);
    expect(lines.slice(0, 2)).toEqual(['# Hash signatures of Tipline', `${MD5}:*:Tipline.${row.id}:73`]);
    expect(skipped.counts).toEqual({ certificate: 1 });
  });

  it('is never without a line, which ClamAV rejects', async () => {
    expect((await listed('clamav', [])).lines).toEqual(['# Hash signatures of Tipline']);
  });
});
