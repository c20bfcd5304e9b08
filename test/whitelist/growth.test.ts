import { describe, expect, it } from 'vitest';
import { MAX_LENGTH } from '../../src/model/text.ts';
import { INDICATOR_TYPES } from '../../src/model/vocabulary.ts';
import { parseOperatorEntry } from '../../src/whitelist/matching/entry.ts';
import { buildMatcher } from '../../src/whitelist/matching/matcher.ts';
import { hostOf, readName } from '../../src/whitelist/matching/names.ts';
import { readNetwork } from '../../src/whitelist/matching/network.ts';
import { LIST_KINDS, type ListKind } from '../../src/whitelist/matching/rule.ts';
import { parseWarninglist } from '../../src/whitelist/matching/warninglist.ts';
import { LONG, steepGrowth, steepOnes, upTo } from '../support/growth.ts';
import { listOf } from './lists.ts';

const VALUE_SIZES = [MAX_LENGTH / 64, MAX_LENGTH / 8, MAX_LENGTH - 64];
const LIST_SIZES = upTo(8_192);
/** Near matches of each other. */
const ENTRIES: Record<ListKind, (n: number) => string> = {
  string: (n) => `${'a'.repeat(20)}${n}.example`,
  substring: (n) => `${'ab'.repeat(20)}${n}`,
  hostname: (n) => `${'a.'.repeat(20)}a${n}.example`,
  cidr: (n) => `10.${(n >> 8) & 255}.${n & 255}.0/${24 + (n & 1)}`,
  regex: (n) => `/^(a+)+b${n}$/`,
};
const list = (kind: ListKind, size: number, entry = ENTRIES[kind]) => ({
  name: 'n',
  description: 'd',
  version: 1,
  type: kind,
  matching_attributes: ['url', 'domain', 'hostname', 'ip-src'],
  list: Array.from({ length: size }, (_, n) => entry(n)),
});

describe('parsing an entry takes time linear in its length', LONG, () => {
  it.each<[string, (text: string) => unknown]>([
    ['of an operator', parseOperatorEntry],
    ['a name', (text) => readName(text, 'itself and below')],
    ['a network', readNetwork],
    ...LIST_KINDS.map((kind): [string, (text: string) => unknown] => [
      `in a list of kind ${kind}`,
      (text) => parseWarninglist({ ...list(kind, 0), list: [text] }),
    ]),
  ])('%s', async (_, run) => {
    expect(await steepOnes(run)).toEqual([]);
  });
});

describe('processing lists takes time linear in their entries', LONG, () => {
  it.each(LIST_KINDS)('when a list of kind %s is parsed and compiled', async (kind) => {
    // An expression is a program of its own.
    const sizes = kind === 'regex' ? upTo(256) : LIST_SIZES;
    const growth = await steepGrowth((size) => {
      const content = list(kind, size);
      return () => {
        const parsed = parseWarninglist(content);
        if (!('rejected' in parsed)) buildMatcher([{ id: 'one', list: parsed }]);
      };
    }, sizes);
    expect(growth).toBeNull();
  });

  it.each([
    ['nested', (n: number) => `10.0.0.0/${8 + (n % 25)}`],
    ['below each other', (n: number) => `${Array.from({ length: n % 100 }, () => 'a').join('.')}.example`],
  ])('when its entries are %s', async (_, entry) => {
    const growth = await steepGrowth((size) => {
      const content = list('hostname', size, entry);
      return () => parseWarninglist(content);
    }, LIST_SIZES);
    expect(growth).toBeNull();
  });
});

describe('matching a value takes time linear in its length', LONG, () => {
  const lists = LIST_KINDS.map((kind) => ({
    id: kind,
    list: listOf(kind, [...Array(kind === 'regex' ? 5 : 500).keys()].map(ENTRIES[kind])),
  }));

  it.each(INDICATOR_TYPES)('of type %s', async (type) => {
    const matcher = buildMatcher(lists);
    expect(await steepOnes((text) => matcher.find(type, text), VALUE_SIZES)).toEqual([]);
    expect(await steepOnes((text) => hostOf(type, text), VALUE_SIZES)).toEqual([]);
  });
});
