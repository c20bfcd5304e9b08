import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionsFor } from '../../src/formats/catalogue.ts';
import { addressCollapser } from '../../src/formats/collapse-addresses.ts';
import { type GivenOptions, type ListOptions, TXT_STYLES, type TxtStyle } from '../../src/formats/format.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import { txtFormat } from '../../src/formats/txt.ts';
import { LIST_STYLES } from '../../src/formats/txt-styles.ts';
import { normalize } from '../../src/model/normalize.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';

const urls = (...values: string[]) => values.map((value, i) => exportIndicator(i + 1, 'URL', value));

type Rows = Parameters<typeof written>[1];

/** As the style has it by default. */
function optionsOf(style: TxtStyle, given: GivenOptions = {}, kind?: readonly IndicatorType[]): ListOptions {
  const options = optionsFor('txt', { style, ...given }, kind ?? LIST_STYLES[style].kinds?.[0], null);
  if ('error' in options) throw new Error(options.error);
  return options.list;
}

/** A list, or, where the style holds one kind of value, one of each kind, one behind the other. */
async function listsOf(style: TxtStyle, rows: Rows, given?: GivenOptions): Promise<string> {
  const { kinds } = LIST_STYLES[style];
  if (!kinds) return written(txtFormat({ list: optionsOf(style, given) }), rows);
  const texts = kinds.map((kind) => {
    const own = rows.filter(({ type }) => kind.includes(type));
    return own.length === 0 ? '' : written(txtFormat({ list: optionsOf(style, given, kind) }), own);
  });
  return (await Promise.all(texts)).join('');
}

