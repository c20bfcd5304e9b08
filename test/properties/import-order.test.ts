import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntityState } from '../../src/entities/resolution/entity-state.ts';
import {
  mergeEntities,
  type StatedObject,
  sameEntity,
} from '../../src/entities/resolution/merge-entities.ts';
import type { ImportRecord, RejectedRecord } from '../../src/importers/importer.ts';
import { isForDetection, latestRecords, type SourceRecord } from '../../src/model/source-record.ts';
import {
  MAX_FILES,
  mergeStatements,
  type SourceDefaults,
  type Statement,
} from '../../src/model/statement.ts';
import { MOTIVATIONS, SEVERITIES, TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, reportRecord } from '../support/records.ts';
import { runs } from './runs.ts';

const SOURCES: Record<string, SourceDefaults> = {
  First: { tlp: 'GREEN', confidence: 50, severity: 'LOW' },
  Second: { tlp: 'AMBER', confidence: 50, severity: 'HIGH' },
  Third: { tlp: 'CLEAR', confidence: 90, severity: 'MEDIUM' },
};
const NAMES = Object.keys(SOURCES);

interface Said {
  source: string;
  record: ImportRecord;
}

const source = fc.constantFrom(...NAMES);
const tlp = fc.constantFrom(...TLPS);
const date = fc.constantFrom(
  ...['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-05-31T00:00:00.001Z', '2027-01-01T00:00:00Z'].map(
    (text) => new Date(text),
  ),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 });
const tags = fc.uniqueArray(fc.constantFrom('a', 'B', 'ключ'), { maxLength: 3 });

const statedFields = {
  statedAt: maybe(date),
  confidence: maybe(fc.constantFrom(0, 50, 90, 100)),
  severity: maybe(fc.constantFrom(...SEVERITIES)),
  firstSeen: maybe(date),
  lastSeen: maybe(date),
  expiresAt: maybe(date),
  forDetection: fc.boolean(),
  ofCertificate: fc.boolean(),
};

const fileId = (n: number) => `00000000-0000-4000-8000-0000000000${n + 10}`;

/** Anything about four observables, in spellings that mean the same; ids stand for one or several of them. */
const aboutIndicator = fc
  .record({
    source,
    value: fc.constantFrom('One.exe', 'ONE.exe', 'one.exe', 'two', 'TWO', 'three'),
    type: fc.constantFrom('FILENAME', 'MUTEX' as const),
    ids: fc.uniqueArray(fc.constantFrom('pattern--1', 'pattern--2'), { maxLength: 2 }),
    fields: fc.record({ ...statedFields, tags, tlp: maybe(tlp) }),
    file: fc.option(fc.constantFrom(fileId(1), fileId(2))),
  })
  .map(({ source: from, value, type, ids, fields, file }) => ({
    source: from,
    record: indicatorRecord(type, value, { ...fields, externalIds: ids, ...(file && { file }) }),
  }));

/** The versions of the objects of a source, each about one or several observables. */
const aboutVersions = fc
  .record({
    source,
    id: fc.constantFrom('indicator--1', 'indicator--2'),
    statedAt: fc.constantFrom(
      '2026-01-01T00:00:00.000Z',
      '2026-01-02T00:00:00.000Z',
      '2026-01-03T00:00:00.000Z',
    ),
    values: fc.uniqueArray(fc.constantFrom('One.exe', 'two.exe', 'three.exe'), {
      minLength: 1,
      maxLength: 2,
    }),
    isWithdrawn: fc.boolean(),
    fields: fc.record({ tags, tlp: maybe(tlp), forDetection: fc.boolean() }),
  })
  .map(({ source: from, id, statedAt, values, isWithdrawn, fields }) =>
    values.map((value) => ({
      source: from,
      record: indicatorRecord('FILENAME', value, {
        ...fields,
        externalIds: [id],
        statedAt: new Date(statedAt),
        records: [{ id, statedAt }],
        ...(isWithdrawn && { withdrawn: 'withdrawn by its source' }),
      }),
    })),
  );

