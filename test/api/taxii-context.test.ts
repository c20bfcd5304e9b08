import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import {
  actorRecord,
  campaignRecord,
  relationshipRecord,
  softwareRecord,
  techniqueRecord,
} from '../support/records.ts';

const ROOT = '/taxii2/root';
const BY = { who: 'test', now: NOW, reason: 'ours' };
const CONTEXT = ['intrusion-set', 'threat-actor', 'campaign', 'attack-pattern', 'malware', 'tool'];
/** More than what is read at once. */
const MANY = 620;
const PERSON = 'threat-actor--3f1c2d4e-5a6b-4c7d-8e9f-0a1b2c3d4e5f';
const GROUP = 'intrusion-set--0f6c9b1d-2e3f-4a5b-9c8d-7e6f5a4b3c2d';
const TECHNIQUE = 'attack-pattern--1a2b3c4d-5e6f-4a8b-9c0d-1e2f3a4b5c6d';

interface StixObject {
  type: string;
  id: string;
  name?: string;
  created?: string;
  modified?: string;
  revoked?: boolean;
  valid_until?: string;
  relationship_type?: string;
  source_ref?: string;
  target_ref?: string;
  object_marking_refs?: string[];
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const get = (path: string, options = {}) => harness.get(`${ROOT}/collections/${path}`, options);
  async function pull(query = '', options = {}, collection = 'all') {
    const objects: StixObject[] = [];
    const limit = query.match(/limit=\d+/)?.[0] ?? '';
    for (let rest = query; ; ) {
      const response = await get(`${collection}/objects/?${rest}`, options);
      expect([response.statusCode, response.body.slice(0, 200)]).toEqual([200, expect.anything()]);
      const page = response.json() as { objects?: StixObject[]; more?: boolean; next?: string };
      objects.push(...(page.objects ?? []));
      if (!page.more) return { objects, last: String(response.headers['x-taxii-date-added-last']) };
      rest = `next=${page.next}&${limit}`;
    }
  }
  const context = (objects: readonly StixObject[]) => objects.filter(({ type }) => CONTEXT.includes(type));
  const names = (objects: readonly StixObject[]) => context(objects).map(({ name }) => name);
  const relationships = (objects: readonly StixObject[]) =>
    objects
      .filter(({ type }) => type === 'relationship')
      .map(({ source_ref, relationship_type, target_ref, revoked }) =>
        [source_ref, relationship_type, target_ref, ...(revoked ? ['revoked'] : [])].join(' '),
      );
  const later = (seconds: number) => {
    harness.clock.now = new Date(NOW.getTime() + seconds * 1_000);
    return harness.clock.now;
  };

  const host = (index: number, fields = {}) =>
    indicatorRecord('DOMAIN', `host-${index}.example`, { externalIds: [`host:${index}`], ...fields });
  const indicates = (index: number, to: string) => relationshipRecord(`host:${index}`, 'indicates', to);
  const person = (fields = {}) => actorRecord('Person', { externalIds: [PERSON], ...fields });
  const group = (fields = {}) =>
    actorRecord('Group', { externalIds: [GROUP, `attack:${GROUP}`], attackGroupId: 'G0099', ...fields });
  const world = () => [
    host(1),
    host(2),
    indicatorRecord('CVE', 'CVE-2026-1234', { externalIds: ['cve'] }),
    person(),
    group(),
    campaignRecord('Operation'),
    techniqueRecord('T1059', { externalIds: [TECHNIQUE, `attack:${TECHNIQUE}`] }),
    softwareRecord('Malware'),
    indicates(1, PERSON),
    indicates(1, 'campaign:Operation'),
    indicates(2, GROUP),
    relationshipRecord('cve', 'indicates', 'software:Malware'),
    relationshipRecord('campaign:Operation', 'attributed-to', PERSON),
    relationshipRecord(PERSON, 'uses', TECHNIQUE),
    relationshipRecord(GROUP, 'uses', 'software:Malware'),
  ];

