import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ImportRecord } from '../../src/importers/importer.ts';
import { deleteOldUndoData } from '../../src/imports/changes.queries.ts';
import { createCounts } from '../../src/imports/import-context.ts';
import { ImportStopped, recordRun } from '../../src/imports/import-runs.service.ts';
import type { ImportFile } from '../../src/imports/imports.service.ts';
import { runImport } from '../../src/imports/run-import.ts';
import { previewUndo, runPendingUndos, startUndo, UndoError } from '../../src/imports/undo.service.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { previewRemoval, runPendingRemovals, startRemoval } from '../../src/sources/remove-source.ts';
import { requireSource } from '../../src/sources/sources.service.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness, WIDEST } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord } from '../support/records.ts';
import { WORLD_SOURCES, worlds } from './entity-worlds.ts';

const BY = { who: 'cli:test', now: NOW };
const DAY_MS = 86_400_000;

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeAll(async () => void (tipline = await startHarness(engine)));
  beforeEach(clear);
  afterAll(() => tipline.close());

  async function clear(): Promise<void> {
    tipline.clock.now = NOW;
    await sql`truncate actor, campaign, technique, software, report, relationship, external_id, import_run, import_change, import_batch, record_withdrawal,
      import_relationship_change`.execute(tipline.db);
    await sql`truncate indicator, indicator_source cascade`.execute(tipline.db);
    await sql`delete from source`.execute(tipline.db);
  }

  async function undo(id: string): Promise<void> {
    await startUndo(tipline.db, id, { ...BY, now: tipline.clock.now });
    await runPendingUndos(tipline.db, { now: () => tipline.clock.now });
  }

  async function remove(name: string): Promise<void> {
    await startRemoval(tipline.db, await requireSource(tipline.db, name), BY);
    await runPendingRemovals(tipline.db, { now: () => tipline.clock.now });
  }

  /** All that is said, and all that follows from it for those who ask; times of writing aside. */
  async function state() {
    const { db } = tipline;
    const rows = async (query: ReturnType<typeof sql>) => (await query.execute(db)).rows;
    const shown = (table: string) =>
      rows(sql`select to_jsonb(t) - '{created_at,modified_at,revision,change_number}'::text[] as row from ${sql.table(table)} as t
        where not withdrawn order by id`);
    return {
      indicators:
        await rows(sql`select id, confidence, severity, tlp, tags, source_id, first_seen, last_seen, expires_at,
        for_detection, whitelisted from indicator
        where expires_at is null or expires_at > ${tipline.clock.now}::timestamptz order by id`),
      said: await rows(sql`select indicator.id, to_jsonb(s) - 'indicator_number' as row
        from indicator_source as s join indicator on indicator.number = s.indicator_number order by indicator.id, s.source_id`),
      objects: await rows(sql`select * from entity_source order by entity_kind, object_id, source_id`),
      keys: await rows(sql`select * from entity_key order by entity_kind, key, object_id`),
      actors: await shown('actor'),
      campaigns: await shown('campaign'),
      ids: await rows(
        sql`select external_id, entity_id from external_id where entity_kind <> 'indicator' order by 1, 2`,
      ),
      relationships:
        await rows(sql`select r.from_id, r.to_id, r.type, r.tlp, r.source_id from relationship as r
        join campaign on campaign.id = r.to_id and not campaign.withdrawn order by 1, 2, 3, 5`),
      sums: await rows(sql`select type, severity, tlp, confidence, sum(count) as count
        from (
          select type, severity, tlp, confidence, count from indicator_summary
          union all
          select type, severity, tlp, confidence, n from indicator_summary_correction(${tipline.clock.now}::timestamptz)
        ) as counted
        group by 1, 2, 3, 4 having sum(count) <> 0 order by 1, 2, 3, 4`),
    };
  }

  const totals = async () => ({
    indicators: (await tipline.get('/api/v1/indicators')).json().total,
    actors: (await tipline.get('/api/v1/actors')).json().total,
    campaigns: (await tipline.get('/api/v1/campaigns')).json().total,
  });

  const ROWS = 1_200;
  const rowsOf = (prefix: string, count = ROWS) =>
    Array.from({ length: count }, (_, i) => indicatorRecord('DOMAIN', `${prefix}${i}.test-feed.net`));

  it('undoes a multi-batch import with its actors, campaigns and relationships', {
    tags: ['nightly'],
  }, async () => {
    await tipline.load(rowsOf('kept', 600), 'Other');
    const before = await state();
    const wrong = rowsOf('wrong').map((record, i) => ({ ...record, externalIds: [`indicator--${i}`] }));
    const id = await tipline.loadRun([
      ...wrong,
      actorRecord('Wrong Bear'),
      campaignRecord('Wrong one'),
      ...wrong.map((_, i) => relationshipRecord(`indicator--${i}`, 'indicates', 'campaign:Wrong one')),
    ]);
    expect(await totals()).toEqual({ indicators: 600 + ROWS, actors: 1, campaigns: 1 });
    const preview = await previewUndo(tipline.db, id, NOW);
    expect(preview).toEqual({
      kinds: {
        relationship: { restored: ROWS, withdrawn: ROWS, restated: 0 },
        actor: { restored: 1, withdrawn: 1, restated: 0 },
        campaign: { restored: 1, withdrawn: 1, restated: 0 },
        indicator: { restored: ROWS, withdrawn: ROWS, restated: 0 },
      },
      shown: { before: 600 + ROWS, after: 600 },
    });
    await undo(id);
    expect(await state()).toEqual(before);
    expect(await totals()).toEqual({ indicators: 600, actors: 0, campaigns: 0 });
  });

  it.runIf(engine.name === 'embedded')('updates the row estimates of the embedded database', async () => {
    await tipline.load(rowsOf('kept', 600), 'Other');
    const id = await tipline.loadRun(rowsOf('wrong', 300));
    await undo(id);
    const { rows } = await sql<{ count: number }>`
      select reltuples::float8 as count from pg_class where oid = 'indicator_source'::regclass
    `.execute(tipline.db);
    expect(rows).toEqual([{ count: 600 }]);
  });

  it('uses several revisions for many rows, so that other writers can interleave', {
    tags: ['nightly'],
  }, async () => {
    const id = await tipline.loadRun(rowsOf('wrong'));
    const revision = async () =>
      (await tipline.db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
    const before = await revision();
    await undo(id);
    expect((await revision()) - before).toBe(3);
  });

  it('keeps ids, numbers and pins of hidden objects, and restores them on re-import', async () => {
    const row = async () =>
      tipline.db
        .selectFrom('indicator')
        .select(['id', 'number', 'pinned_confidence', 'created_at'])
        .executeTakeFirstOrThrow();
    const id = await tipline.loadRun([...rowsOf('wrong', 1), campaignRecord('Wrong one')]);
    await tipline.db.updateTable('indicator').set({ pinned_confidence: 7 }).execute();
    await tipline.db.updateTable('campaign').set({ pinned_status: 'CONCLUDED' }).execute();
    const before = await row();
    await undo(id);
    expect(await totals()).toMatchObject({ indicators: 0, campaigns: 0 });
    const counts = await tipline.load([...rowsOf('wrong', 1), campaignRecord('Wrong one')]);
    expect(counts.kinds.get('indicator')).toMatchObject({ new: 1 });
    expect(counts.kinds.get('campaign')).toMatchObject({ new: 1 });
    expect(await row()).toEqual(before);
    const [campaign] = (await tipline.get('/api/v1/campaigns')).json().data;
    expect(campaign).toMatchObject({ name: 'Wrong one', status: 'CONCLUDED' });
    expect((await tipline.get('/api/v1/indicators')).json()).toMatchObject({
      total: 1,
      data: [{ confidence: 7 }],
    });
  });

  it('keeps what a later import has repeated, until that one is undone too', async () => {
    const first = await tipline.loadRun(rowsOf('twice', 3));
    const second = await tipline.loadRun([...rowsOf('twice', 2), ...rowsOf('new', 1)]);
    expect((await previewUndo(tipline.db, first, NOW)).kinds).toEqual({
      indicator: { restored: 1, withdrawn: 1, restated: 2 },
    });
    await undo(first);
    expect(await totals()).toMatchObject({ indicators: 3 });
    await undo(second);
    expect(await totals()).toMatchObject({ indicators: 0 });
  });

  it('undoes a change that follows a repetition without any change', async () => {
    const record = (tag: string) => indicatorRecord('DOMAIN', 'a.test-feed.net', { tags: [tag] });
    const link = relationshipRecord('indicator--a', 'indicates', 'campaign:One');
    const linked = [{ ...record('right'), externalIds: ['indicator--a'] }, campaignRecord('One'), link];
    await tipline.loadRun(linked);
    const before = await state();
    await tipline.loadRun(linked);
    const wrong = await tipline.loadRun([record('wrong'), { ...link, tlp: 'RED' }]);
    expect(await state()).not.toEqual(before);
    await undo(wrong);
    expect(await state()).toEqual(before);
  });

  it('removes the external ids of the records that it withdraws, and of no others', async () => {
    const stated = (...ids: string[]) =>
      ids.map((id) =>
        indicatorRecord('DOMAIN', 'a.test-feed.net', {
          externalIds: [`indicator--${id}`],
          records: [{ id: `indicator--${id}` }],
        }),
      );
    const externalIds = async () => {
      const rows = await tipline.db
        .selectFrom('external_id')
        .select('external_id')
        .orderBy('external_id')
        .execute();
      return rows.map(({ external_id }) => external_id.replace('indicator--', ''));
    };
    await tipline.loadRun(stated('before'));
    await tipline.loadRun(stated('other'), 'Other');
    const wrong = await tipline.loadRun(stated('before', 'other', 'wrong'));
    expect(await externalIds()).toEqual(['before', 'other', 'wrong']);
    await undo(wrong);
    expect(await externalIds()).toEqual(['before', 'other']);
    await remove('Other');
    expect(await externalIds()).toEqual(['before']);
  });

  it('restores in any order what one import changed, another changed again and a third repeated', {
    tags: ['nightly'],
  }, async () => {
    const record = (tag: string) => indicatorRecord('DOMAIN', 'a.test-feed.net', { tags: [tag] });
    await tipline.loadRun([record('right')]);
    const before = await state();
    for (const order of [
      [0, 1, 2],
      [1, 0, 2],
      [2, 1, 0],
      [0, 2, 1],
    ]) {
      const ids = [];
      for (const tag of ['first', 'second', 'second']) ids.push(await tipline.loadRun([record(tag)]));
      for (const at of order) await undo(ids[at] ?? '');
      expect([order, await state()]).toEqual([order, before]);
    }
  });

  it('does not restore an undone value when a later import is undone', async () => {
    await tipline.loadRun([indicatorRecord('DOMAIN', 'a.test-feed.net', { tags: ['right'] })]);
    const wrong = await tipline.loadRun([indicatorRecord('DOMAIN', 'a.test-feed.net', { tags: ['wrong'] })]);
    const last = await tipline.loadRun([indicatorRecord('DOMAIN', 'a.test-feed.net', { tags: ['last'] })]);
    await undo(wrong);
    await undo(last);
    const { data } = (await tipline.get('/api/v1/indicators')).json();
    expect(data).toMatchObject([{ tags: ['right'] }]);
  });

  it('keeps what a feed has repeated', async () => {
    const id = await tipline.loadRun(rowsOf('twice', 3));
    await tipline.load(rowsOf('twice', 2));
    await undo(id);
    expect(await totals()).toMatchObject({ indicators: 2 });
  });

  it('rejects an impossible undo with the reason', async () => {
    const id = await tipline.loadRun(rowsOf('wrong', 1));
    const reason = async (run: string) =>
      previewUndo(tipline.db, run, tipline.clock.now).then(
        () => null,
        (error: unknown) => (error instanceof UndoError ? error.message : error),
      );
    expect(await reason(randomUUID())).toBe('There is no such import.');
    tipline.clock.now = new Date(NOW.getTime() + 30 * DAY_MS + 1);
    expect(await reason(id)).toBe('It is older than 30 days: its undo data has been deleted.');
    tipline.clock.now = new Date(NOW.getTime() + 30 * DAY_MS);
    await undo(id);
    expect(await reason(id)).toBe('It has been undone already.');
    await tipline.db.updateTable('import_run').set({ undo: null, state: 'running' }).execute();
    expect(await reason(id)).toBe(
      'It is still running: wait for its end, or stop it. If its process has ended, try again in a minute.',
    );
    await tipline.db.updateTable('import_run').set({ dry_run: true }).execute();
    expect(await reason(id)).toBe('It was a dry run: it changed nothing.');
  });

  it('deletes undo data after 30 days', { tags: ['nightly'] }, async () => {
    await tipline.loadRun(rowsOf('wrong', 6_000));
    await tipline.loadRun(rowsOf('wrong', 6_000).map((record) => ({ ...record, confidence: 90 })));
    const kept = async () => {
      const { rows } = await sql<{ changes: number; ids: number }>`
        select (select count(*) from import_change) as changes,
          (select coalesce(sum(cardinality(object_ids)), 0) from import_batch) as ids
      `.execute(tipline.db);
      const [{ changes, ids } = { changes: 0, ids: 0 }] = rows;
      return changes + Number(ids);
    };
    await deleteOldUndoData(tipline.db, new Date(NOW.getTime() + 30 * DAY_MS), () => false);
    // Those of the first import, and those of the second, which changed all of them and stated all of them again.
    expect(await kept()).toBe(3 * 6_000);
    await deleteOldUndoData(tipline.db, new Date(NOW.getTime() + 30 * DAY_MS + 1), () => false);
    expect(await kept()).toBe(0);
  });

  it('resumes after an interruption', { tags: ['nightly'] }, async () => {
    const before = await state();
    const id = await tipline.loadRun([...rowsOf('wrong'), actorRecord('Wrong Bear')]);
    await startUndo(tipline.db, id, BY);
    for (let cuts = 0; ; cuts++) {
      let batches = 0;
      await runPendingUndos(tipline.db, { now: () => NOW, stopped: () => batches++ > 0 });
      const { undo: left } = await tipline.db
        .selectFrom('import_run')
        .select('undo')
        .executeTakeFirstOrThrow();
      if (left === 'done') break;
      expect(cuts).toBeLessThan(20);
      if (cuts === 3) await runPendingUndos(tipline.db, { now: () => NOW });
    }
    expect({ ...(await state()), sums: [] }).toEqual({ ...before, sums: [] });
  });

  it('removes a source with all its statements; a new source of that name starts empty', async () => {
    await tipline.load(rowsOf('shared', 600), 'Other', { confidence: 20 });
    await tipline.load([actorRecord('Bear', { description: 'of others' })], 'Other');
    const before = await state();
    await tipline.load([...rowsOf('shared', 700), actorRecord('Bear', { country: 'XX' })], 'Gone', {
      tlp: 'AMBER',
    });
    expect(await totals()).toMatchObject({ indicators: 700, actors: 1 });
    const source = await requireSource(tipline.db, 'Gone');
    const { kinds, shown } = await previewRemoval(tipline.db, source, NOW);
    expect({ kinds, shown }).toEqual({
      kinds: {
        actor: { restored: 1, withdrawn: 0, restated: 0 },
        indicator: { restored: 700, withdrawn: 100, restated: 0 },
      },
      shown: { before: 700, after: 600 },
    });
    await remove('Gone');
    expect(await state()).toEqual(before);
    await expect(requireSource(tipline.db, 'Gone')).rejects.toThrow('there is no source "Gone"');
    await tipline.load(rowsOf('shared', 700), 'Gone', { confidence: 90, tlp: 'GREEN' });
    const { data, total } = (await tipline.get('/api/v1/indicators?pageSize=1')).json();
    expect({ total, data }).toMatchObject({ total: 700, data: [{ confidence: 90, tlp: 'GREEN' }] });
  });

  it('rejects undoing an import of a removed source', async () => {
    const id = await tipline.loadRun(rowsOf('wrong', 1), 'Gone');
    await remove('Gone');
    await expect(previewUndo(tipline.db, id, NOW)).rejects.toThrow('its source was removed since');
  });

  it('completes an undo whose source is removed meanwhile, and continues with the next', async () => {
    const first = await tipline.loadRun(rowsOf('wrong', 3), 'Gone');
    const second = await tipline.loadRun(rowsOf('other', 3), 'Other');
    for (const id of [first, second]) await startUndo(tipline.db, id, BY);
    await remove('Gone');
    await runPendingUndos(tipline.db, { now: () => NOW });
    expect(await totals()).toMatchObject({ indicators: 0 });
    const states = await tipline.db.selectFrom('import_run').select('undo').execute();
    expect(states).toEqual([{ undo: 'done' }, { undo: 'done' }]);
  });

  describe('an import whose process was suspended for more than a minute', () => {
    const counts = createCounts();
    /** Imports one file, and another one after `meanwhile`. */
    async function importAround(meanwhile: (id: string) => Promise<void>): Promise<unknown> {
      const wanted = { source: 'Test', fileName: 'test', fileBytes: 0, format: 'stix', dryRun: false };
      // A suspended process records no progress.
      vi.useFakeTimers({ toFake: ['setInterval'] });
      const run = await recordRun(tipline.db, wanted, counts, BY, () => {}).finally(() => vi.useRealTimers());
      const fileOf = (records: ImportRecord[]): ImportFile => ({
        importer: {
          name: 'stix',
          async *read() {
            yield records;
          },
        },
        input: { fileName: 'test', open: () => Promise.reject(new Error('not opened')) as never },
      });
      async function* files() {
        yield fileOf(rowsOf('before', 3));
        await sql`update import_run set heartbeat_at = heartbeat_at - interval '61 seconds'`.execute(
          tipline.db,
        );
        await meanwhile(run.id);
        yield fileOf(rowsOf('after', 3));
      }
      return runImport(tipline.db, () => NOW, {
        source: 'Test',
        defaults: { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' },
        files: files(),
        run,
        dryRun: false,
        counts,
        tlpCeiling: 'RED',
        widest: WIDEST,
        signal: new AbortController().signal,
        onError: () => ({ state: 'failed', problem: 'See the output of the command.' }),
      });
    }

    it.each([
      ['undone', (id: string) => undo(id)],
      ['withdrawn with its source', () => remove('Test')],
    ])('writes nothing more once it is %s', async (_, meanwhile) => {
      await expect(importAround(meanwhile)).rejects.toThrow(ImportStopped);
      const runs = await tipline.db.selectFrom('import_run').select(['state', 'problem']).execute();
      expect({ ...(await totals()), runs }).toMatchObject({
        indicators: 0,
        runs: [{ state: 'stopped', problem: expect.stringContaining('undone') }],
      });
    });

    it('goes on otherwise', async () => {
      await importAround(async () => {});
      expect(await totals()).toMatchObject({ indicators: 6 });
    });
  });

  it('restores the previous state, for arbitrary imports', async () => {
    const property = fc.asyncProperty(
      worlds,
      fc.nat(11),
      fc.array(statements, { maxLength: 8 }),
      fc.array(statements, { minLength: 1, maxLength: 8 }),
      async (world, cut, base, wrong) => {
        await clear();
        const [right, bad] = [world.slice(0, cut), world.slice(cut)];
        for (const { source, record } of right) await tipline.load([record], source, WORLD_SOURCES[source]);
        for (const { source, records } of base) await tipline.load(records, source);
        const before = await state();
        const ids: string[] = [];
        for (const { source, record } of bad)
          ids.push(await tipline.loadRun([record], source, WORLD_SOURCES[source]));
        for (const { source, records } of wrong) ids.push(await tipline.loadRun(records, source));
        for (const id of ids.reverse()) await undo(id);
        expect(await state()).toEqual(before);
      },
    );
    await fc.assert(property, runs(25));
  });

  it('equals importing only the other files, in whatever order imports are undone', {
    tags: ['nightly'],
  }, async () => {
    const property = fc.asyncProperty(
      worlds.map((world) => [...new Map(world.map((said) => [objectOf(said), said])).values()]),
      fc.array(fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 6 }),
      fc.infiniteStream(fc.nat(1000)),
      async (world, picks, chances) => {
        // Each source says the same of an object in each of its imports.
        const choices: { source: string; record: ImportRecord }[] = [...world, ...LINKED];
        const files = picks.map((places) => {
          const chosen = places.map((place) => choices[place % choices.length]);
          const [source = ''] = chosen.map((choice) => choice?.source);
          return {
            source,
            records: chosen.flatMap((choice) => (choice?.source === source ? [choice.record] : [])),
          };
        });
        const undone = files.map(() => (chances.next().value ?? 0) % 2 === 0);
        const load = async (which: (i: number) => boolean) => {
          await clear();
          await tipline.load(ENDS, 'Ends');
          const ids: string[] = [];
          for (const [i, { source, records }] of files.entries())
            if (which(i)) ids[i] = await tipline.loadRun(records, source, WORLD_SOURCES[source]);
          return ids;
        };
        const ids = await load(() => true);
        const order = ids.filter((_, i) => undone[i]).sort(() => ((chances.next().value ?? 0) % 2) - 0.5);
        for (const id of order) await undo(id);
        const after = await state();
        await load((i) => !undone[i]);
        expect(after).toEqual(await state());
      },
    );
    await fc.assert(property, runs(25));
  });
});