const actorFields = fc.record({
  name: fc.constantFrom('Bear', 'BEAR', 'bear'),
  aliases: fc.uniqueArray(fc.constantFrom('Pawn', 'PAWN', 'Storm', 'x'), { maxLength: 3 }),
  description: maybe(fc.constantFrom('one', 'two')),
  country: maybe(fc.constantFrom('DE', 'FR')),
  motivation: maybe(fc.constantFrom(...MOTIVATIONS)),
  retired: fc.boolean(),
  lastSeen: maybe(date),
  targetSectors: fc.uniqueArray(fc.constantFrom('energy', 'finance'), { maxLength: 2 }),
  confidence: maybe(fc.constantFrom(10, 90)),
});

/**
 * What can be said of one object in any order (`mergeEntities`): by one source, as of one time; or by several,
 * once each, for different audiences. All of them call it the same: the first name makes its address.
 */
function saidOf<T>(
  fields: fc.Arbitrary<T>,
): fc.Arbitrary<{ source: string; tlp: Tlp; statedAt: Date | null; fields: T }[]> {
  const bySeveral = fc
    .tuple(fc.shuffledSubarray(NAMES, { minLength: 1 }), fc.shuffledSubarray([...TLPS], { minLength: 3 }))
    .chain(([names, tlps]) =>
      fc.tuple(
        ...names.map((name, i) =>
          fc.record({
            source: fc.constant(name),
            tlp: fc.constant(tlps[i] ?? 'RED'),
            statedAt: maybe(date),
            fields,
          }),
        ),
      ),
    );
  const byOne = fc
    .tuple(source, maybe(date), fc.array(fc.record({ tlp, fields }), { minLength: 1, maxLength: 4 }))
    .map(([name, statedAt, all]) => all.map((said) => ({ ...said, source: name, statedAt })));
  return fc.oneof(bySeveral, byOne);
}

const aboutActor = (number: number) =>
  saidOf(actorFields).map((all) =>
    all.map(({ source: from, fields, ...stated }) => ({
      source: from,
      record: actorRecord('', {
        ...fields,
        ...stated,
        externalIds: [`actor--${number}`],
        name: `${fields.name} ${number}`,
        aliases: fields.aliases.map((alias) => ({ alias: `${alias} ${number}`, namedBy: null })),
      }),
    })),
  );

const campaignFields = fc.record({
  description: maybe(fc.constant('text')),
  startDate: maybe(date),
  endDate: maybe(date),
});
const aboutCampaign = saidOf(campaignFields).map((all) =>
  all.map(({ source: from, fields, ...stated }) => ({
    source: from,
    record: campaignRecord('Storm', { ...fields, ...stated, externalIds: ['campaign--1'] }),
  })),
);
const aboutReport = saidOf(fc.record({ publishedAt: maybe(date), tags })).map((all) =>
  all.map(({ source: from, fields, ...stated }) => ({
    source: from,
    record: reportRecord('A report', { ...fields, ...stated, externalIds: ['report--1'] }),
  })),
);
const broken: RejectedRecord = { kind: 'rejected', of: 'indicator', reason: 'not valid', where: 'line 1' };

const objects = fc
  .tuple(
    fc.array(aboutIndicator, { minLength: 4, maxLength: 16, size: 'max' }),
    fc.array(aboutVersions, { maxLength: 8, size: 'max' }).map((versions) => versions.flat()),
    ...[aboutActor(1), aboutActor(2), aboutCampaign, aboutReport],
    fc.array(
      source.map((from) => ({ source: from, record: broken })),
      { maxLength: 2 },
    ),
  )
  .map((all): Said[] => all.flat());

const ends = [
  ...['pattern--1', 'pattern--2'].flatMap((id) => [
    relationshipRecord(id, 'indicates', 'actor--1'),
    relationshipRecord(id, 'indicates', 'campaign--1'),
    relationshipRecord('report--1', 'refers-to', id),
  ]),
  relationshipRecord('campaign--1', 'attributed-to', 'actor--2'),
  relationshipRecord('campaign--1', 'attributed-to', 'actor--9'),
  relationshipRecord('actor--1', 'indicates', 'actor--2'),
];
/** A source says a relationship for one audience; several may differ. Relationships come after what they join. */
const joins = fc
  .uniqueArray(fc.record({ source, join: fc.nat(ends.length - 1), tlp: maybe(tlp) }), {
    maxLength: 12,
    selector: ({ source: from, join }) => `${from} ${join}`,
  })
  // Two patterns may stand for one indicator: they must not differ either.
  .map((all) =>
    all.map((said) => ({
      ...said,
      tlp:
        all.find(({ source: from, join }) => from === said.source && sameJoin(join, said.join))?.tlp ?? null,
    })),
  )
  .map((all): Said[] =>
    all.flatMap(({ source: from, join, tlp: marking }) => {
      const record = ends[join];
      return record ? [{ source: from, record: { ...record, tlp: marking } }] : [];
    }),
  );

