import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ImportRecord } from '../../src/importers/importer.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import type { Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import {
  actorRecord,
  attributeRecord,
  campaignRecord,
  relationshipRecord,
  reportRecord,
} from '../support/records.ts';

const REVOKED = 'revoked by its source';
const day = (n: number) => new Date(`2026-05-0${n}T00:00:00.000Z`);

onEveryEngine((engine) => {
  let tipline: Harness;
  let revision: () => Promise<number>;
  beforeAll(async () => {
    tipline = await startHarness(engine);
    revision = async () =>
      (await tipline.db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
  });
  beforeEach(async () => {
    await sql`truncate actor, campaign, technique, software, report, attribute, relationship, external_id, entity_source, entity_key,
      import_run, import_change, import_batch, import_relationship_change`.execute(tipline.db);
    await sql`truncate indicator, indicator_source cascade`.execute(tipline.db);
  });
  afterAll(() => tipline.close());

  async function undo(id: string): Promise<void> {
    await startUndo(tipline.db, id, { who: 'cli:test', now: NOW });
    await runPendingUndos(tipline.db, { now: () => NOW });
  }

  const read = async (path: string, key?: string) =>
    (await tipline.get(`/api/v1${path}`, key === undefined ? {} : { key })).json();

  const indicator = indicatorRecord('DOMAIN', 'a.example.net', { externalIds: ['indicator--1'] });
  const actor = actorRecord('Bear');

  describe.each([
    {
      kind: 'report',
      record: (fields: object) => reportRecord('R', fields),
      link: relationshipRecord('report:R', 'refers-to', 'indicator--1'),
      shown: async () =>
        (await read(`/indicators/${(await read('/indicators')).data[0].id}/context`)).reports.map(
          ({ title }: { title: string }) => title,
        ),
    },
    {
      kind: 'campaign',
      record: (fields: object) => campaignRecord('R', fields),
      link: relationshipRecord('campaign:R', 'attributed-to', 'actor:Bear'),
      shown: async () => (await read('/campaigns')).data.map(({ name }: { name: string }) => name),
    },
    {
      kind: 'attribute',
      record: (fields: object) => attributeRecord('yara', 'R', { externalIds: ['attribute:R'], ...fields }),
      link: relationshipRecord('attribute:R', 'indicates', 'actor:Bear'),
      shown: async () =>
        (
          await sql<{ value: string }>`select value from attribute where not withdrawn`.execute(tipline.db)
        ).rows.map(({ value }) => value),
    },
  ])('a withdrawn $kind', ({ kind, record, link, shown }) => {
    const stated = record({ statedAt: day(1) });
    const withdrawn = (n: number, fields: object = {}) =>
      record({ statedAt: day(n), withdrawn: REVOKED, ...fields });
    const countsOf = async (records: ImportRecord[], source?: string) =>
      (await tipline.load(records, source)).kinds.get(kind as 'report');
    const begin = () => tipline.loadRun([indicator, actor, stated, link]);

    it('is hidden under a new revision, also after the older file is imported again', async () => {
      await begin();
      expect(await shown()).toEqual(['R']);
      const before = await revision();
      expect(await countsOf([withdrawn(2)])).toMatchObject({ updated: 1 });
      expect(await shown()).toEqual([]);
      const after = await revision();
      expect(after).toBe(before + 1);
      expect(await countsOf([stated, link])).toMatchObject({ unchanged: 1 });
      expect(await countsOf([withdrawn(2)])).toMatchObject({ unchanged: 1 });
      expect(await revision()).toBe(after);
      expect(await shown()).toEqual([]);
    });

    it('is shown again when its source states it later', async () => {
      await begin();
      await tipline.load([withdrawn(2)]);
      await tipline.load([record({ statedAt: day(3) })]);
      expect(await shown()).toEqual(['R']);
      await tipline.load([withdrawn(2)]);
      expect(await shown()).toEqual(['R']);
    });

    it('is restored by undoing the import', async () => {
      await begin();
      const second = await tipline.loadRun([withdrawn(2)]);
      const third = await tipline.loadRun([record({ statedAt: day(3) })]);
      await undo(third);
      expect(await shown()).toEqual([]);
      await undo(second);
      expect(await shown()).toEqual(['R']);
    });

    it('is rejected unless its source has stated it, and without a date', async () => {
      await begin();
      const other = record({ externalIds: [`${kind}:other`], statedAt: day(2), withdrawn: REVOKED });
      expect(await countsOf([other])).toMatchObject({ read: 1, rejected: 1, reasons: { [REVOKED]: 1 } });
      expect(await countsOf([withdrawn(2)], 'Other')).toMatchObject({ rejected: 1 });
      expect(await countsOf([withdrawn(2, { statedAt: null })])).toMatchObject({ rejected: 1 });
      expect(await shown()).toEqual(['R']);
    });

    it('is rejected if the statement is above the ceiling of the account', async () => {
      await tipline.load([indicator, actor, record({ statedAt: day(1), tlp: 'RED' }), link]);
      const { kinds } = await tipline.load([withdrawn(2)], 'Test', {}, 'GREEN');
      expect(kinds.get(kind as 'report')).toMatchObject({ rejected: 1 });
      expect(await shown()).toEqual(['R']);
    });

    it('is shown as long as another source states it', async () => {
      await begin();
      await tipline.load([record({ statedAt: day(1) })], 'Other');
      await tipline.load([withdrawn(2)]);
      expect(await shown()).toEqual(['R']);
      await tipline.load([withdrawn(2)], 'Other');
      expect(await shown()).toEqual([]);
    });

    it('may be stated and withdrawn in one file, whose relationships then join nothing that is shown', async () => {
      await tipline.load([indicator, actor, stated, withdrawn(2), link]);
      expect(await shown()).toEqual([]);
      const { actors } = await read(`/indicators/${(await read('/indicators')).data[0].id}/context`);
      expect(actors).toEqual([]);
    });
  });

  describe('a withdrawn relationship', () => {
    const link = relationshipRecord('indicator--1', 'indicates', 'actor:Bear');
    const withdrawn = { ...link, withdrawn: REVOKED };
    const countsOf = async (records: ImportRecord[], source?: string, ceiling?: Tlp) =>
      (await tipline.load(records, source, {}, ceiling)).kinds.get('relationship');
    const begin = () => tipline.loadRun([indicator, actor, link]);
    const actors = async () => {
      const [{ id }] = (await read('/indicators')).data;
      return (await read(`/indicators/${id}/context`)).actors.map(({ name }: { name: string }) => name);
    };

    it('is no longer shown under a new revision, and undoing the import restores it', async () => {
      await begin();
      const before = await revision();
      const run = await tipline.loadRun([withdrawn]);
      expect(await revision()).toBe(before + 1);
      expect(await actors()).toEqual([]);
      expect(await countsOf([withdrawn])).toMatchObject({ rejected: 1, reasons: { [REVOKED]: 1 } });
      expect(await revision()).toBe(before + 1);
      await undo(run);
      expect(await actors()).toEqual(['Bear']);
    });

    it('is withdrawn wherever the file states it', async () => {
      for (const records of [
        [withdrawn, indicator, actor, link],
        [link, withdrawn, actor, indicator],
      ]) {
        expect(await countsOf(records)).toMatchObject({ new: 1, updated: 1 });
        expect(await actors()).toEqual([]);
      }
    });

    it('stays if the import states another one between the same objects, in any order', async () => {
      const [gone, other] = [
        { ...withdrawn, id: 'relationship--1' },
        { ...link, id: 'relationship--2' },
      ];
      for (const records of [
        [gone, indicator, actor, other],
        [other, gone, actor, indicator, { ...link, id: 'relationship--1' }],
      ]) {
        expect(await countsOf(records)).toMatchObject({ rejected: 1, reasons: { [REVOKED]: 1 } });
        expect(await actors()).toEqual(['Bear']);
      }
      expect(await countsOf([{ ...link, id: 'relationship--1' }, gone])).toMatchObject({ updated: 1 });
      expect(await actors()).toEqual([]);
    });

    it('stays if another source states it, and if it is above the ceiling of the account', async () => {
      await begin();
      expect(await countsOf([withdrawn], 'Other')).toMatchObject({ rejected: 1 });
      await tipline.load([{ ...link, tlp: 'RED' }]);
      expect(await countsOf([withdrawn], 'Test', 'GREEN')).toMatchObject({ rejected: 1 });
      expect(await actors()).toEqual(['Bear']);
    });

    it('is rejected if its ends are not known', async () => {
      expect(await countsOf([withdrawn])).toMatchObject({ rejected: 1, reasons: { [REVOKED]: 1 } });
    });
  });
});
