import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

  const whitelist = (text: string) => addEntry(harness.db, text, undefined, BY, 'RED');
  const zone = async (as: { key?: string } = {}) =>
    (await harness.get('/api/v1/exports/rpz', as)).body
      .split('\n')
      .filter((line) => line.includes(' CNAME '));
  const partsOf = async (value: string, as: { key?: string } = {}) => {
    const { data } = (await harness.get(`/api/v1/indicators?q=${value}&types=DOMAIN`, as)).json();
    const { id } = data.find((one: { value: string }) => one.value === value);
    return (await harness.get(`/api/v1/indicators/${id}/context`, as)).json().whitelistedParts;
  };
  const lookUp = async (value: string) => {
    const { data } = (await harness.get(`/api/v1/lookup?value=${encodeURIComponent(value)}`)).json();
    return data[0].matches.map(
      ({ relation, indicator }: { relation: string; indicator: { value: string } }) =>
        `${relation} ${indicator.value}`,
    );
  };

  describe('a whitelisted name below a listed domain', () => {
    it('is left out of lists and look-ups until its entry is removed', async () => {
      await harness.load([indicatorRecord('DOMAIN', 'partner.example')]);
      const blocked = ['partner.example CNAME .', '*.partner.example CNAME .'];
      expect(await zone()).toEqual(blocked);
      const { entry, changed } = await whitelist('login.partner.example');
      expect(changed).toBe(1);
      expect(await partsOf('partner.example')).toEqual(['login.partner.example']);
      expect(await zone()).toEqual([
        ...blocked,
        'login.partner.example CNAME rpz-passthru.',
        '*.login.partner.example CNAME rpz-passthru.',
      ]);
      const found = 'parent-domain partner.example';
      expect(await lookUp('login.partner.example')).toEqual([]);
      expect(await lookUp('https://a.login.partner.example/x')).toEqual([]);
      expect(await lookUp('someone@login.partner.example')).toEqual([]);
      expect(await lookUp('www.partner.example')).toEqual([found]);
      expect(await lookUp('https://notlogin.partner.example/x')).toEqual([found]);
      await removeEntry(harness.db, entry.id, undefined, BY);
      expect(await partsOf('partner.example')).toEqual([]);
      expect(await zone()).toEqual(blocked);
      expect(await lookUp('login.partner.example')).toEqual([found]);
    });

    it('is left out when the domain is imported later', async () => {
      await whitelist('*.partner.example');
      await harness.load([indicatorRecord('DOMAIN', 'partner.example')]);
      expect(await partsOf('partner.example')).toEqual(['*.partner.example']);
      expect(await zone()).toEqual(['partner.example CNAME .']);
    });

    it('is disclosed only to callers who may see an indicator of the same value', async () => {
      await harness.load([
        indicatorRecord('DOMAIN', 'partner.example'),
        indicatorRecord('DOMAIN', 'secret.partner.example', { tlp: 'RED' }),
      ]);
      await whitelist('=secret.partner.example');
      await whitelist('www.partner.example');
      const green = { key: await harness.newKey({ tlpCeiling: 'GREEN' }) };
      const red = { key: await harness.newKey({ tlpCeiling: 'RED' }) };
      expect(await partsOf('partner.example', red)).toEqual([
        '=secret.partner.example',
        'www.partner.example',
      ]);
      expect(await partsOf('partner.example', green)).toEqual(['www.partner.example']);
      expect(await zone(green)).toEqual(['partner.example CNAME .']);
      expect(await zone(red)).toContain('secret.partner.example CNAME rpz-passthru.');
      expect((await harness.get('/api/v1/exports/txt?style=unbound', green)).body).not.toContain('secret');
      expect((await harness.get('/api/v1/exports/suricata', green)).body).not.toContain('secret');
    });
  });

  describe('a response policy zone of more names than a batch', () => {
    it('has addresses, and each name that no other includes', { tags: ['nightly'] }, async () => {
      const names = Array.from({ length: 6_000 }, (_, i) => `n${i}.example`);
      const below = names.filter((_, i) => i % 3 === 0).map((name) => `a.b.${name}`);
      const beside = names.filter((_, i) => i % 3 === 1).map((name) => `x-${name}`);
      await harness.load([
        ...[...below, ...names, ...beside].map((name) => indicatorRecord('DOMAIN', name)),
        ...Array.from({ length: 100 }, (_, i) => indicatorRecord('IPV4', `198.51.100.${i}`)),
      ]);
      const owners = (await zone()).map((line) => line.split(' ')[0] ?? '');
      const expected = [...names, ...beside].flatMap((name) => [name, `*.${name}`]);
      expect(owners.slice(0, 100).every((owner) => owner.endsWith('.rpz-ip'))).toBe(true);
      expect(owners.slice(100).sort()).toEqual(expected.sort());
    });
  });
});
