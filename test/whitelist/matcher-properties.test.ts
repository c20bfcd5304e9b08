import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import { searchText } from '../../src/model/search-text.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { candidatesOf } from '../../src/whitelist/candidates.ts';
import { buildMatcher } from '../../src/whitelist/matcher.ts';
import {
  LIST_KINDS,
  type ListKind,
  parseWarninglist,
  type Warninglist,
} from '../../src/whitelist/warninglist.ts';
import { runs } from '../properties/runs.ts';
import { listOf } from './lists.ts';
import { COMPANY_SUFFIXES, naiveMatch, REGISTRY_SUFFIXES } from './naive.ts';

// Few letters and numbers, so that entries and values meet.
const label = fc.constantFrom('a', 'b', 'ab', 'ba', 'aab', 'a-b');
const suffix = fc.constantFrom(...REGISTRY_SUFFIXES, ...COMPANY_SUFFIXES, 'example', 'a.example');
const name = fc
  .tuple(fc.array(label, { maxLength: 3 }), suffix)
  .map(([labels, end]) => [...labels, end].join('.'));
const ipv4 = fc
  .tuple(fc.constantFrom(10, 192), fc.constantFrom(0, 1), fc.constantFrom(0, 128), fc.nat(3))
  .map((octets) => octets.join('.'));
const ipv6 = fc
  .tuple(
    fc.constantFrom('2001', 'fe80'),
    fc.constantFrom('db8', '0', '8000'),
    fc.constantFrom('', '1:', 'c000:'),
  )
  .map(([a, b, c]) => ipaddr.IPv6.parse(`${a}:${b}:${c}:1`).toRFC5952String());
const address = fc.oneof(ipv4, ipv6);
const network = fc.tuple(address, fc.nat(112)).map(([text, spare]) => {
  const all = text.includes(':') ? 128 : 32;
  // Never so wide that it would be refused.
  const bits = all - (spare % (all === 32 ? 25 : 113));
  const family = all === 32 ? ipaddr.IPv4 : ipaddr.IPv6;
  const first = family.networkAddressFromCIDR(`${text}/${bits}`);
  return `${first.toString()}/${bits}`;
});
const path = fc.constantFrom('/', '/a', '/A?b=a.example', '/@ab.example/', '/AAB/10.0.0.1');
const host = fc.oneof(
  name,
  address.map((text) => (text.includes(':') ? `[${text}]` : text)),
);
const url = fc
  .tuple(
    fc.constantFrom('http', 'https', 'ftps'),
    fc.constantFrom('', 'ab:ba@', 'a.example@'),
    host,
    fc.constantFrom('', ':8080', '.'),
    path,
  )
  .map(([scheme, user, at, after, end]) => {
    const dotted = after === '.' && (at.startsWith('[') || /\d$/.test(at)) ? '' : after;
    return `${scheme}://${user}${at}${dotted}${end}`;
  });
const email = fc.tuple(fc.constantFrom('a', 'ab.example', 'abuse'), name).map((parts) => parts.join('@'));
const file = fc.constantFrom('a.example', 'AB.exe', 'c:\\aab\\ab.exe', '10.0.0.1');

const value = fc
  .oneof(
    fc.tuple(fc.constant<IndicatorType>('DOMAIN'), name),
    fc.tuple(fc.constant<IndicatorType>('IPV4'), ipv4),
    fc.tuple(fc.constant<IndicatorType>('IPV6'), ipv6),
    fc.tuple(fc.constant<IndicatorType>('URL'), url),
    fc.tuple(fc.constant<IndicatorType>('EMAIL'), email),
    fc.tuple(fc.constant<IndicatorType>('FILENAME'), file),
    fc.tuple(fc.constant<IndicatorType>('MUTEX'), file),
  )
  .map(([type, raw]) => normalize(type, raw))
  .filter((result) => 'type' in result)
  .map((result) => ('type' in result ? { type: result.type, normalized: result.normalized } : undefined))
  .filter((result) => result !== undefined);

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

describe('whatever the lists and the value', () => {
  it('the matcher finds what going through every entry finds', () => {
    fc.assert(
      fc.property(lists, fc.array(value, { maxLength: 20 }), (all, values) => {
        const matcher = buildMatcher(all);
        for (const { type, normalized } of values)
          expect([type, normalized, matcher.match(type, normalized)]).toEqual([
            type,
            normalized,
            naiveMatch(all, type, normalized),
          ]);
      }),
      runs(1000),
    );
  });

  it('what an entry hits is among its candidates', () => {
    fc.assert(
      fc.property(list, value, fc.boolean(), (one, { type, normalized }, isNarrow) => {
        const hit = buildMatcher([{ id: '', list: one }]).match(type, normalized);
        if (hit === null) return;
        const where = candidatesOf(one.kind, hit.entry, isNarrow ? one.types : undefined);
        if ('contains' in where) expect(searchText(normalized)).toContain(where.contains);
        if ('network' in where && type !== 'URL')
          expect(ipaddr.process(normalized).match(ipaddr.parseCIDR(where.network))).toBe(true);
      }),
      runs(1000),
    );
  });
});

describe('whatever the JSON', () => {
  it('nothing throws', () => {
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
        if (!('rejected' in parsed)) buildMatcher([{ id: '', list: parsed }]).match(type, normalized);
      }),
      runs(500),
    );
  });
});
