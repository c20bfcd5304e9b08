import { describe, expect, it } from 'vitest';
import { INDICATOR_TYPES, type IndicatorType } from '../../src/model/vocabulary.ts';
import { candidatesOf } from '../../src/whitelist/matching/matcher.ts';
import type { ListKind } from '../../src/whitelist/matching/rule.ts';

const network = (text: string) => ({ by: 'network', network: expect.objectContaining({ text }) });
const value = (type: IndicatorType, text: string) => ({ by: 'value', type, value: text });
const itself = (name: string) => ({ by: 'name', name, reach: 'itself' });

describe('candidatesOf', () => {
  it.each<[ListKind, string, unknown, IndicatorType[]?]>([
    ['hostname', 'Example.com.', [{ by: 'name', name: 'example.com', reach: 'itself and below' }]],
    ['hostname', '*.example.com', [{ by: 'name', name: 'example.com', reach: 'below' }]],
    ['hostname', '192.0.2.1', [network('192.0.2.1/32')]],
    ['cidr', 'FE80::/10', [network('fe80::/10')]],
    ['cidr', '::ffff:192.0.2.0/120', [network('192.0.2.0/24')]],
    ['string', 'CVE-2021-44228', [value('CVE', 'CVE-2021-44228')], ['CVE']],
    ['string', 'bücher.example', [itself('xn--bcher-kva.example')], ['DOMAIN', 'URL']],
    ['string', '192.0.2.1', [network('192.0.2.1/32')], ['IPV4', 'URL']],
    ['string', 'a.example', [itself('a.example'), value('FILENAME', 'a.example')], ['DOMAIN', 'FILENAME']],
  ])('finds candidates of %s %s by index', (kind, entry, found, types = [...INDICATOR_TYPES]) => {
    expect(candidatesOf(kind, entry, types)).toEqual(found);
  });

  it.each<[ListKind, string]>([
    ['substring', 'Example'],
    ['regex', '/example/'],
    ['hostname', 'com'],
  ])('returns null for %s %s, which no index covers', (kind, entry) => {
    expect(candidatesOf(kind, entry)).toBeNull();
  });
});