function sameJoin(a: number, b: number): boolean {
  return a === b || (a < 6 && b < 6 && a % 3 === b % 3);
}

/** An order, and where files end. */
const arrangement = fc.record({
  keys: fc.array(fc.nat(1_000_000), { minLength: 60, maxLength: 60 }),
  cuts: fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
});
type Arrangement = typeof arrangement extends fc.Arbitrary<infer T> ? T : never;

/** Files of one source each. */
function filesOf(said: Said[], { keys, cuts }: Arrangement): Said[][] {
  const keyed = said.map((item, i) => ({ item, key: keys[i % keys.length] ?? 0 }));
  const files: Said[][] = [];
  for (const [i, { item }] of keyed.sort((a, b) => a.key - b.key).entries()) {
    const current = files.at(-1);
    if (!current || cuts[i % cuts.length] || current[0]?.source !== item.source) files.push([item]);
    else current.push(item);
  }
  return files;
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeAll(async () => void (harness = await startHarness(engine)));
  afterAll(() => harness.close());

  it('imports yield the same state in any order, and a repeated import changes nothing', async () => {
    const property = fc.asyncProperty(
      objects,
      joins,
      fc.tuple(arrangement, arrangement, arrangement),
      async (things, links, [one, other, again]) => {
        await clear();
        await load([...filesOf(things, one), ...filesOf(links, one)]);
        const first = await shown();
        await clear();
        await load([...filesOf(things, other), ...filesOf(links, other)]);
        expect(await shown()).toEqual(first);
        const before = await revision();
        const kinds = await load(filesOf([...things, ...links], again));
        expect(await revision()).toBe(before);
        for (const counts of kinds) expect(counts).toMatchObject({ new: 0, updated: 0 });
      },
    );
    await fc.assert(property, runs(6));
  });

  it('replaces a version that its source both states and withdraws like any other', async () => {
    const version = (value: string, day: string, isWithdrawn = false) =>
      indicatorRecord('FILENAME', value, {
        externalIds: ['indicator--1'],
        statedAt: new Date(`2026-01-${day}T00:00:00.000Z`),
        records: [{ id: 'indicator--1', statedAt: `2026-01-${day}T00:00:00.000Z` }],
        ...(isWithdrawn && { withdrawn: 'withdrawn by its source' }),
      });
    const versions = [version('one', '02'), version('one', '02', true), version('two', '03')];
    const orders = [0, 1, 2].flatMap((a) => [0, 1, 2].flatMap((b) => (a === b ? [] : [[a, b, 3 - a - b]])));
    for (const order of orders) {
      await clear();
      for (const n of order) await harness.load([versions[n]] as ImportRecord[]);
      const before = await revision();
      for (const one of versions) await harness.load([one]);
      expect([order, await revision()]).toEqual([order, before]);
    }
  });

  it('does not alternate between two statements of the same time', async () => {
    await clear();
    const records = [
      actorRecord('Bear', { description: null, country: 'DE' }),
      actorRecord('Bear', { description: 'x', country: 'FR' }),
    ];
    await harness.load(records);
    const { kinds } = await harness.load(records);
    expect(kinds.get('actor')).toMatchObject({ unchanged: 2, updated: 0 });
  });

  it('keeps apart objects of one name whose ids share a prefix', async () => {
    await clear();
    const [one, two, three, four] = [1, 2, 3, 4].map(
      (n) => `report--00000000-0000-4000-8000-00000000000${n}`,
    );
    const { kinds } = await harness.load([
      reportRecord('X', { externalIds: [one ?? ''] }),
      reportRecord('X', { externalIds: [two ?? ''] }),
      reportRecord('X', { externalIds: [three ?? ''] }),
      reportRecord('X 00000000-0000-4000-8000-000000000004'),
      reportRecord('X', { externalIds: [four ?? ''] }),
    ]);
    expect(kinds.get('report')).toMatchObject({ new: 5 });
  });

  it('a repeated import does not change an actor with unordered names', async () => {
    await clear();
    const aliases = ['x', 'Pawn', 'PAWN', 'bear'].map((alias) => ({ alias, namedBy: null }));
    await harness.load([actorRecord('Bear', { aliases })]);
    const { kinds } = await harness.load([actorRecord('Bear', { aliases })]);
    expect(kinds.get('actor')).toMatchObject({ unchanged: 1, updated: 0 });
  });

  it('does not reveal a restricted value that a later public statement omits', async () => {
    await clear();
    const at = (day: string) => ({
      externalIds: ['actor--1'],
      statedAt: new Date(`2026-01-${day}T00:00:00Z`),
    });
    await harness.load([
      actorRecord('Bear', { ...at('01'), tlp: 'RED', country: 'DE' }),
      actorRecord('Bear', { ...at('02'), tlp: 'CLEAR' }),
    ]);
    expect((await harness.get('/api/v1/actors')).json().data[0]).toMatchObject({
      tlp: 'CLEAR',
      country: null,
    });
  });

  it('does not keep a restricted name in the slug', async () => {
    await clear();
    await harness.load([actorRecord('Secret Op', { externalIds: ['actor--1'], tlp: 'RED' })], 'First');
    await harness.load([actorRecord('Bear', { externalIds: ['actor--1'], tlp: 'CLEAR' })], 'Second');
    expect((await harness.get('/api/v1/actors')).json().data[0]).toMatchObject({
      name: 'Bear',
      slug: 'bear',
    });
  });

  async function clear(): Promise<void> {
    await sql`truncate enrichment, enrichment_request, whitelist_hit, indicator_source, indicator, actor, campaign, report, relationship, external_id, record_withdrawal`.execute(
      harness.db,
    );
  }

  async function load(files: Said[][]) {
    const tallies = [];
    for (const file of files) {
      const from = file[0]?.source ?? '';
      const { kinds } = await harness.load(
        file.map(({ record }) => record),
        from,
        SOURCES[from],
      );
      for (const counts of kinds.values()) {
        expect(counts.read).toBe(counts.new + counts.updated + counts.unchanged + counts.rejected);
      }
      const read = ['indicator', 'actor', 'campaign', 'report'].map(
        (kind) => kinds.get(kind as 'indicator')?.read ?? 0,
      );
      const given = file.filter(({ record }) => record.kind !== 'relationship').length;
      expect(read.reduce((a, b) => a + b)).toBe(given);
      tallies.push(...kinds.values());
    }
    return tallies;
  }

  async function revision(): Promise<number> {
    return (await harness.db.selectFrom('revision').select('value').executeTakeFirstOrThrow()).value;
  }

  /** All that the API shows, and the files that sources state. */
  async function shown() {
    const read = async (url: string) => (await harness.get(url)).json();
    const [indicators, actors, campaigns] = [
      await read('/api/v1/indicators'),
      await read('/api/v1/actors'),
      await read('/api/v1/campaigns'),
    ];
    const contexts = [];
    for (const { id } of indicators.data) contexts.push(await read(`/api/v1/indicators/${id}/context`));
    const details = [];
    for (const { id } of actors.data) details.push(await read(`/api/v1/actors/${id}`));
    const { rows: files } = await sql`
      select i.id, of.name, s.files from indicator_source as s join indicator as i on i.number = s.indicator_number join source as of on of.id = s.source_id
      order by 1, 2
    `.execute(harness.db);
    return { indicators, actors, campaigns, contexts, details, files };
  }
});