  describe('collections of indicators', () => {
    it('have actors, campaigns, techniques, software and relationships as the STIX export has them', async () => {
      await harness.load(world());
      await harness.load([indicates(1, GROUP), relationshipRecord(PERSON, 'uses', 'software:Malware')]);
      const { objects } = await pull();
      const bundle = (await harness.get('/api/v1/exports/stix?include=context')).json()
        .objects as StixObject[];
      const plain = (all: readonly StixObject[]) =>
        all
          .filter(({ type }) => [...CONTEXT, 'relationship'].includes(type))
          .map(({ created: _, modified: __, ...object }) => object)
          .sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(plain(objects)).toEqual(plain(bundle));
      expect(names(objects).sort()).toEqual(['Malware', 'Operation', 'Person']);
      expect(relationships(objects)).toHaveLength(9);
      const records = (await get('all/manifest/?limit=5000')).json().objects;
      expect(records.map(({ id }: StixObject) => id)).toEqual(objects.map(({ id }) => id));
      const dates = records.map((record: { date_added: string }) => record.date_added);
      expect(dates).toEqual([...new Set(dates)].sort());
      for (const [index, { modified }] of objects.entries())
        expect([modified, dates[index] >= (modified?.replace('Z', '000Z') ?? '')]).toEqual([modified, true]);
      for (const limit of [1, 2, 3]) expect((await pull(`limit=${limit}`)).objects).toEqual(objects);
    });

    it('have each by id, type and version, and its versions', { tags: ['nightly'] }, async () => {
      await harness.load(world());
      const { objects } = await pull();
      for (const object of objects.filter(({ type }) => [...CONTEXT, 'relationship'].includes(type))) {
        const { id, type, modified } = object;
        for (const query of ['', '?match[version]=last', `?match[version]=${modified}`])
          expect((await get(`all/objects/${id}/${query}`)).json()).toEqual({
            more: false,
            objects: [object],
          });
        expect((await get(`all/objects/${id}/versions/`)).json()).toEqual({
          more: false,
          versions: [modified],
        });
        const sameType = objects.filter((other) => other.type === type);
        expect((await pull(`match[type]=${type}`)).objects).toEqual(sameType);
        const sameVersion = sameType.filter((other) => other.modified === modified);
        expect((await pull(`match[type]=${type}&match[version]=${modified}&limit=1`)).objects).toEqual(
          sameVersion,
        );
        expect((await get(`all/objects/${id}/?match[version]=2020-01-01T00:00:00Z`)).json()).toEqual({});
      }
      const ids = objects.slice(-5).map(({ id }) => id);
      expect((await pull(`match[id]=${ids.join(',')}&limit=2`)).objects.map(({ id }) => id)).toEqual(ids);
      expect((await get(`all/objects/${GROUP}/`)).statusCode).toBe(404);
      expect((await get('all/objects/relationship--00000000-0000-5000-8000-000000000000/')).statusCode).toBe(
        404,
      );
    });

    it('have those kinds that the scopes of the key allow; saved feeds have none', async () => {
      await harness.load(world());
      const kinds = async (scopes: string[], collection = 'tlp-red') => {
        const { objects } = await pull('', { key: await harness.newKey({ scopes } as never) }, collection);
        return [names(objects).sort(), relationships(objects).length];
      };
      expect(await kinds(['indicators:read'])).toEqual([[], 0]);
      expect(await kinds(['indicators:read', 'actors:read'])).toEqual([['Malware', 'Person'], 5]);
      expect(await kinds(['indicators:read', 'campaigns:read'])).toEqual([['Malware', 'Operation'], 2]);
      expect(await kinds(['indicators:read', 'actors:read', 'campaigns:read'])).toEqual([
        ['Malware', 'Operation', 'Person'],
        7,
      ]);
      const feed = {
        slug: 'hosts',
        name: 'Hosts',
        description: '',
        format: 'txt',
        query: '',
        tlpCeiling: 'RED',
      };
      await createFeed(harness.db, feed as never, BY);
      expect(await kinds(['feeds:read'], 'feed-hosts')).toEqual([[], 0]);
    });

    it('have the relationships of two visible ends, with the marking of the most restricted of the three', async () => {
      await harness.load([
        host(1),
        host(2, { tlp: 'AMBER' }),
        person({ tlp: 'GREEN' }),
        campaignRecord('Operation', { tlp: 'RED' }),
        indicates(1, PERSON),
        indicates(2, PERSON),
        indicates(1, 'campaign:Operation'),
      ]);
      const seen = async (collection: string) => {
        const { objects } = await pull('match[type]=relationship', {}, collection);
        return objects.map(({ target_ref, object_marking_refs }) => [target_ref, object_marking_refs?.[0]]);
      };
      const [green, amber, red] = ['bab4a63c', '55d920b0', 'e828b379'].map((start) =>
        expect.stringContaining(start),
      );
      expect(await seen('tlp-clear')).toEqual([]);
      expect(await seen('tlp-green')).toEqual([[PERSON, green]]);
      const both = await seen('tlp-amber');
      expect(both).toHaveLength(2);
      expect(both).toEqual(
        expect.arrayContaining([
          [PERSON, green],
          [PERSON, amber],
        ]),
      );
      expect(await seen('tlp-red')).toContainEqual([expect.stringContaining('campaign--'), red]);
    });
  });

