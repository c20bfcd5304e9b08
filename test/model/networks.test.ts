import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blocksAround,
  blocksOf,
  isWithin,
  joined,
  parseAddress,
  rangeOf,
  withoutParts,
} from '../../src/model/address-ranges.ts';
import { detectType, normalizeDetected } from '../../src/model/detect-type.ts';
import { normalize } from '../../src/model/normalize.ts';
import { blocksBetween, MAX_BLOCKS, normalizeEach } from '../../src/model/normalize-range.ts';
import { defang } from '../../src/model/refang.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';

const valuesOf = (first: string, last: string) =>
  blocksBetween(first, last)?.map((result) => ('rejected' in result ? result.rejected : result.value));

const IPV4 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
/** Lower ones are read as IPv4. */
const IPV6 = fc.bigInt({ min: 2n ** 112n, max: 2n ** 128n - 1n });
const address = fc.oneof(IPV4, IPV6);

/** An address and one up to 300 behind it, of the same family. */
const range = fc
  .tuple(address, fc.integer({ min: 0, max: 300 }))
  .map(([first, more]) =>
    typeof first === 'bigint'
      ? { first, last: [first + BigInt(more), 2n ** 128n - 1n].sort((a, b) => (a < b ? -1 : 1))[0] as bigint }
      : { first, last: Math.min(first + more, 2 ** 32 - 1) },
  );

const numbersIn = (blocks: readonly string[]) =>
  blocks.map(rangeOf).flatMap(({ first, last }) => {
    const all: (number | bigint)[] = [];
    for (let at = first; at <= last; typeof at === 'bigint' ? at++ : at++) all.push(at);
    return all;
  });

const numbersBetween = ({ first, last }: { first: number | bigint; last: number | bigint }) => {
  const all: (number | bigint)[] = [];
  for (let at = first; at <= last; typeof at === 'bigint' ? at++ : at++) all.push(at);
  return all;
};

