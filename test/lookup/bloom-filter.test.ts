import { describe, expect, it } from 'vitest';
import { emptyWords, hashOf, openBloomFilter } from '../../src/lookup/bloom-filter.ts';

const COUNT = 100_000;
/** Values that differ little from each other, as addresses and numbered names do. */
const KINDS: Record<string, (index: number) => string> = {
  addresses: (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  'numbered names': (i) => `host${i}.example.com`,
  'paths of one URL': (i) => `http://evil.example/${i.toString(36)}/index.html`,
  'letters at the end': (i) => `${'a'.repeat(60)}${String.fromCodePoint(0x4e00 + (i % 20_000))}${i}`,
};

describe.each(Object.entries(KINDS))('a filter of %s', (_, valueAt) => {
  const filled = (bytes: number, seed = 1) => {
    const filter = openBloomFilter(emptyWords(bytes));
    for (let i = 0; i < COUNT; i++) filter.add(hashOf(valueAt(i), seed));
    return filter;
  };
  const share = (mayHave: (hash: number) => boolean, seed = 1) => {
    let wrong = 0;
    for (let i = COUNT; i < 3 * COUNT; i++) if (mayHave(hashOf(valueAt(i), seed))) wrong++;
    return wrong / (2 * COUNT);
  };

  it('has every value that was added', () => {
    const filter = filled(COUNT * 2);
    for (let i = 0; i < COUNT; i++) expect(filter.mayHave(hashOf(valueAt(i), 1))).toBe(true);
  });

  it('has at most 0.3 % of others at two bytes a value, and 1.5 % with half as many values more', () => {
    expect(share(filled(COUNT * 2).mayHave)).toBeLessThan(0.003);
    expect(share(filled(Math.floor((COUNT * 2) / 1.5)).mayHave)).toBeLessThan(0.015);
  });

  it('does not have the same values of another type', () => {
    const filter = filled(COUNT * 2);
    let wrong = 0;
    for (let i = 0; i < COUNT; i++) if (filter.mayHave(hashOf(valueAt(i), 2))) wrong++;
    expect(wrong / COUNT).toBeLessThan(0.003);
  });

  it('counts values that are new to it, each once', () => {
    const filter = filled(COUNT * 2);
    const { added } = filter;
    expect(added).toBeGreaterThan(COUNT * 0.998);
    expect(added).toBeLessThanOrEqual(COUNT);
    for (let i = 0; i < COUNT; i++) filter.add(hashOf(valueAt(i), 1));
    expect(filter.added).toBe(added);
  });
});

it('a filter is made again from its words', () => {
  const filter = openBloomFilter(emptyWords(64));
  filter.add(hashOf('evil.example', 1));
  const words = emptyWords(filter.words.byteLength);
  words.set(filter.words);
  const again = openBloomFilter(words, filter.added);
  expect(again.mayHave(hashOf('evil.example', 1))).toBe(true);
  expect(again.mayHave(hashOf('good.example', 1))).toBe(false);
  expect(again.added).toBe(1);
});