const objectOf = ({ source, record }: { source: string; record: { externalIds: string[]; name: string } }) =>
  `${source} ${record.externalIds[0] ?? record.name}`;

/** What a source may say of a few indicators, in any way. */
const statements = fc.record({
  source: fc.constantFrom('One', 'Two'),
  records: fc.array(
    fc
      .record({
        value: fc.constantFrom('a.test-feed.net', 'b.test-feed.net', 'c.test-feed.net'),
        type: fc.constant<IndicatorType>('DOMAIN'),
        statedAt: fc.constantFrom(null, new Date('2026-01-01T00:00:00Z'), new Date('2026-03-01T00:00:00Z')),
        tlp: fc.constantFrom(null, 'GREEN' as const, 'RED' as const),
        confidence: fc.constantFrom(null, 10, 90),
        tags: fc.subarray(['x', 'y', 'z']),
        expiresAt: fc.constantFrom(null, new Date('2026-01-02T00:00:00Z'), new Date('2027-01-01T00:00:00Z')),
        id: fc.constantFrom(null, 'indicator--1', 'indicator--2'),
        isWithdrawn: fc.boolean(),
      })
      .map(({ type, value, id, isWithdrawn, ...fields }) =>
        indicatorRecord(type, value, {
          ...fields,
          ...(id && {
            externalIds: [id],
            records: [{ id, ...(fields.statedAt && { statedAt: fields.statedAt.toISOString() }) }],
            ...(isWithdrawn && { withdrawn: 'withdrawn by its source' }),
          }),
        }),
      ),
    { minLength: 1, maxLength: 4 },
  ),
});

const ENDS: ImportRecord[] = [
  campaignRecord('Linked'),
  ...[1, 2, 3].map((i) =>
    indicatorRecord('DOMAIN', `end${i}.test-feed.net`, { externalIds: [`indicator--end${i}`] }),
  ),
];

const LINKED: { source: string; record: ImportRecord }[] = ['Vendor', 'Events'].flatMap((source, i) => [
  ...[1, 2, 3].map((n) => ({
    source,
    record: relationshipRecord(`indicator--end${n}`, 'indicates', 'campaign:Linked', {
      tlp: i === 0 ? 'GREEN' : null,
    }) as ImportRecord,
  })),
  ...[1, 2, 3].map((n) => ({
    source,
    record: indicatorRecord('DOMAIN', `end${n}.test-feed.net`, { tags: [`${source}`], confidence: 30 * n }),
  })),
  { source, record: campaignRecord('Linked', { description: `by ${source}` }) },
]);