describe('a range', () => {
  it('is covered by blocks that contain exactly its addresses, each in canonical form', () => {
    fc.assert(
      fc.property(range, (whole) => {
        const blocks = blocksOf(whole);
        expect(numbersIn(blocks)).toEqual(numbersBetween(whole));
        const type = typeof whole.first === 'bigint' ? 'IPV6' : 'IPV4';
        // ::ffff:0:0/96 is read as IPv4.
        for (const block of blocks) expect(normalize(type, block)).toMatchObject({ value: block });
      }),
      runs(300),
    );
  });

  it('is divided at its parts', () => {
    fc.assert(
      fc.property(range, fc.array(fc.tuple(fc.nat(300), fc.nat(20))), (whole, offsets) => {
        const size = numbersBetween(whole).length;
        const parts = joined(
          offsets
            .filter(([from]) => from < size)
            .map(([from, more]) => {
              const all = numbersBetween(whole);
              return { first: all[from] as number, last: all[Math.min(from + more, size - 1)] as number };
            }),
        );
        const hidden = new Set(parts.flatMap(numbersBetween));
        const rest = withoutParts(whole, parts).flatMap(numbersBetween);
        expect(rest).toEqual(numbersBetween(whole).filter((number) => !hidden.has(number)));
      }),
      runs(300),
    );
  });

  it.each([
    ['192.0.2.0', '192.0.2.255', ['192.0.2.0/24']],
    ['192.0.2.1', '192.0.2.6', ['192.0.2.1', '192.0.2.2/31', '192.0.2.4/31', '192.0.2.6']],
    ['0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
    ['2001:db8::', '2001:db8::ffff', ['2001:db8::/112']],
    ['192.0.2.7', '192.0.2.7', ['192.0.2.7']],
    ['192.0.2.7', '192.0.2.6', ['a range that ends before it begins']],
    ['192.0.2.7', '2001:db8::', ['a range from an IPv4 to an IPv6 address']],
    ['1::2', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe', [`a range of more than ${MAX_BLOCKS} networks`]],
  ])('from %s to %s is %j', (first, last, expected) => expect(valuesOf(first, last)).toEqual(expected));

  it('of IPv4 never has more blocks than are allowed', () => {
    expect(valuesOf('0.0.0.1', '255.255.255.254')).toHaveLength(62);
  });

  it.each([
    ['192.0.2.0-192.0.2.255', ['192.0.2.0/24']],
    ['192[.]0[.]2[.]0 – 192[.]0[.]2[.]1', ['192.0.2.0/31']],
    ['2001:db8::-2001:db8::1', ['2001:db8::/127']],
    ['evil-site.example', ['type not recognized']],
    ['192.0.2.1-9', ['type not recognized']],
    ['192.0.2.0/24-192.0.3.0/24', ['type not recognized']],
    ['dead-beef', ['type not recognized']],
  ])('%s is read as %j', (text, expected) => {
    const results = normalizeEach(text, normalizeDetected);
    expect(results.map((result) => ('rejected' in result ? result.rejected : result.value))).toEqual(
      expected,
    );
  });

  it('is none where the text is a value of a stated type', () => {
    const read = (type: IndicatorType, text: string) =>
      normalizeEach(text, (raw) => normalize(type, raw)).map((result) => 'type' in result && result.type);
    expect(read('MUTEX', '1.0.0.0-1.0.0.3')).toEqual(['MUTEX']);
    expect(read('FILENAME', '1.0.0.0-1.0.0.3')).toEqual(['FILENAME']);
    expect(read('IPV4', '1.0.0.0-1.0.0.3')).toEqual(['IPV4']);
    expect(normalizeEach('1.0.0.0-1.0.0.3', (raw) => normalize('DOMAIN', raw))[0]).toHaveProperty('rejected');
  });

  it('is read in time linear in the length of the text', () => {
    const text = `${'1.'.repeat(50_000)}-${'1.'.repeat(50_000)}`;
    const started = performance.now();
    normalizeEach(text, () => ({ rejected: 'none' }));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('the networks around a value', () => {
  it('contain it', () => {
    fc.assert(
      fc.property(address, fc.uniqueArray(fc.integer({ min: 0, max: 127 })), (number, lengths) => {
        const [value = ''] = blocksOf({ first: number, last: number });
        const own = parseAddress(value);
        for (const block of blocksAround(value, lengths)) {
          expect(isWithin({ first: own, last: own }, rangeOf(block))).toBe(true);
          expect(blocksOf(rangeOf(block))).toEqual([block]);
        }
      }),
      runs(300),
    );
  });

  it('are wider than a network itself', () => {
    expect(blocksAround('192.0.2.0/24', [32, 24, 23, 8])).toEqual(['192.0.2.0/23', '192.0.0.0/8']);
  });
});

describe('a network', () => {
  it.each([
    ['192.0.2.0/24', 'IPV4'],
    ['2001:db8::/32', 'IPV6'],
    ['192[.]0[.]2[.]0/24', 'IPV4'],
  ])('%s is recognized by its form', (text, type) => expect(detectType(text)).toBe(type));

  it.each(['192.0.2.1/24', '192[.]0[.]2[.]1/24', '2001:db8::1/32', '192.0.2.1/255.255.255.0'])(
    '%s with bits set behind its prefix is rejected with that reason, also without a type',
    (text) =>
      expect(normalizeDetected(text)).toEqual({ rejected: 'a network with bits set behind its prefix' }),
  );

  it('is defanged so that it is read again', () => {
    expect(defang('IPV4', '192.0.2.0/24')).toBe('192[.]0[.]2[.]0/24');
    expect(normalize('IPV6', defang('IPV6', '2001:db8::/32'))).toMatchObject({ value: '2001:db8::/32' });
  });

  it('is no domain and no URL', () => {
    expect(normalize('DOMAIN', '192.0.2.0/24')).toEqual({ rejected: 'a network, not a domain' });
    expect(normalize('URL', '192.0.2.0/24')).toEqual({ rejected: 'a network, not a URL' });
  });
});
