import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS, formatOf, optionsFor } from '../../src/formats/catalogue.ts';
import { addressCollapser } from '../../src/formats/collapse-addresses.ts';
import type { ExportIndicator, TxtStyle } from '../../src/formats/format.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import { blocksOf, isBlock, joined, rangeOf, withoutParts } from '../../src/model/address-ranges.ts';
import { groupSid, NUMBERS_WITH_SIDS, sidOf } from '../../src/model/identity.ts';
import { runs } from '../properties/runs.ts';
import { exportIndicator, written, writtenFiles } from './input.ts';

const PARTS = ['198.51.100.7', '198.51.100.64/26'];
/** What is left of 198.51.100.0/24 without these. */
const REST = [
  ...['198.51.100.0/30', '198.51.100.4/31', '198.51.100.6', '198.51.100.8/29', '198.51.100.16/28'],
  ...['198.51.100.32/27', '198.51.100.128/25'],
];
const whole = exportIndicator(1, 'IPV4', '192.0.2.0/24');
const wholeIpv6 = exportIndicator(2, 'IPV6', '2001:db8::/32');
const partial = exportIndicator(3, 'IPV4', '198.51.100.0/24', { whitelistedParts: PARTS });
const ROWS = [whole, wholeIpv6, partial];

const list = (style: TxtStyle, given = {}) => {
  const options = optionsFor('txt', { style, ...given }, ['IPV4', 'IPV6'], null);
  if ('error' in options) throw new Error(options.error);
  return formatOf('txt', options);
};

async function linesOf(style: TxtStyle, rows: readonly ExportIndicator[] = ROWS, given = {}) {
  return (await written(list(style, given), rows)).split('\n').filter((line) => line !== '');
}

