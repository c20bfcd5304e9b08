import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { reevaluateMatches } from '../../src/whitelist/reevaluate.ts';
import { ensureShippedLists } from '../../src/whitelist/shipped-lists.ts';
import { findLists, readEdition } from '../../src/whitelist/whitelist.queries.ts';
import {
  addEntry,
  loadList,
  removeEntry,
  removeList,
  setListEnabled,
} from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const why = { who: 'test', reason: 'ours', now: NOW };
const WORLD: [IndicatorType, string][] = [
  ['DOMAIN', 'cdn.example'],
  ['DOMAIN', 'img.cdn.example'],
  ['DOMAIN', 'notcdn.example'],
  ['URL', 'http://img.cdn.example/x.exe'],
  ['EMAIL', 'abuse@cdn.example'],
  ['IPV4', '198.51.100.7'],
  ['IPV4', '198.51.101.7'],
  ['URL', 'http://198.51.100.7/a'],
  ['IPV6', '2001:db8::7'],
];

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
  });
  afterEach(() => tipline.close());

  const load = () => tipline.load(WORLD.map(([type, value]) => indicatorRecord(type, value)));
  async function shown(): Promise<string[]> {
    const { data, total } = (await tipline.get('/api/v1/indicators?pageSize=500')).json();
    expect(data).toHaveLength(total);
    return data.map(({ value }: { value: string }) => value).sort();
  }
  const all = WORLD.map(([, value]) => value).sort();
  const without = (...values: string[]) => all.filter((value) => !values.includes(value));
  const audit = () =>
    tipline.db
      .selectFrom('audit')
      .select(['action', 'who', 'reason', 'after'])
      .where('object_kind', '=', 'whitelist')
      .orderBy('id')
      .execute();

  describe('a whitelist entry', () => {
    it('hides a domain, its subdomains, URLs and email addresses, at once and everywhere', async () => {
      await load();
      const { data } = (await tipline.get('/api/v1/indicators?q=img.cdn.example&type=DOMAIN')).json();
      const { changed } = await addEntry(tipline.db, 'cdn[.]example', undefined, why, 'RED');
      expect(changed).toBe(4);
      expect(await shown()).toEqual(
        without('cdn.example', 'img.cdn.example', 'http://img.cdn.example/x.exe', 'abuse@cdn.example'),
      );
      expect((await tipline.get(`/api/v1/indicators/${data[0].id}`)).statusCode).toBe(404);
      expect((await tipline.get(`/api/v1/indicators/${data[0].id}/context`)).statusCode).toBe(404);
      expect((await tipline.get('/api/v1/indicators?format=txt')).body).not.toContain('img.cdn');
    });

    it('hides a network, and the URLs whose host is in it', async () => {
      await load();
      await addEntry(tipline.db, '198.51.100.0/24', undefined, why, 'RED');
      expect(await shown()).toEqual(without('198.51.100.7', 'http://198.51.100.7/a'));
    });

    it('hides matches of a regular expression', async () => {
      await load();
      await addEntry(tipline.db, '/^2001:db8:/', undefined, why, 'RED');
      expect(await shown()).toEqual(without('2001:db8::7'));
    });

    it('hides a URL without a scheme for http and https, and with a dot after its host', async () => {
      const urls = ['http://a.example/x', 'https://a.example/x', 'https://a.example./x', 'http://a.example/'];
      await tipline.load(urls.map((url) => indicatorRecord('URL', url)));
      const { entry, changed } = await addEntry(tipline.db, 'a.example/x', 'URL', why, 'RED');
      expect([entry.entry, changed]).toEqual(['a.example/x', 3]);
      expect(await shown()).toEqual(['http://a.example/']);
    });

    it('restores hidden indicators on removal, except those matched by another entry', async () => {
      await load();
      await addEntry(tipline.db, 'cdn.example', undefined, why, 'RED');
      await addEntry(tipline.db, '=img.cdn.example', undefined, why, 'RED');
      await removeEntry(tipline.db, 'CDN.example', undefined, why);
      expect(await shown()).toEqual(without('img.cdn.example', 'http://img.cdn.example/x.exe'));
    });

    it('hides indicators imported later', async () => {
      await addEntry(tipline.db, 'cdn.example', undefined, why, 'RED');
      await load();
      expect(await shown()).toHaveLength(WORLD.length - 4);
    });

    it('records which entry hides which indicator', async () => {
      await load();
      const { entry } = await addEntry(tipline.db, '198.51.100.7', undefined, why, 'RED');
      const hits = await tipline.db.selectFrom('whitelist_hit').select(['list_id', 'entry']).execute();
      expect(hits).toEqual([
        { list_id: entry.id, entry: entry.entry },
        { list_id: entry.id, entry: entry.entry },
      ]);
    });

    it.each(['com', '0.0.0.0/0', 'not a value', '/(a/'])('is rejected when invalid: %s', async (text) => {
      await expect(addEntry(tipline.db, text, undefined, why, 'RED')).rejects.toThrow(/whitelist entry/);
      expect(await audit()).toEqual([]);
    });

    it('is audited once', async () => {
      await addEntry(tipline.db, 'cdn.example', undefined, why, 'RED');
      await expect(addEntry(tipline.db, 'cdn.example', undefined, why, 'RED')).rejects.toThrow(
        'is whitelisted already',
      );
      expect(await audit()).toEqual([
        {
          action: 'whitelist.add',
          who: 'test',
          reason: 'ours',
          after: expect.objectContaining({ entry: 'cdn.example' }),
        },
      ]);
    });

    it('applies to a concurrent import', async () => {
      const records = Array.from({ length: 3_000 }, (_, i) => indicatorRecord('DOMAIN', `h${i}.cdn.example`));
      await Promise.all([tipline.load(records), addEntry(tipline.db, 'cdn.example', undefined, why, 'RED')]);
      expect(await shown()).toEqual([]);
    });
  });

  describe('a MISP warninglist', () => {
    const list = (entries: string[], fields = {}) => ({
      name: 'Content networks',
      description: 'Shared hosts',
      version: 1,
      type: 'hostname',
      matching_attributes: ['domain', 'hostname', 'url'],
      list: entries,
      ...fields,
    });

    it('hides its matches, and is re-evaluated when loaded again', async () => {
      await load();
      await loadList(tipline.db, list(['cdn.example']), why);
      expect(await shown()).not.toContain('img.cdn.example');
      await loadList(tipline.db, list(['notcdn.example'], { version: 2 }), why);
      expect(await shown()).toEqual(without('notcdn.example'));
      expect(await findLists(tipline.db)).toMatchObject([{ name: 'Content networks', version: '2' }]);
    });

    it('can be disabled, enabled and removed', async () => {
      await load();
      await loadList(tipline.db, list(['notcdn.example']), why);
      await setListEnabled(tipline.db, 'Content networks', false, why);
      expect(await shown()).toEqual(all);
      await setListEnabled(tipline.db, 'Content networks', true, why);
      expect(await shown()).toEqual(without('notcdn.example'));
      await removeList(tipline.db, 'Content networks', why);
      expect(await shown()).toEqual(all);
    });

    it('is rejected when invalid, and nothing changes', async () => {
      const { edition } = await readEdition(tipline.db);
      await expect(loadList(tipline.db, { list: 'x' }, why)).rejects.toThrow(/not a MISP warninglist/);
      expect((await readEdition(tipline.db)).edition).toBe(edition);
    });

    it('resumes an interrupted re-evaluation', async () => {
      await load();
      await loadList(tipline.db, list(['notcdn.example']), why);
      await tipline.db.updateTable('whitelist_state').set({ applied: null }).execute();
      let calls = 0;
      await reevaluateMatches(tipline.db, { now: NOW, stopped: () => ++calls > 1 });
      expect((await readEdition(tipline.db)).position).not.toBeNull();
      await reevaluateMatches(tipline.db, { now: NOW });
      const { edition, applied } = await readEdition(tipline.db);
      expect(applied).toBe(edition);
    });
  });

  describe('the built-in warninglists', () => {
    const folder = new URL('../../whitelist/', import.meta.url);
    const shipped = readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

    it('hide special-use addresses, public resolvers, empty-file hashes and reserved names, and nothing else', async () => {
      await ensureShippedLists(tipline.db, shipped, NOW);
      const harmless: [IndicatorType, string][] = [
        ['IPV4', '127.0.0.1'],
        ['IPV4', '10.1.2.3'],
        ['IPV4', '255.255.255.255'],
        ['IPV4', '8.8.8.8'],
        ['IPV4', '1.1.1.1'],
        ['URL', 'http://192.168.1.1/admin'],
        ['IPV6', '::1'],
        ['IPV6', 'fe80::1'],
        ['DOMAIN', 'www.example.com'],
        ['MD5', 'd41d8cd98f00b204e9800998ecf8427e'],
        ['SHA256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
      ];
      const harmful: [IndicatorType, string][] = [
        ['IPV4', '45.61.49.78'],
        ['DOMAIN', 'examplecom.net'],
        ['DOMAIN', 'abcdefghijklmnop.onion'],
        ['MD5', 'd41d8cd98f00b204e9800998ecf8427f'],
      ];
      await tipline.load([...harmless, ...harmful].map(([type, value]) => indicatorRecord(type, value)));
      expect(await shown()).toEqual(harmful.map(([, value]) => value).sort());
    });

    it('are loaded once, apply to existing indicators, and stay disabled once disabled', async () => {
      await tipline.load([indicatorRecord('IPV4', '127.0.0.1')]);
      await ensureShippedLists(tipline.db, shipped, NOW);
      expect(await reevaluateMatches(tipline.db, { now: NOW })).toBe(1);
      for (const { name } of shipped) await setListEnabled(tipline.db, name, false, why);
      const { edition } = await readEdition(tipline.db);
      await ensureShippedLists(tipline.db, shipped, NOW);
      expect((await readEdition(tipline.db)).edition).toBe(edition);
      expect(await shown()).toEqual(['127.0.0.1']);
      await ensureShippedLists(
        tipline.db,
        shipped.map((list) => ({ ...list, version: 99_999_999 })),
        NOW,
      );
      expect((await findLists(tipline.db)).map(({ version, enabled }) => [version, enabled])).toEqual(
        shipped.map(() => ['99999999', false]),
      );
      await reevaluateMatches(tipline.db, { now: NOW });
      expect(await shown()).toEqual(['127.0.0.1']);
    });

    it('are added where one is missing, and replaced where one has another version', async () => {
      await ensureShippedLists(tipline.db, shipped.slice(1), NOW);
      const names = async () => (await findLists(tipline.db)).map(({ name }) => name);
      expect(await names()).not.toContain(shipped[0].name);
      const [first, second, ...others] = shipped;
      await ensureShippedLists(tipline.db, [first, { ...second, version: 2 }, ...others], NOW);
      const stored = await findLists(tipline.db);
      expect(new Map(stored.map(({ name, version }) => [name, version]))).toEqual(
        new Map(shipped.map(({ name, version }) => [name, name === second.name ? '2' : String(version)])),
      );
    });
  });
});