async function linesOf(style: TxtStyle, rows: Rows, given?: GivenOptions): Promise<string[]> {
  const text = await listsOf(style, rows, given);
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

/** The first and last lines of a list. */
function emptyOf(style: TxtStyle, kind?: readonly IndicatorType[]): string {
  const { header, footer } = LIST_STYLES[style];
  const lines = [...(header ? [header(kind?.[0] ?? null)] : []), ...(footer?.(null) ?? [])];
  return lines.map((line) => `${line}\n`).join('');
}

/** Whether a style has a list of some types. */
const lists = (style: TxtStyle, ...types: IndicatorType[]) =>
  types.every((type) => LIST_STYLES[style].types.includes(type));

/** The lines of values. */
async function entriesOf(style: TxtStyle, rows: Rows, given?: GivenOptions): Promise<string[]> {
  const empty = emptyOf(
    style,
    LIST_STYLES[style].kinds?.find((kind) => kind.includes(rows[0]?.type ?? 'IPV4')),
  );
  const others = new Set([...empty.split('\n'), ...nftFrame]);
  return (await linesOf(style, rows, given)).filter((line) => !others.has(line));
}
const nftFrame = ['add element inet tipline ipv4 {', 'add element inet tipline ipv6 {', '}'];

describe.each(TXT_STYLES)('txt, %s', (style) => {
  it('matches the golden file', async () => {
    await expectGolden(await listsOf(style, GOLDEN), `indicators.${style}.txt`);
  });

  it('is empty without matches, except for first and last lines', async () => {
    expect(await written(txtFormat({ list: optionsOf(style) }), [])).toBe(
      emptyOf(style, LIST_STYLES[style].kinds?.[0]),
    );
  });

  it('has no empty, duplicate or broken lines, and comments only at the beginning and end', async () => {
    const lines = await linesOf(style, [...GOLDEN, ...HOSTILE]);
    expect(lines.filter((line) => line.trim() === '' || /[\p{Cc}\u2028\u2029]/u.test(line))).toEqual([]);
    const frame = [...nftFrame, ...emptyOf(style, LIST_STYLES[style].kinds?.[0]).split('\n')];
    const entries = lines.filter((line) => !frame.includes(line));
    expect(new Set(entries).size).toBe(entries.length);
    // Wazuh has no comments: what begins with # is a key like any other.
    const comments = style === 'wazuh' ? [] : entries.filter((line) => line.startsWith('#'));
    expect(comments.filter((line) => !line.startsWith('# Left out: '))).toEqual([]);
  });

  it('omits context-only indicators', async () => {
    const row = lists(style, 'DOMAIN')
      ? exportIndicator(1, 'DOMAIN', 'evil.example', { forDetection: false })
      : exportIndicator(1, 'IPV4', '192.0.2.7', { forDetection: false });
    expect(await entriesOf(style, [row])).toEqual([]);
  });

  it.runIf(lists(style, 'IPV4'))(
    'aggregates adjacent addresses where networks are supported, unless disabled',
    async () => {
      const rows = [4, 5, 6, 7, 9].map((part) => exportIndicator(part, 'IPV4', `192.0.2.${part}`));
      const single = await entriesOf(style, rows, { collapse: 'off' });
      expect(single.filter((line) => /(?:^|[ ,=])192/.test(line))).toHaveLength(5);
      const joined = await entriesOf(style, rows);
      const addresses = joined.map((line) => /192[.\d/]+/.exec(line)?.[0]);
      if (LIST_STYLES[style].networks) expect(addresses).toEqual(['192.0.2.4/30', '192.0.2.9']);
      else expect(joined).toEqual(single);
    },
  );

  // A list in the order of names has a line for each indicator, so that the indicators of the limit are all of its lines.
  it.runIf(lists(style, 'DOMAIN') && !LIST_STYLES[style].rejectsNested)(
    'has at most its limit of lines, with complete entries in ranking order',
    async () => {
      const rows = Array.from({ length: 600 }, (_, i) =>
        exportIndicator(i + 1, 'DOMAIN', `evil-${i}.example`),
      );
      const entries = await entriesOf(style, rows, { limit: 101 });
      expect(entries.length).toBe(entries[1]?.startsWith('*.') ? 100 : 101);
      expect(entries[0]).toContain('evil-599.example');
      expect(entries.at(-1)).toContain(
        entries[1]?.startsWith('*.') ? 'evil-550.example' : 'evil-499.example',
      );
    },
  );
});

describe('a list style for one kind of value', () => {
  const wrong = (style: TxtStyle, types: readonly IndicatorType[] | undefined, given: GivenOptions = {}) => {
    const options = optionsFor('txt', { style, ...given }, types, null);
    return 'error' in options ? options.error : null;
  };

  it.each(TXT_STYLES.filter((style) => (LIST_STYLES[style].kinds?.length ?? 0) > 1))(
    'accepts each kind of %s and requires a choice',
    (style) => {
      for (const kind of LIST_STYLES[style].kinds ?? []) expect(wrong(style, kind)).toBeNull();
      for (const types of [undefined, [], INDICATOR_TYPES, ['IPV4', 'DOMAIN'], ['DOMAIN', 'URL']] as const)
        expect(wrong(style, types)).toMatch(
          new RegExp(`^style=${style} is a list of one kind of value: choose it`),
        );
    },
  );

  it.each([
    [
      'paloalto',
      ['MD5'],
      'style=paloalto is a list of one kind of value: choose it with type or types, of IPV4 and IPV6, DOMAIN or URL.',
    ],
    ['fortinet', ['MD5', 'SHA256'], null],
    ['checkpoint', ['MD5', 'SHA256'], expect.stringContaining('URL, MD5, SHA1, SHA256 or EMAIL.')],
    ['splunk', ['FILENAME', 'SHA1'], null],
    ['splunk', ['ASN'], expect.stringContaining('one kind')],
    ['wazuh', ['ASN'], null],
    ['plain', undefined, null],
    // A list of another kind would empty what the consumer has.
    ['nftables', undefined, null],
    ['nftables', ['IPV4'], null],
    [
      'nftables',
      ['DOMAIN'],
      'style=nftables is a list of one kind of value: choose it with type or types, of IPV4 and IPV6.',
    ],
    ['hosts', ['IPV4', 'DOMAIN'], expect.stringContaining('one kind')],
  ] as const)('%s with %j: %j', (style, types, problem) => {
    expect(wrong(style, types)).toEqual(problem);
  });

  it('reports incompatible options', () => {
    expect(wrong('wazuh', ['IPV4'], { collapse: 'on' })).toBe(
      'style=wazuh lists single addresses: collapse=on is not for it.',
    );
    for (const types of [['URL'], ['IPV4']] as const)
      expect(wrong('paloalto', types, { wildcards: 'off' })).toBe(
        'wildcards is for lists of domains with style=paloalto or fortinet.',
      );
    expect(wrong('checkpoint', ['DOMAIN'], { wildcards: 'on' })).toMatch(/^wildcards is for/);
    expect(wrong('fortinet', ['DOMAIN'], { wildcards: 'off' })).toBeNull();
    expect(wrong('plain', undefined, { order: 'newest' })).toBe('order is for limit: give both.');
    expect(wrong('plain', undefined, { include: 'context' })).toBe(
      'include is for format stix or misp only.',
    );
  });
});

describe.each(['paloalto', 'fortinet'] as const)('a list of domains for %s', (style) => {
  const rows = ['evil.example', 'github.io'].map((name, i) => exportIndicator(i + 1, 'DOMAIN', name));
  const listed = async (given: GivenOptions) => {
    const skipped = new Skipped();
    const format = txtFormat({ list: optionsOf(style, given, ['DOMAIN']) });
    const text = await written(format, rows, {}, 3, skipped);
    return { lines: text.trimEnd().split('\n').sort(), skipped: skipped.counts };
  };

  it('has the names below each domain, unless they belong to others', async () => {
    const names = ['*.evil.example', 'evil.example', 'github.io'];
    expect(await listed({})).toEqual({ lines: names, skipped: {} });
  });

  it('without wildcards has plain names, and no public suffix, below which the firewall would block all', async () => {
    expect(await listed({ wildcards: 'off' })).toEqual({
      lines: ['evil.example'],
      skipped: { 'public-suffix': 1 },
    });
  });
});

describe('wazuh', () => {
  it.each([
    ['IPV4', '192.0.2.7', '192.0.2.7:medium'],
    ['IPV6', '2001:db8::7', '"2001:db8::7":medium'],
    ['URL', 'http://evil.example/a', '"http://evil.example/a":medium'],
    ['MUTEX', 'Global\\x', 'Global\\x:medium'],
  ] as const)('writes %s %s as %s', async (type, value, line) => {
    expect(await linesOf('wazuh', [exportIndicator(1, type, value)])).toEqual([line]);
  });

  it('omits values that its parser cannot read back', async () => {
    expect(await linesOf('wazuh', [exportIndicator(1, 'MUTEX', 'a"b')])).toEqual([]);
  });
});

describe('splunk', () => {
  it.each([
    ['IPV4', '192.0.2.7', 'description,ip,weight', '192.0.2.7,50'],
    [
      'URL',
      'http://e.example/a,b',
      'description,http_referrer,http_user_agent,url,weight',
      ',,"http://e.example/a,b",50',
    ],
    ['USER_AGENT', 'x', 'description,http_referrer,http_user_agent,url,weight', ',x,,50'],
    ['FILENAME', 'a.exe', 'description,file_hash,file_name,weight', ',a.exe,50'],
    ['EMAIL', 'a@e.example', 'description,src_user,subject,weight', 'a@e.example,,50'],
  ] as const)('writes %s %s as a row of its collection', async (type, value, header, cells) => {
    const [first, row] = await linesOf('splunk', [exportIndicator(1, type, value)]);
    expect([first, row]).toEqual([
      header,
      `"Severity MEDIUM, confidence 50, TLP:CLEAR, source: Example feed",${cells}`,
    ]);
  });

  it('has a weight of at least 1', async () => {
    const [, row] = await linesOf('splunk', [exportIndicator(1, 'IPV4', '192.0.2.7', { confidence: 0 })]);
    expect(row?.endsWith('192.0.2.7,1')).toBe(true);
  });
});

describe('txt', () => {
  it.each(['co.uk', 'github.io'])('lists the public suffix %s without a wildcard', async (name) => {
    const rows = [exportIndicator(1, 'DOMAIN', name)];
    for (const style of ['paloalto', 'fortinet'] as const) expect(await linesOf(style, rows)).toEqual([name]);
  });

  it('adds a wildcard to names where the firewall supports it', async () => {
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
    // Clients send the dot as they got it.
    ['plain', 'http://evil.example./A', ['http://evil.example./A']],
    ['paloalto', 'http://evil.example./A', ['evil.example/a', 'evil.example./a']],
    ['fortinet', 'http://evil.example.:81/A', ['evil.example:81/A', 'evil.example.:81/A']],
    ['checkpoint', 'http://evil.example./A', ['evil.example/A', 'evil.example./A']],
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
  ] as const)('%s writes %s as %j', async (style, url, lines) => {
    expect(await linesOf(style, urls(url))).toEqual(lines);
  });

  it('writes URLs with identical output once', async () => {
    const rows = urls('http://evil.example/A', 'https://evil.example/A', 'https://evil.example/a');
    expect(await linesOf('paloalto', rows)).toEqual(['evil.example/a']);
    expect((await linesOf('fortinet', rows)).sort()).toEqual(['evil.example/A', 'evil.example/a']);
    expect(await linesOf('plain', rows)).toHaveLength(3);
  });

  it('counts the omitted values where comments are supported', async () => {
    const rows = urls('ftp://evil.example/x', 'http://evil.example/');
    expect(await linesOf('checkpoint', rows)).toEqual(['evil.example/', '# Left out: not-http 1']);
  });
});

describe('aggregated addresses', () => {
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
  ])('cover exactly the given %s addresses, in as few networks as possible', (_, shown) => {
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

  it('do not span IPv4 and IPv6, nor exceed the last address', () => {
    expect(collapsed(['255.255.255.254', '255.255.255.255', '::1'])).toEqual(['255.255.255.254/31', '::1']);
    expect(collapsed(['0.0.0.0', '::', '::1'])).toEqual(['0.0.0.0', '::/127']);
  });
});

it('a list for RouterOS has no entry twice, also of a network that is divided', async () => {
  const rows = [
    exportIndicator(1, 'IPV4', '10.0.0.0/24', { whitelistedParts: ['10.0.0.0/25'] }),
    exportIndicator(2, 'IPV4', '10.0.0.128/25'),
    ...Array.from({ length: 600 }, (_, i) => exportIndicator(3 + i, 'IPV4', `10.1.${i >> 8}.${i & 255}`)),
  ];
  const lines = (await listsOf('mikrotik', rows, { collapse: 'off' }))
    .split('\n')
    .filter((line) => line.includes(' add '));
  expect(lines).toHaveLength(601);
  expect(new Set(lines).size).toBe(601);
});