describe('a list', () => {
  it.each(['plain', 'paloalto', 'fortinet'] as const)(
    'of style %s contains networks without whitelisted parts',
    async (style) => {
      expect(await linesOf(style)).toEqual(['192.0.2.0/24', ...REST, '2001:db8::/32']);
    },
  );

  it('with comments says how many parts it leaves out', async () => {
    expect((await linesOf('checkpoint')).at(-1)).toBe(
      '# Left out of listed networks and domains, because they are whitelisted: 2',
    );
  });

  it('for Splunk has a line for each of the blocks', async () => {
    const lines = await linesOf('splunk');
    expect(lines.map((line) => line.split(',').at(-2)?.replaceAll('"', ''))).toEqual([
      'ip',
      '192.0.2.0/24',
      ...REST,
      '2001:db8::/32',
    ]);
  });

  it('for Wazuh has IPv4 networks as beginnings of addresses that end at a dot, and single addresses', async () => {
    const rows = [
      exportIndicator(1, 'IPV4', '10.4.0.0/14'),
      exportIndicator(2, 'IPV4', '192.0.2.4/30'),
      wholeIpv6,
    ];
    const skipped = new Skipped();
    expect((await written(list('wazuh'), rows, {}, 3, skipped)).split('\n')).toEqual([
      ...['10.4.', '10.5.', '10.6.', '10.7.', '192.0.2.4', '192.0.2.5', '192.0.2.6', '192.0.2.7'].map(
        (key) => `${key}:medium`,
      ),
      '',
    ]);
    expect(skipped.counts).toEqual({ network: 1 });
  });

  it('for Wazuh has unique keys', async () => {
    const rows = [
      exportIndicator(1, 'IPV4', '10.0.0.0/30'),
      exportIndicator(2, 'IPV4', '10.0.0.1', { severity: 'HIGH' }),
    ];
    expect(await linesOf('wazuh', rows)).toEqual([0, 1, 2, 3].map((last) => `10.0.0.${last}:medium`));
  });

  it.each([
    ['paloalto', {}],
    ['paloalto', { collapse: 'off' }],
    ['ipset', {}],
    ['ipset', { collapse: 'off' }],
    ['splunk', {}],
  ] as const)(
    'of style %s with %o and a limit has the widest parts of a divided network that displace no others',
    async (style, given) => {
      const first = exportIndicator(4, 'IPV4', '10.0.0.0/8', {
        confidence: 10,
        whitelistedParts: ['10.1.2.3'],
      });
      const others = [1, 3, 5, 7].map((last) =>
        exportIndicator(4 + last, 'IPV4', `203.0.113.${last}`, { confidence: 99 }),
      );
      const listed = async (limit: number) => {
        const skipped = new Skipped();
        const text = await written(list(style, { ...given, limit }), [first, ...others], {}, 3, skipped);
        for (const { value } of others) expect(text).toContain(value);
        expect(skipped).toMatchObject({ counts: { limit: 1 }, parts: 1 });
        return text.match(/\b10\.[\d./]+/g);
      };
      expect(await listed(5)).toEqual(['10.128.0.0/9']);
      expect(await listed(7)).toEqual(['10.32.0.0/11', '10.64.0.0/10', '10.128.0.0/9']);
    },
  );

  it.each([
    [8, ['192.0.2.0/24', ...REST], {}],
    [4, ['192.0.2.0/24', '198.51.100.16/28', '198.51.100.32/27', '198.51.100.128/25'], { limit: 1 }],
    [2, ['192.0.2.0/24', '198.51.100.128/25'], { limit: 1 }],
    [1, ['192.0.2.0/24'], { limit: 1 }],
  ])('with a limit of %i lists %j', async (limit, lines, counts) => {
    const skipped = new Skipped();
    const text = await written(list('paloalto', { limit }), [partial, whole], {}, 3, skipped);
    expect(text.split('\n').filter(Boolean)).toEqual(lines);
    expect(skipped.counts).toEqual(counts);
  });

  it('with a limit lists what lies between the parts of a divided network', async () => {
    const rows = [
      partial,
      exportIndicator(4, 'IPV4', '198.51.100.9'),
      exportIndicator(5, 'IPV4', '198.51.100.200'),
      exportIndicator(6, 'IPV4', '203.0.113.0/24', { whitelistedParts: ['203.0.113.77'] }),
    ];
    const skipped = new Skipped();
    expect(await written(list('plain', { limit: 4 }), rows, {}, 3, skipped)).toBe(
      ['198.51.100.9', '198.51.100.128/25', '203.0.113.0/26', '203.0.113.128/25', ''].join('\n'),
    );
    expect(skipped).toMatchObject({ counts: { limit: 2 }, parts: 3 });
  });

  it('for Wazuh lists the addresses of a network of which only others fit', async () => {
    const rows = [
      exportIndicator(1, 'IPV4', '192.0.2.0/29', { whitelistedParts: ['192.0.2.7'] }),
      exportIndicator(2, 'IPV4', '192.0.2.6'),
    ];
    const text = await written(list('wazuh', { limit: 5 }), rows);
    expect(text.split('\n').map((line) => line.split(':')[0])).toEqual([
      ...[0, 1, 2, 3].map((last) => `192.0.2.${last}`),
      '192.0.2.6',
      '',
    ]);
  });

  it('counts parts once, of nested networks and of those that it leaves out', async () => {
    const skipped = new Skipped();
    const nested = exportIndicator(4, 'IPV4', '198.51.100.0/25', { whitelistedParts: PARTS });
    await written(list('plain'), [partial, nested], {}, 3, skipped);
    expect(skipped.parts).toBe(2);
    const ipv6 = exportIndicator(5, 'IPV6', '2001:db8::/32', { whitelistedParts: ['2001:db8::/33'] });
    const without = new Skipped();
    await written(list('wazuh'), [ipv6], {}, 3, without);
    expect(without.parts).toBe(0);
  });

  it('joins networks and addresses next to them', async () => {
    const rows = ['192.0.2.0/25', '192.0.2.77', '192.0.2.128/25', '192.0.3.0'].map((value, i) =>
      exportIndicator(i + 1, 'IPV4', value),
    );
    expect(await linesOf('plain', rows)).toEqual(['192.0.2.0/24', '192.0.3.0']);
    expect(await linesOf('plain', rows, { collapse: 'off' })).toEqual(rows.map(({ value }) => value));
  });
});

const block = fc.tuple(fc.integer({ min: 24, max: 32 }), fc.nat(255)).map(([bits, place]) => {
  const size = 2 ** (32 - bits);
  return blocksOf(rangeOf(`10.0.0.${place - (place % size)}/${bits}`))[0] ?? '';
});

const numbersOf = (values: readonly string[]) =>
  new Set(
    values
      .map(rangeOf)
      .flatMap(({ first, last }) =>
        Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i),
      ),
  );

/** The parts of a block that are in these entries. */
function partsOf(value: string, entries: readonly string[]): string[] {
  const range = rangeOf(value);
  return joined(entries.map(rangeOf))
    .map(({ first, last }) => ({
      first: Math.max(Number(first), Number(range.first)),
      last: Math.min(Number(last), Number(range.last)),
    }))
    .filter(({ first, last }) => first <= last)
    .flatMap((part) => blocksOf(part));
}

/** The order of PostgreSQL's inet. */
const inetOrder = (a: string, b: string) => {
  const [x, y] = [rangeOf(a), rangeOf(b)];
  return Number(x.first) - Number(y.first) || Number(y.last) - Number(x.last);
};