  describe('ends of what a client may have', () => {
    it('are given of the relationships of a hidden indicator, which come again with it', async () => {
      await harness.load([host(1), person(), indicates(1, PERSON)]);
      const { last, objects } = await pull();
      const [relationship] = relationships(objects);
      const whitelisted = { ...BY, now: later(60) };
      await addEntry(harness.db, 'host-1.example', undefined, whitelisted, 'RED');
      const ends = await pull(`added_after=${last}`);
      expect(ends.objects.map(({ type }) => type).sort()).toEqual(['indicator', 'relationship']);
      expect(relationships(ends.objects)).toEqual([`${relationship} revoked`]);
      const id = ends.objects.find(({ type }) => type === 'relationship')?.id;
      for (const path of [`all/objects/${id}/`, `all/objects/${id}/versions/`])
        expect((await get(path)).statusCode).toBe(404);
      expect((await get(`all/manifest/?added_after=${last}&match[id]=${id}`)).json()).toEqual({});
      expect(relationships((await pull(`added_after=${last}&match[id]=${id}`)).objects)).toHaveLength(1);
      expect(relationships((await pull()).objects)).toEqual([]);
      await removeEntry(harness.db, 'host-1.example', undefined, { ...BY, now: later(120) });
      const again = await pull(`added_after=${ends.last}`);
      expect(relationships(again.objects)).toEqual([relationship]);
      expect(names(again.objects)).toEqual([]);
    });

    it('are given of a restricted actor to those who could see it', async () => {
      await harness.load([host(1), person(), indicates(1, PERSON)]);
      const green = { key: await harness.newKey({ tlpCeiling: 'GREEN' }) };
      const { last } = await pull('', green);
      later(60);
      await harness.load([person({ tlp: 'AMBER', description: 'secret', statedAt: later(60) })]);
      const { objects } = await pull(`added_after=${last}`, green);
      expect(objects).toMatchObject([
        { id: PERSON, revoked: true },
        { type: 'relationship', revoked: true },
      ]);
      expect(JSON.stringify(objects)).not.toContain('secret');
      expect((await get(`all/objects/${PERSON}/`, green)).statusCode).toBe(404);
      expect(context((await pull('', green)).objects)).toEqual([]);
      const since = 'added_after=1970-01-01T00:00:00Z';
      expect(context((await pull(since, green)).objects)).toEqual([]);
      const [now] = (await pull(`added_after=${last}&match[id]=${PERSON}`)).objects;
      expect(now).toMatchObject({ id: PERSON, description: 'secret' });
      expect(now).not.toHaveProperty('revoked');
    });

    it('are given of what an undone import had stated', async () => {
      await harness.load([host(1), person()], 'First');
      const run = await harness.loadRun([
        campaignRecord('Operation'),
        indicates(1, 'campaign:Operation'),
        indicates(1, PERSON),
      ]);
      const { last, objects } = await pull();
      expect([names(objects), relationships(objects).length]).toEqual([['Person', 'Operation'], 2]);
      await startUndo(harness.db, run, { who: 'cli:test', now: later(60) });
      await runPendingUndos(harness.db, { now: () => later(60) });
      const ends = (await pull(`added_after=${last}`)).objects;
      expect(names(ends)).toEqual(['Operation']);
      expect(relationships(ends)).toHaveLength(2);
      for (const end of ends) expect(end).toMatchObject({ revoked: true });
      expect(relationships((await pull()).objects)).toEqual([]);
    });

    it('are not given where another source states the same; the marking is then that of the other', async () => {
      await harness.load([host(1), person(), { ...indicates(1, PERSON), tlp: 'AMBER' }], 'First');
      const run = await harness.loadRun([{ ...indicates(1, PERSON), tlp: 'GREEN' }], 'Second');
      const { last, objects } = await pull();
      const before = objects.find(({ type }) => type === 'relationship');
      expect(before?.object_marking_refs).toEqual([expect.stringContaining('bab4a63c')]);
      const green = { key: await harness.newKey({ tlpCeiling: 'GREEN' }) };
      await startUndo(harness.db, run, { who: 'cli:test', now: later(60) });
      await runPendingUndos(harness.db, { now: () => later(60) });
      const [after, ...others] = (await pull(`added_after=${last}`)).objects;
      expect(others).toEqual([]);
      expect(after).toMatchObject({
        id: before?.id,
        object_marking_refs: [expect.stringContaining('55d920b0')],
      });
      expect(after).not.toHaveProperty('revoked');
      expect((after?.modified ?? '') > (before?.modified ?? '')).toBe(true);
      expect((await pull(`added_after=${last}`, green)).objects).toMatchObject([
        { id: before?.id, revoked: true },
      ]);
    });

    it('are not given, nor anything else, because of a statement that the reader must not see', async () => {
      await harness.load([host(1), actorRecord('Group'), indicates(1, 'actor:Group')], 'First');
      const green = { key: await harness.newKey({ tlpCeiling: 'GREEN' }) };
      const { last } = await pull('', green);
      later(60);
      await harness.load([group({ tlp: 'RED' }), { ...indicates(1, GROUP), tlp: 'RED' }], 'ATT&CK');
      expect((await pull(`added_after=${last}`, green)).objects).toEqual([]);
    });

    it('are not given where an indicator expires; its relationships come again when it is extended, and end when it is shortened', async () => {
      const until = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
      const expiring = (seconds: number) =>
        host(1, { expiresAt: until(seconds), statedAt: harness.clock.now });
      await harness.load([expiring(10), person(), indicates(1, PERSON)]);
      const first = await pull();
      later(60);
      expect((await pull(`added_after=${first.last}`)).objects).toEqual([]);
      const { last, objects } = await pull();
      expect(relationships(objects)).toEqual([]);
      await harness.load([expiring(600)]);
      const extended = await pull(`added_after=${last}`);
      expect(relationships(extended.objects)).toEqual(relationships(first.objects));
      later(120);
      await harness.load([expiring(100)]);
      const shortened = (await pull(`added_after=${extended.last}`)).objects;
      expect(relationships(shortened)).toEqual([`${relationships(first.objects)[0]} revoked`]);
    });

    it('are given of an object that becomes another', async () => {
      await harness.load([host(1), actorRecord('Group'), indicates(1, 'actor:Group')], 'First');
      const { last, objects } = await pull();
      const [own] = context(objects);
      later(60);
      await harness.load([group()], 'ATT&CK');
      const changed = (await pull(`added_after=${last}`)).objects;
      expect(context(changed)).toMatchObject([{ id: own?.id, revoked: true }]);
      const [, , host1] = relationships(objects)[0]?.split(' ').reverse() ?? [];
      expect(relationships(changed).sort()).toEqual(
        [`${host1} indicates ${own?.id} revoked`, `${host1} indicates ${GROUP}`].sort(),
      );
    });

    it('come in pages where an actor with many relationships is hidden', async () => {
      const all = Array.from({ length: MANY }, (_, index) => index);
      await harness.load([person(), ...all.flatMap((index) => [host(index), indicates(index, PERSON)])]);
      const green = { key: await harness.newKey({ tlpCeiling: 'GREEN' }) };
      const { last, objects } = await pull('limit=5000', green);
      expect(relationships(objects)).toHaveLength(MANY);
      later(60);
      await harness.load([person({ tlp: 'AMBER', statedAt: later(60) })]);
      const ends = (await pull(`added_after=${last}&limit=250`, green)).objects;
      expect(names(ends)).toEqual(['Person']);
      expect(new Set(relationships(ends)).size).toBe(MANY);
      expect(ends).toHaveLength(MANY + 1);
    });
  });
});