/** Of a few ids and times, so that merging replaces some. */
const sourceRecord: fc.Arbitrary<SourceRecord> = fc.record(
  {
    id: fc.constantFrom('indicator--1', 'indicator--2', 'indicator--3'),
    statedAt: fc.constantFrom('2026-05-01T00:00:00.000Z', '2026-05-02T00:00:00.000Z'),
    description: fc.constantFrom('one', 'two'),
    object: fc.constantFrom({ id: '1', name: 'file', relation: 'md5' }, { name: 'file', id: '2' }),
    forDetection: fc.constant<false>(false),
    withdrawn: fc.constant<true>(true),
    replaced: fc.constant<true>(true),
  },
  { requiredKeys: [] },
);

describe('merging statements', () => {
  const anyStatement: fc.Arbitrary<Statement> = fc.record({
    ...statedFields,
    tlp,
    importedAt: date,
    tags: tags.map((list) => [...list].sort()),
    delistedAt: fc.option(date),
    kev: fc.option(
      fc.record({
        dateAdded: fc.constantFrom(null, '2026-05-01', '2026-05-02'),
        dueDate: fc.constantFrom(null, '2026-06-01'),
        knownRansomware: fc.boolean(),
        requiredAction: fc.constantFrom(null, 'Patch.', 'Remove.'),
      }),
    ),
    records: fc.uniqueArray(sourceRecord, { maxLength: 4 }).map(latestRecords),
    files: fc
      .uniqueArray(fc.nat(2 * MAX_FILES).map(fileId), { maxLength: MAX_FILES })
      .map((files) => files.sort()),
  });
  // A statement with records is for detection if one of them is.
  const statement = anyStatement.map((said) => ({
    ...said,
    forDetection: said.records.length > 0 ? said.records.some(isForDetection) : said.forDetection,
  }));

  it('of one source is commutative, associative and idempotent', () => {
    const property = fc.property(statement, statement, statement, (a, b, c) => {
      expect(mergeStatements(a, b)).toEqual(mergeStatements(b, a));
      expect(mergeStatements(mergeStatements(a, b), c)).toEqual(mergeStatements(a, mergeStatements(b, c)));
      expect(mergeStatements(a, a)).toEqual(a);
      expect(mergeStatements(mergeStatements(a, b), a)).toEqual(mergeStatements(a, b));
    });
    fc.assert(property, runs(500));
  });

  const state: fc.Arbitrary<EntityState> = fc.record({
    id: fc.constant('1'),
    sourceId: fc.constant('1'),
    statedAt: fc.constant(null),
    tlp,
    confidence: fc.constantFrom(10, 90),
    columns: fc.record({
      name: fc.constantFrom('Bear', 'Fancy'),
      aliases: fc
        .uniqueArray(fc.constantFrom('Pawn', 'PAWN', 'Fancy', 'Storm'), { maxLength: 3 })
        .map((all) => all.map((alias) => ({ alias, namedBy: null }))),
      description: maybe(fc.constantFrom('one', 'two')),
      motivation: fc.constantFrom('UNKNOWN', 'FINANCIAL', 'ESPIONAGE'),
      retired: fc.boolean(),
      target_sectors: fc.uniqueArray(fc.constantFrom('energy', 'finance'), { maxLength: 2 }),
    }),
  });

  it('of entities with equal times is commutative, associative and idempotent', () => {
    const expectSame = (a: StatedObject, b: StatedObject) =>
      expect(sameEntity(a.state, b.state), JSON.stringify([a, b])).toBe(true);
    const object = fc.record({ state, externalIds: fc.constant<string[]>([]) });
    const property = fc.property(object, object, object, (a, b, c) => {
      expectSame(mergeEntities(a, b), mergeEntities(b, a));
      expectSame(mergeEntities(mergeEntities(a, b), c), mergeEntities(a, mergeEntities(b, c)));
      expectSame(mergeEntities(mergeEntities(a, b), a), mergeEntities(a, b));
    });
    fc.assert(property, runs(500));
  });

  const withdrawable = fc
    .record({ tlp, statedAt: maybe(date), withdrawn: fc.boolean() })
    .map(({ withdrawn, statedAt, ...stated }): StatedObject => {
      const columns = { title: 'R', ...(withdrawn && statedAt !== null && { withdrawn }) };
      return {
        state: { id: '1', sourceId: '1', confidence: 50, statedAt, columns, ...stated },
        externalIds: [],
      };
    });

  it('of a withdrawn object is commutative, associative and idempotent, and the latest decides', () => {
    const property = fc.property(fc.array(withdrawable, { minLength: 1, maxLength: 5 }), (all) => {
      const merged = all.reduce(mergeEntities);
      expect(all.reduceRight((late, early) => mergeEntities(early, late)).state).toEqual(merged.state);
      expect([...all].reverse().reduce(mergeEntities).state).toEqual(merged.state);
      expect([...all, ...all].reduce(mergeEntities).state).toEqual(merged.state);
      const times = all.map(({ state: { statedAt } }) => statedAt?.getTime() ?? 0);
      const latest = all.filter((_, i) => times[i] === Math.max(...times));
      const isWithdrawn = latest.some(({ state: { columns } }) => columns.withdrawn === true);
      expect(merged.state.columns.withdrawn === true).toBe(isWithdrawn);
    });
    fc.assert(property, runs(500));
  });
});