it('a collapsed list contains exactly the listed addresses that are not whitelisted, each once', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(block, { maxLength: 12 }),
      fc.array(block, { maxLength: 6 }),
      (values, entries) => {
        const hidden = numbersOf(entries);
        const rows = values
          .filter((value) => ![...numbersOf([value])].every((number) => hidden.has(number)))
          .sort(inetOrder);
        const collapser = addressCollapser();
        const lines = [
          ...rows.flatMap((value) => collapser.add(value, partsOf(value, entries))),
          ...collapser.end(),
        ];
        const expected = [...numbersOf(rows)].filter((number) => !hidden.has(number)).sort((a, b) => a - b);
        expect([...numbersOf(lines)]).toEqual(expected);
        expect(joined(lines.map(rangeOf)).flatMap((range) => blocksOf(range))).toEqual(lines);
      },
    ),
    runs(1000),
  );
});

it('a collapsed list with a limit has no more lines, no whitelisted address, and each network that is not divided', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(block, { minLength: 1, maxLength: 12 }),
      fc.array(block, { maxLength: 6 }),
      fc.nat(12),
      (values, entries, more) => {
        const hidden = numbersOf(entries);
        const rows = values
          .filter((value) => ![...numbersOf([value])].every((number) => hidden.has(number)))
          .sort(inetOrder);
        const collapser = addressCollapser();
        const limit = rows.length + more;
        const lines: string[] = [];
        for (const [index, value] of rows.entries()) {
          const room = limit - lines.length - (rows.length - index - 1);
          lines.push(...collapser.add(value, partsOf(value, entries), { room, onCut: () => {} }));
        }
        lines.push(...collapser.end());
        expect(lines.length).toBeLessThanOrEqual(limit);
        const listed = numbersOf(lines);
        expect([...listed].filter((number) => hidden.has(number))).toEqual([]);
        const complete = rows.filter((value) => partsOf(value, entries).length === 0);
        expect([...numbersOf(complete)].filter((number) => !listed.has(number))).toEqual([]);
        expect(joined(lines.map(rangeOf)).flatMap((range) => blocksOf(range))).toEqual(lines);
      },
    ),
    runs(1000),
  );
});

it('an address of IPv6 whose number is that of an IPv4 address is another one', () => {
  const collapser = addressCollapser();
  const lines = [
    ...collapser.add('10.0.0.0/24', ['10.0.0.1']),
    ...collapser.add('::a00:1'),
    ...collapser.end(),
  ];
  expect(lines).toContain('::a00:1');
});

