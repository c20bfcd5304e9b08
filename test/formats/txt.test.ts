import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressCollapser } from '../../src/formats/collapse-addresses.ts';
import { TXT_STYLES, type TxtStyle } from '../../src/formats/format.ts';
import { txtFormat } from '../../src/formats/txt.ts';
import { normalize } from '../../src/model/normalize.ts';
import { runs } from '../properties/runs.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const urls = (...values: string[]) => values.map((value, i) => exportIndicator(i + 1, 'URL', value));

async function linesOf(style: TxtStyle, rows: Parameters<typeof written>[1]): Promise<string[]> {
  const text = await written(txtFormat({ style }), rows);
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

describe.each(TXT_STYLES)('txt, %s', (style) => {
  it('is this, whole', async () => {
    await expectGolden(await written(txtFormat({ style }), GOLDEN), `indicators.${style}.txt`);
  });

  it('is nothing when nothing matches', async () => {
    expect(await written(txtFormat({ style }), [])).toBe('');
  });

  it('has no empty, repeated or broken line, and no comment but at the end', async () => {
    const lines = await linesOf(style, [...GOLDEN, ...HOSTILE]);
    expect(lines.filter((line) => line.trim() === '' || /[\p{Cc}\u2028\u2029]/u.test(line))).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.slice(0, -1).filter((line) => line.startsWith('#'))).toEqual([]);
  });

  it('leaves out what is context only', async () => {
    const row = exportIndicator(1, 'DOMAIN', 'evil.example', { forDetection: false });
    expect(await linesOf(style, [row])).toEqual([]);
  });

  it('joins neighbouring addresses', async () => {
    const rows = [4, 5, 6, 7, 9].map((part) => exportIndicator(part, 'IPV4', `192.0.2.${part}`));
    expect(await linesOf(style, rows)).toEqual(['192.0.2.4/30', '192.0.2.9']);
  });
});

describe('txt', () => {
  it.each(['co.uk', 'github.io'])('has the public suffix %s alone', async (name) => {
    const rows = [exportIndicator(1, 'DOMAIN', name)];
    for (const style of ['paloalto', 'fortinet'] as const) expect(await linesOf(style, rows)).toEqual([name]);
  });

  it('pairs names with a wildcard where the firewall takes one', async () => {
    const rows = [exportIndicator(1, 'DOMAIN', 'evil.example')];
    expect(await linesOf('paloalto', rows)).toEqual(['evil.example', '*.evil.example']);
    expect(await linesOf('fortinet', rows)).toEqual(['evil.example', '*.evil.example']);
    expect(await linesOf('checkpoint', rows)).toEqual(['evil.example']);
  });

  it.each([
    ['plain', 'https://u:p@evil.example:8443/A?b', ['https://u:p@evil.example:8443/A?b']],
    ['paloalto', 'https://u:p@evil.example:8443/A?b', ['evil.example/a?b']],
    ['fortinet', 'https://u:p@evil.example:8443/A?b', ['evil.example:8443/A?b']],
    ['checkpoint', 'https://u:p@evil.example:8443/A?b', ['evil.example:8443/A?b']],
    ['checkpoint', 'http://evil.example/a,b', ['"evil.example/a,b"']],
    // Without its port it would be the whole site.
    ['paloalto', 'http://evil.example:8080/', []],
    ['paloalto', 'http://evil.example/', ['evil.example/']],
    // Wildcards.
    ['paloalto', 'http://evil.example/*', []],
    ['fortinet', 'http://evil.example/*', []],
    // No web filter sees it.
    ['paloalto', 'ftp://evil.example/x', []],
    ['fortinet', 'ftp://evil.example/x', []],
    ['paloalto', `http://evil.example/${'a'.repeat(242)}`, [`evil.example/${'a'.repeat(242)}`]],
    ['paloalto', `http://evil.example/${'a'.repeat(243)}`, []],
    ['fortinet', `http://evil.example/${'a'.repeat(4000)}`, []],
  ] as const)('%s has %s as %j', async (style, url, lines) => {
    expect(await linesOf(style, urls(url))).toEqual(lines);
  });

  it('writes URLs that come out alike once', async () => {
    const rows = urls('http://evil.example/A', 'https://evil.example/A', 'https://evil.example/a');
    expect(await linesOf('paloalto', rows)).toEqual(['evil.example/a']);
    expect((await linesOf('fortinet', rows)).sort()).toEqual(['evil.example/A', 'evil.example/a']);
    expect(await linesOf('plain', rows)).toHaveLength(3);
  });

  it('counts what is left out where comments are known', async () => {
    const rows = urls('ftp://evil.example/x', 'http://evil.example/');
    expect(await linesOf('checkpoint', rows)).toEqual([
      'evil.example/',
      '# left out: 1 values that such a list cannot hold',
    ]);
  });
});

describe('collapsed addresses', () => {
  const collapsed = (addresses: string[]) => {
    const collapser = addressCollapser();
    return [...addresses.flatMap((address) => collapser.add(address)), ...collapser.end()];
  };
  const ipv4 = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
  const ipv6 = (number: number) => `2001:db8::${number.toString(16)}`;

  /** The numbers behind a network's last group or, for IPv4, its whole. */
  function members(network: string): number[] {
    const [address = '', prefix] = network.split('/');
    const isIpv6 = address.includes(':');
    const first = isIpv6
      ? Number.parseInt(address.slice('2001:db8::'.length) || '0', 16)
      : address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    const size = prefix === undefined ? 1 : 2 ** ((isIpv6 ? 128 : 32) - Number(prefix));
    expect(first % size).toBe(0);
    return Array.from({ length: size }, (_, i) => first + i);
  }

  const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 300 }), { maxLength: 300 });

  it.each([
    ['IPv4', ipv4],
    ['IPv6', ipv6],
  ])('hold exactly the %s addresses that were given, in as few networks as possible', (_, shown) => {
    fc.assert(
      fc.property(numbers, (given) => {
        const sorted = given.sort((a, b) => a - b);
        const networks = collapsed(sorted.map((number) => normalized(shown(number))));
        expect(networks.flatMap(members)).toEqual(sorted);
        const sizes = networks.map((network) => members(network).length);
        const mergeable = networks.filter((network, i) => {
          const [first = 0] = members(network);
          const size = sizes[i] ?? 0;
          const next = networks[i + 1];
          return (
            sizes[i + 1] === size &&
            first % (2 * size) === 0 &&
            next !== undefined &&
            members(next)[0] === first + size
          );
        });
        expect(mergeable).toEqual([]);
      }),
      runs(50),
    );
  });

  const normalized = (address: string) => {
    const result = normalize(address.includes(':') ? 'IPV6' : 'IPV4', address);
    return 'value' in result ? result.value : address;
  };

  it('do not run from IPv4 into IPv6 nor beyond the last address', () => {
    expect(collapsed(['255.255.255.254', '255.255.255.255', '::1'])).toEqual(['255.255.255.254/31', '::1']);
    expect(collapsed(['0.0.0.0', '::', '::1'])).toEqual(['0.0.0.0', '::/127']);
  });
});
