import { describe, expect, it } from 'vitest';
import { INDICATOR_TYPES, type IndicatorType } from '../../src/model/vocabulary.ts';
import { type Candidates, candidatesOf } from '../../src/whitelist/candidates.ts';
import type { ListKind } from '../../src/whitelist/warninglist.ts';

describe('the candidates of an entry', () => {
  it.each<[ListKind, string, Candidates, IndicatorType[]?]>([
    ['hostname', 'Example.com.', { contains: 'example.com' }],
    ['hostname', '*.example.com', { contains: '.example.com' }],
    ['hostname', '192.0.2.1', { network: '192.0.2.1/32' }],
    ['cidr', 'FE80::/10', { network: 'fe80::/10' }],
    ['string', 'example.com', { contains: 'example.com' }],
    ['string', 'CVE-2021-44228', { contains: 'cve-2021-44228' }],
    ['string', '.example.com', { contains: 'example.com' }],
    ['string', 'bücher.example', { contains: 'xn--bcher-kva.example' }, ['DOMAIN', 'URL']],
    ['string', 'bücher.example', { scan: true }],
    ['string', '192.0.2.1', { network: '192.0.2.1/32' }, ['IPV4', 'URL']],
    ['string', '192.0.2.1', { scan: true }],
    ['substring', 'Example', { contains: 'example' }],
    ['regex', '/example/', { scan: true }],
    ['hostname', 'com', { scan: true }],
  ])('%s %s are %j', (kind, entry, found, types = [...INDICATOR_TYPES]) => {
    expect(candidatesOf(kind, entry, types)).toEqual(found);
  });
});
