import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { buildMatcher } from '../../src/whitelist/matching/matcher.ts';
import { LIST_KINDS, type ListKind } from '../../src/whitelist/matching/rule.ts';
import { parseWarninglist, type Warninglist } from '../../src/whitelist/matching/warninglist.ts';
import { runs } from '../properties/runs.ts';
import { address, email, file, name, network, url, value } from './arbitraries.ts';
import { listOf } from './lists.ts';
import { naiveMatch } from './naive.ts';

const ENTRIES: Record<ListKind, fc.Arbitrary<string>> = {
  string: fc.oneof(
    name,
    name.map((text) => `.${text}`),
    address,
    url,
    email,
    file,
  ),
  hostname: fc.oneof(
    name,
    name.map((text) => `.${text}`),
    name.map((text) => `*.${text}`),
    address,
  ),
  cidr: fc.oneof(network, address),
  substring: fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', '.', 'B', '/', '@', '-'), minLength: 1, maxLength: 7 }),
    name,
    name.map((text) => `.${text}`),
    address,
  ),
  regex: fc.constantFrom('/^ab/', '/b\\.example$/', '/AAB/i', '/@a/', '/(a+)+-b/'),
};
const types = fc.oneof(
  fc.constant<IndicatorType[]>(['DOMAIN', 'URL']),
  fc.constant<IndicatorType[]>(['IPV4', 'IPV6', 'URL']),
  fc.constant<IndicatorType[]>(['EMAIL']),
  fc.constant<IndicatorType[]>(['FILENAME', 'MUTEX', 'URL', 'EMAIL', 'DOMAIN', 'IPV4', 'IPV6']),
);
const list = fc
  .constantFrom(...LIST_KINDS)
  .chain((kind) =>
    fc
      .tuple(fc.array(ENTRIES[kind], { maxLength: 8 }), types)
      .map(([entries, of]): Warninglist => listOf(kind, entries, of)),
  );
const lists = fc
  .array(list, { maxLength: 5 })
  .map((all) => all.map((one, index) => ({ id: `list ${index}`, list: one })));

describe('for arbitrary lists and values', () => {
  it('the matcher finds the same as a linear scan', () => {
    fc.assert(
      fc.property(lists, fc.array(value, { maxLength: 20 }), (all, values) => {
        const matcher = buildMatcher(all);
        for (const { type, normalized } of values)
          expect([type, normalized, matcher.find(type, normalized)]).toEqual([
            type,
            normalized,
            naiveMatch(all, type, normalized),
          ]);
      }),
      runs(1000),
    );
  });
});

describe('for arbitrary JSON', () => {
  it('parsing and matching never throw', () => {
    const loose = fc.record(
      {
        name: fc.oneof(fc.string(), fc.jsonValue()),
        type: fc.oneof(fc.constantFrom<unknown>(...LIST_KINDS), fc.jsonValue()),
        version: fc.jsonValue(),
        matching_attributes: fc.oneof(fc.constant(['ALL']), fc.jsonValue()),
        list: fc.oneof(fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue())), fc.jsonValue()),
      },
      { requiredKeys: ['list'] },
    );
    fc.assert(
      fc.property(fc.oneof(loose, fc.jsonValue()), value, (json, { type, normalized }) => {
        const parsed = parseWarninglist(json);
        if (!('rejected' in parsed)) buildMatcher([{ id: '', list: parsed }]).find(type, normalized);
      }),
      runs(500),
    );
  });
});
