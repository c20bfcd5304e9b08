import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { normalize } from '../../src/model/normalize.ts';
import type { NormalizedIndicator } from '../../src/model/normalize-address.ts';
import { normalizeEach } from '../../src/model/normalize-range.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const BY = { who: 'test', reason: 'ours', now: NOW };

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const whitelist = async (text: string) => (await addEntry(harness.db, text, undefined, BY, 'RED')).entry.id;
  const list = async (query = '') =>
    (await harness.get(`/api/v1/exports/txt?limit=1000${query}`)).body.split('\n').slice(0, -1);
  const values = async (query = '') => {
    const { data, total } = (await harness.get(`/api/v1/indicators?pageSize=100${query}`)).json();
    return { values: data.map(({ value }: { value: string }) => value).sort(), total };
  };
  const contextOf = async (value: string) => {
    const { data } = (await harness.get(`/api/v1/indicators?q=${encodeURIComponent(value)}`)).json();
    return (await harness.get(`/api/v1/indicators/${data[0].id}/context`)).json();
  };
  const lookUp = async (value: string) => {
    const { data } = (await harness.get(`/api/v1/lookup?value=${encodeURIComponent(value)}`)).json();
    return data[0].matches.map(
      ({ relation, indicator }: { relation: string; indicator: { value: string } }) =>
        `${relation} ${indicator.value}`,
    );
  };

  describe('a listed network', () => {
    it('is found by its text, plain and defanged, and listed between addresses', async () => {
      await harness.load([
        indicatorRecord('IPV4', '192.0.2.0/24'),
        indicatorRecord('IPV4', '192.0.2.9'),
        indicatorRecord('IPV4', '192.0.1.255'),
        indicatorRecord('IPV6', '2001:db8::/32'),
      ]);
      expect(await values('&q=192.0.2.0/24')).toEqual({ values: ['192.0.2.0/24'], total: 1 });
      expect(await values(`&q=${encodeURIComponent('192[.]0[.]2[.]0/24')}`)).toMatchObject({ total: 1 });
      expect(await list()).toEqual(['192.0.1.255', '192.0.2.0/24', '2001:db8::/32']);
      expect(await list('&collapse=off')).toEqual([
        '192.0.1.255',
        '192.0.2.0/24',
        '192.0.2.9',
        '2001:db8::/32',
      ]);
      expect(await contextOf('192.0.2.0/24')).toMatchObject({
        defanged: '192[.]0[.]2[.]0/24',
        whitelistedParts: [],
      });
    });

    it('wider than allowed is rejected', async () => {
      await harness.load([
        ...['128.0.0.0/7', '64.0.0.0/8'].map((value) => indicatorRecord('IPV4', value)),
        ...['2001:c000::/18', '2001:e000::/19'].map((value) => indicatorRecord('IPV6', value)),
      ]);
      expect(await values()).toEqual({ values: ['2001:e000::/19', '64.0.0.0/8'], total: 2 });
    });

    it('of a range that is too wide is rejected like the rest of it', async () => {
      const ranges = ['5.0.0.1-250.255.255.254', '45.9.20.1-45.9.20.2'];
      const records = ranges.flatMap((text) => normalizeEach(text, (raw) => normalize('IPV4', raw)));
      await harness.load(
        records.map((result) => ({
          ...indicatorRecord('IPV4', '45.9.20.1'),
          ...(result as NormalizedIndicator),
        })),
      );
      expect(await values()).toEqual({ values: ['45.9.20.1', '45.9.20.2'], total: 2 });
    });

    it('is known for the addresses within, and so are the hosts of URLs', async () => {
      await harness.load([
        indicatorRecord('IPV4', '192.0.0.0/16'),
        indicatorRecord('IPV4', '192.0.2.0/24'),
        indicatorRecord('IPV6', '2001:db8::/32'),
      ]);
      expect(await lookUp('192.0.2.7')).toEqual(['in-network 192.0.2.0/24', 'in-network 192.0.0.0/16']);
      expect(await lookUp('192.0.2.0/24')).toEqual(['exact 192.0.2.0/24', 'in-network 192.0.0.0/16']);
      expect(await lookUp('192.0.2.0/25')).toEqual(['in-network 192.0.2.0/24', 'in-network 192.0.0.0/16']);
      expect(await lookUp('http://192.0.3.1:8080/x')).toEqual(['in-network 192.0.0.0/16']);
      expect(await lookUp('http://[2001:db8::9]/x')).toEqual(['in-network 2001:db8::/32']);
      expect(await lookUp('192.1.0.1')).toEqual([]);
    });
  });

  describe('the whitelist', () => {
    it('does not tell parts of an entry above the ceiling of the key', async () => {
      await harness.load([
        indicatorRecord('IPV4', '192.0.2.7', { tlp: 'RED' }),
        indicatorRecord('IPV4', '192.0.2.0/24', { tlp: 'CLEAR' }),
        indicatorRecord('IPV6', '2001:dba::/32', { tlp: 'RED' }),
      ]);
      await whitelist('192.0.2.7');
      await whitelist('192.0.2.9');
      expect(await contextOf('192.0.2.0/24')).toMatchObject({ whitelistedParts: ['192.0.2.7', '192.0.2.9'] });
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const { data } = (await harness.get('/api/v1/indicators?q=192.0.2.0/24', { key })).json();
      const context = await harness.get(`/api/v1/indicators/${data[0].id}/context`, { key });
      expect(context.json()).toMatchObject({ whitelistedParts: ['192.0.2.9'] });
      const { entry } = await addEntry(harness.db, '2001:dba::/32', undefined, BY, 'RED');
      expect(entry.tlp).toBe('RED');
    });

    it('takes its addresses out of a network, tells that, and gives them back', async () => {
      await harness.load([indicatorRecord('IPV4', '192.0.2.0/24')]);
      const before = (await harness.get('/api/v1/exports/txt')).headers.etag;
      const id = await whitelist('192.0.2.128/25');
      const other = await whitelist('192.0.2.1');
      expect(await list()).toEqual([
        '192.0.2.0',
        '192.0.2.2/31',
        '192.0.2.4/30',
        '192.0.2.8/29',
        '192.0.2.16/28',
        '192.0.2.32/27',
        '192.0.2.64/26',
      ]);
      const first = await harness.get('/api/v1/exports/txt');
      expect(first.headers['x-skipped'] ?? first.trailers['x-skipped']).toBe('0');
      const response = await harness.get('/api/v1/exports/txt');
      expect(response.headers['x-whitelisted-parts']).toBe('2');
      expect(response.headers['x-skipped']).toBe('0');
      expect(response.headers.etag).not.toBe(before);
      expect(await contextOf('192.0.2.0/24')).toMatchObject({
        whitelistedParts: ['192.0.2.1', '192.0.2.128/25'],
      });
      expect(await lookUp('192.0.2.200')).toEqual([]);
      expect(await lookUp('192.0.2.128/26')).toEqual([]);
      expect(await lookUp('192.0.2.2')).toEqual(['in-network 192.0.2.0/24']);
      await removeEntry(harness.db, id, undefined, BY);
      await removeEntry(harness.db, other, undefined, BY);
      expect(await list()).toEqual(['192.0.2.0/24']);
      expect(await lookUp('192.0.2.200')).toEqual(['in-network 192.0.2.0/24']);
    });

    it('hides a network that it covers, by one entry or by several', async () => {
      await harness.load([indicatorRecord('IPV4', '192.0.2.0/24'), indicatorRecord('IPV6', '2001:db8::/64')]);
      await whitelist('2001:db8::/48');
      const half = await whitelist('192.0.2.0/25');
      await whitelist('192.0.2.128/25');
      expect(await values()).toEqual({ values: [], total: 0 });
      expect(await list()).toEqual([]);
      await removeEntry(harness.db, half, undefined, BY);
      expect(await list()).toEqual(['192.0.2.0/25']);
    });

    it('applies to a network that is imported later', async () => {
      await whitelist('192.0.2.7');
      await harness.load([indicatorRecord('IPV4', '192.0.2.0/29'), indicatorRecord('IPV4', '192.0.2.7')]);
      expect(await list()).toEqual(['192.0.2.0/30', '192.0.2.4/31', '192.0.2.6']);
      expect(await values()).toEqual({ values: ['192.0.2.0/29'], total: 1 });
    });

    it('takes the same addresses out of nested networks', async () => {
      await harness.load([
        indicatorRecord('IPV4', '192.0.2.0/28'),
        indicatorRecord('IPV4', '192.0.2.0/30'),
        indicatorRecord('IPV4', '192.0.2.2'),
      ]);
      await whitelist('192.0.2.1');
      expect(await list()).toEqual(['192.0.2.0', '192.0.2.2/31', '192.0.2.4/30', '192.0.2.8/29']);
      expect(await list('&collapse=off')).toEqual([
        ...['192.0.2.0', '192.0.2.2/31', '192.0.2.4/30', '192.0.2.8/29'],
        ...['192.0.2.0', '192.0.2.2/31', '192.0.2.2'],
      ]);
    });
  });
});