describe('rules', () => {
  it.each(['suricata', 'snort'] as const)(
    'of %s group whole networks, and divide one that is whitelisted in part',
    async (format) => {
      const text = await written(formatOf(format, DEFAULT_OPTIONS), ROWS, { addressRules: new Map() });
      expect(text).toContain('[192.0.2.0/24]');
      expect(text).toContain('[2001:db8::/32]');
      expect(text).toContain(`[${REST.join(',')}]`);
      expect(text).toContain('# Left out of listed networks and domains, because they are whitelisted: 2\n');
      const sids = [...text.matchAll(/sid:(\d+);/g)].map(([, sid]) => sid);
      expect(new Set(sids).size).toBe(sids.length);
    },
  );

  it('leave a network out that cannot be written in a line', async () => {
    const parts = Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 7}.${(i & 127) * 2}`);
    const row = exportIndicator(1, 'IPV4', '10.0.0.0/16', { whitelistedParts: parts });
    const skipped = new Skipped();
    const text = await written(
      formatOf('suricata', DEFAULT_OPTIONS),
      [row],
      { addressRules: new Map() },
      3,
      skipped,
    );
    expect(text).not.toContain('alert');
    expect(skipped.counts).toEqual({ 'whitelisted-parts': 1 });
  });

  it.each([
    ['suricata', {}],
    ['snort', {}],
    ['suricata', { archive: 'datasets' }],
    ['snort', { archive: 'reputation' }],
  ] as const)('of %s %o leave out indicators for which no sids are left', async (format, given) => {
    const sidsOf = async (first: number, skipped: Skipped) => {
      const rows = [
        exportIndicator(first, 'DOMAIN', 'bad.test-feed.net'),
        exportIndicator(first + 1, 'IPV4', '198.51.100.0/24', { whitelistedParts: PARTS }),
        exportIndicator(first + 2, 'URL', 'http://bad.test-feed.net/a'),
      ];
      const info = { addressRules: new Map(), ja3: [] };
      const wanted = formatOf(format, { ...DEFAULT_OPTIONS, ...given });
      if (wanted.order === 'type')
        rows.sort((a, b) => wanted.types.indexOf(a.type) - wanted.types.indexOf(b.type));
      const text =
        'archive' in given
          ? ((await writtenFiles(wanted, rows, info, skipped)).get('tipline.rules') ?? '')
          : await written(wanted, rows, info, 3, skipped);
      return [...text.matchAll(/sid:(\d+);/g)].map(([, sid]) => Number(sid));
    };
    const [before, after] = [new Skipped(), new Skipped()];
    const others = await sidsOf(NUMBERS_WITH_SIDS, after);
    const own = await sidsOf(NUMBERS_WITH_SIDS - 3, before);
    const isOwn = (sid: number) => sid >= sidOf(NUMBERS_WITH_SIDS - 3, 0) && sid < groupSid(0, 'IPV4');
    expect(own.some(isOwn)).toBe(true);
    expect(others.some((sid) => sid >= groupSid(0, 'IPV4') && sid < groupSid(1_000_000, 'IPV4'))).toBe(false);
    expect([before.counts.sid, (after.counts.sid ?? 0) > 0]).toEqual([undefined, true]);
  });

  it('stand beside the sets of addresses, which hold no networks', async () => {
    const address = exportIndicator(4, 'IPV4', '203.0.113.9');
    const files = await writtenFiles(
      formatOf('suricata', { ...DEFAULT_OPTIONS, archive: 'datasets' }),
      [...ROWS, address],
      { ja3: [] },
    );
    expect(files.get('tipline-addresses.lst')).toBe('203.0.113.9\n');
    const rules = files.get('tipline.rules') ?? '';
    expect(rules).toContain('[192.0.2.0/24]');
    expect(rules).toContain(`[${REST.join(',')}]`);
    const reputation = files.get('tipline-reputation.list') ?? '';
    expect(reputation.split('\n').map((line) => line.split(',')[0])).toEqual([
      '192.0.2.0/24',
      ...REST,
      '203.0.113.9',
      '2001:db8::/32',
      '',
    ]);
  });

  it('of Snort’s inspector list networks', async () => {
    const files = await writtenFiles(
      formatOf('snort', { ...DEFAULT_OPTIONS, archive: 'reputation' }),
      ROWS,
      {},
    );
    const text = files.get('tipline.blocklist');
    expect(text?.split('\n')).toEqual(['192.0.2.0/24', ...REST, '2001:db8::/32', '']);
  });
});

describe('other formats', () => {
  it('Zeek has subnets, and addresses that are left of them', async () => {
    const lines = (await written(formatOf('zeek', DEFAULT_OPTIONS), ROWS)).split('\n').slice(1, -1);
    expect(lines.map((line) => line.split('\t').slice(0, 2).join(' ')).sort()).toEqual(
      ['192.0.2.0/24', '2001:db8::/32', ...REST]
        .map((value) => `${value} Intel::${isBlock(value) ? 'SUBNET' : 'ADDR'}`)
        .sort(),
    );
  });

  it('a policy zone has triggers with the length of the prefix', async () => {
    const text = await written(formatOf('rpz', DEFAULT_OPTIONS), ROWS, { changedAt: new Date(0) });
    expect(text).toContain('\n24.0.2.0.192.rpz-ip CNAME .\n');
    expect(text).toContain('\n32.zz.db8.2001.rpz-ip CNAME .\n');
    expect(text).toContain('\n25.128.100.51.198.rpz-ip CNAME .\n');
    expect(text).toContain('\n32.6.100.51.198.rpz-ip CNAME .\n');
    expect(text).not.toContain('.7.100.51.198');
    expect(text).toContain('; Left out of listed networks and domains, because they are whitelisted: 2\n');
  });

  it('ECS has a network by its name, because its field takes single addresses', async () => {
    const [document = ''] = (
      await written(formatOf('ecs', DEFAULT_OPTIONS), [whole], { day: new Date(0) })
    ).split('\n');
    const { indicator } = JSON.parse(document).threat;
    expect(indicator).toMatchObject({ type: 'ipv4-addr', name: '192.0.2.0/24' });
    expect(indicator).not.toHaveProperty('ip');
  });

  it('STIX and MISP have the network as it is listed', async () => {
    expect(await written(formatOf('stix', DEFAULT_OPTIONS), [whole])).toContain(
      `[ipv4-addr:value = '192.0.2.0/24']`,
    );
    expect(await written(formatOf('misp', DEFAULT_OPTIONS), [whole])).toContain('"value":"192.0.2.0/24"');
  });
});

it('what is left of a network and its parts are the network', () => {
  const rest = withoutParts(rangeOf('198.51.100.0/24'), PARTS.map(rangeOf)).flatMap((range) =>
    blocksOf(range),
  );
  expect(rest).toEqual(REST);
});
