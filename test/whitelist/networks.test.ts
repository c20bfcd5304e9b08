import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blocksOf, rangeOf } from '../../src/model/address-ranges.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { buildMatcher, MAX_PARTS, matcherOf } from '../../src/whitelist/matching/matcher.ts';
import { runs } from '../properties/runs.ts';
import { LONG, steepGrowth, upTo } from '../support/growth.ts';
import { listOf } from './lists.ts';

/** A block of a world of 64 addresses: the length of its prefix, and its place. */
const block = fc.tuple(fc.integer({ min: 26, max: 32 }), fc.nat(63)).map(([bits, place]) => {
  const size = 2 ** (32 - bits);
  const start = place - (place % size);
  return {
    start,
    end: start + size,
    ipv4: `10.0.0.${start}/${bits}`,
    ipv6: `2001:db8::${start.toString(16)}/${bits + 96}`,
  };
});

const numbersOf = ({ start, end }: { start: number; end: number }) =>
  Array.from({ length: end - start }, (_, at) => start + at);

const canonical = (text: string) => blocksOf(rangeOf(text))[0] ?? '';

describe('a network', () => {
  it.each([
    ['IPV4', 'ipv4'],
    ['IPV6', 'ipv6'],
  ] as const)(
    'of type %s is hidden if all of it is whitelisted, and otherwise without its whitelisted addresses',
    (type, family) => {
      fc.assert(
        fc.property(
          fc.array(fc.array(block, { maxLength: 6 }), { minLength: 1, maxLength: 3 }),
          block,
          fc.array(block, { maxLength: 3 }),
          (groups, asked, ofOtherType) => {
            const other: IndicatorType[] = ['URL', type === 'IPV4' ? 'IPV6' : 'IPV4'];
            const matcher = matcherOf(
              groups.map((entries, index) =>
                buildMatcher([
                  {
                    id: `other ${index}`,
                    list: listOf(
                      'cidr',
                      ofOtherType.map((one) => one[family]),
                      other,
                    ),
                  },
                  {
                    id: `${index}`,
                    list: listOf(
                      'cidr',
                      entries.map((one) => one[family]),
                      [type],
                    ),
                  },
                ]),
              ),
            );
            const { hit, parts } = matcher.match(type, canonical(asked[family]));
            const whitelisted = new Set(groups.flat().flatMap(numbersOf));
            const within = numbersOf(asked).filter((number) => whitelisted.has(number));
            const isCovered = within.length === asked.end - asked.start;
            expect(hit !== null).toBe(isCovered);
            const lowest = (address: number | bigint) => Number(BigInt(address) & 0xffn);
            const found = parts
              .map(rangeOf)
              .flatMap(({ first, last }) => numbersOf({ start: lowest(first), end: lowest(last) + 1 }));
            expect(found).toEqual(isCovered ? [] : within);
          },
        ),
        runs(1000),
      );
    },
  );

  const match = (entries: string[], value: string, type: IndicatorType = 'IPV4') =>
    matcherOf([buildMatcher([{ id: 'list', list: listOf('cidr', entries) }])]).match(type, value);

  it('that an entry contains is hidden by that entry', () => {
    expect(match(['10.0.0.0/8'], '10.1.0.0/16')).toEqual({
      hit: { listId: 'list', entry: '10.0.0.0/8' },
      parts: [],
    });
  });

  it('that entries contain together is hidden by the first of them', () => {
    expect(match(['10.0.0.128/25', '10.0.0.0/25'], '10.0.0.0/24').hit?.entry).toBe('10.0.0.0/25');
  });

  it('is not hidden by a pattern that matches its text', () => {
    const pattern = (kind: 'substring' | 'regex', entry: string) =>
      matcherOf([buildMatcher([{ id: 'list', list: listOf(kind, [entry]) }])]);
    for (const matcher of [pattern('substring', '8.8.8.0'), pattern('regex', '/^8\\.8\\.8\\./')]) {
      expect(matcher.match('IPV4', '8.8.8.0').hit).not.toBeNull();
      expect(matcher.match('IPV4', '8.8.8.0/21')).toEqual({ hit: null, parts: [] });
    }
  });

  it('with too many whitelisted parts is hidden', () => {
    const entries = Array.from({ length: MAX_PARTS + 1 }, (_, i) => `10.${i >> 7}.0.${(i & 127) * 2}`);
    expect(match(entries, '10.0.0.0/8')).toEqual({ hit: { listId: 'list', entry: entries[0] }, parts: [] });
    expect(match(entries.slice(1), '10.0.0.0/8').parts).toHaveLength(MAX_PARTS);
  });

  it('is not hidden by an address within', () => {
    expect(match(['10.0.0.1', '10.0.0.2'], '10.0.0.0/24')).toEqual({
      hit: null,
      parts: ['10.0.0.1', '10.0.0.2'],
    });
  });

  it('is matched in time that grows with the entries within, also if networks are nested', LONG, async () => {
    const growth = await steepGrowth((size) => {
      const entries = Array.from(
        { length: size },
        (_, i) => `10.${(i >> 15) & 255}.${(i >> 7) & 255}.${(i & 127) * 2}/32`,
      );
      const matcher = matcherOf([buildMatcher([{ id: 'list', list: listOf('cidr', entries) }])]);
      return () => {
        for (let bits = 8; bits < 24; bits++) matcher.match('IPV4', `10.0.0.0/${bits}`);
      };
    }, upTo(32_768));
    expect(growth).toBeNull();
  });
});
