import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasName } from '../../src/model/name-parts.ts';
import { buildMatcher, MAX_PARTS, matcherOf } from '../../src/whitelist/matching/matcher.ts';
import { suffixKind } from '../../src/whitelist/matching/names.ts';
import { runs } from '../properties/runs.ts';
import { name } from './arbitraries.ts';
import { listOf } from './lists.ts';

const DOMAIN = ['DOMAIN'] as const;
/** A domain has two labels at least. */
const domainName = name.filter((text) => text.includes('.'));
const matcherFor = (...lists: { kind: 'string' | 'hostname'; entries: string[] }[]) =>
  matcherOf(
    lists.map(({ kind, entries }, index) =>
      buildMatcher([{ id: `list ${index}`, list: listOf(kind, entries, [...DOMAIN]) }]),
    ),
  );

describe('the whitelisted names below a domain', () => {
  it.each([
    ['hostname', 'login.partner.example', ['login.partner.example']],
    ['string', 'login.partner.example', ['=login.partner.example']],
    ['hostname', '*.login.partner.example', ['*.login.partner.example']],
    ['hostname', '*.partner.example', ['*.partner.example']],
    ['hostname', 'notpartner.example', []],
    ['hostname', 'partner-x.example', []],
  ] as const)('are, by the %s %s, %j', (kind, entry, parts) => {
    const { match } = matcherFor({ kind, entries: [entry] });
    expect(match('DOMAIN', 'partner.example')).toEqual({ hit: null, parts });
  });

  it('are those of all lists, without those that others include', () => {
    const lists = [
      { kind: 'string', entries: ['a.b.partner.example', 'c.partner.example', 'partner.example.org'] },
      { kind: 'hostname', entries: ['b.partner.example', '*.c.partner.example', 'x.d.partner.example'] },
    ] as const;
    const { match } = matcherFor(...lists.map(({ kind, entries }) => ({ kind, entries: [...entries] })));
    expect(match('DOMAIN', 'partner.example').parts).toEqual([
      'b.partner.example',
      'c.partner.example',
      'x.d.partner.example',
    ]);
  });

  it('do not concern public suffixes, URLs, or lists for other types', () => {
    const { match } = matcherFor({ kind: 'hostname', entries: ['a.github.io', 'login.partner.example'] });
    expect(match('DOMAIN', 'github.io').parts).toEqual([]);
    expect(match('URL', 'http://partner.example/').parts).toEqual([]);
    const ofUrls = matcherOf([
      buildMatcher([{ id: 'urls', list: listOf('hostname', ['login.partner.example'], ['URL']) }]),
    ]);
    expect(ofUrls.match('DOMAIN', 'partner.example').parts).toEqual([]);
  });

  it('hide it when they are too many', () => {
    const entries = Array.from({ length: MAX_PARTS + 1 }, (_, i) => `n${i}.partner.example`);
    const all = matcherFor({ kind: 'hostname', entries }).match('DOMAIN', 'partner.example');
    expect(all).toEqual({ hit: { listId: 'list 0', entry: 'n0.partner.example' }, parts: [] });
    const fewer = matcherFor({ kind: 'hostname', entries: entries.slice(1) });
    expect(fewer.match('DOMAIN', 'partner.example').parts).toHaveLength(MAX_PARTS);
    const included = matcherFor({ kind: 'hostname', entries: [...entries, '*.partner.example'] });
    expect(included.match('DOMAIN', 'partner.example').parts).toEqual(['*.partner.example']);
  });

  it('are exactly those that the entries hide, for arbitrary entries', () => {
    const list = fc.record({
      kind: fc.constantFrom('string' as const, 'hostname' as const),
      entries: fc.array(
        fc.oneof(
          name,
          name.map((text) => `*.${text}`),
        ),
        { maxLength: 6 },
      ),
    });
    const below = fc.array(fc.constantFrom('a', 'b', 'ab', 'a-b'), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(list, { maxLength: 3 }), domainName, fc.array(below), (lists, domain, names) => {
        const { match } = matcherFor(...lists);
        const { hit, parts } = match('DOMAIN', domain);
        if (hit !== null || suffixKind(domain) !== null) {
          expect(parts).toEqual([]);
          return;
        }
        const found = new Set(parts);
        for (const labels of names) {
          const one = [...labels, domain].join('.');
          expect([one, hasName(found, one)]).toEqual([one, match('DOMAIN', one).hit !== null]);
        }
      }),
      runs(1000),
    );
  });
});
