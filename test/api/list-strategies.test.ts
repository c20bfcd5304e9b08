import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type IndicatorFilters, SORTS } from '../../src/indicators/read/indicators.queries.ts';
import { listIndicators, readPage } from '../../src/indicators/read/list.queries.ts';
import { countSegments } from '../../src/indicators/segments/count-segments.queries.ts';
import { SEVERITIES, TLPS } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { recording } from '../support/recording.ts';

const HOUR = 3_600_000;
const COUNT = 60;
const TAGS = ['often', 'seldom', 'old'];

/** A third are vulnerabilities, of which some have a score and some are exploited. */
function identityOf(i: number): ['DOMAIN' | 'URL' | 'CVE', string] {
  if (i % 3 === 0) return ['URL', `https://test-feed.net/n${i}`];
  return i % 3 === 1 ? ['DOMAIN', `n${i}.test-feed.net`] : ['CVE', `CVE-2026-1${String(i).padStart(3, '0')}`];
}

const scores = Array.from({ length: COUNT }, (_, i) => i)
  .filter((i) => i % 3 === 2 && i % 4 > 0)
  .map((i) => ({
    kind: 'score' as const,
    cve: identityOf(i)[1],
    score: (i % 5) / 5,
    percentile: 0.5,
    date: '2026-05-01',
  }));

const CONFIDENCE = [50, 80, 50, 10, 50];

/** Many share a sighting; some expire soon, some have expired; one tag is only on the oldest. */
const records = Array.from({ length: COUNT }, (_, i) =>
  indicatorRecord(...identityOf(i), {
    severity: SEVERITIES[i % SEVERITIES.length] ?? 'LOW',
    tlp: TLPS[i % TLPS.length] ?? 'RED',
    confidence: CONFIDENCE[i % CONFIDENCE.length] ?? null,
    lastSeen: new Date(NOW.getTime() - Math.floor(i / 4) * HOUR),
    expiresAt: i % 7 ? null : new Date(NOW.getTime() + (i % 2 ? 1 : -1) * i * 1000),
    forDetection: i % 5 > 0,
    ...(i % 6 === 5 && {
      kev: { dateAdded: null, dueDate: null, knownRansomware: i % 4 === 1, requiredAction: null },
    }),
    tags: [...(i % 2 ? ['often'] : []), ...(i % 20 ? [] : ['seldom']), ...(i > 50 ? ['old'] : [])],
  }),
);

const everyFilter = {
  q: fc.constantFrom('n', 'n1', 'n12', 'test-feed', 'nothing'),
  type: fc.constantFrom('DOMAIN' as const, 'URL' as const, 'CVE' as const),
  severity: fc.constantFrom(...SEVERITIES),
  tag: fc.constantFrom(...TAGS, 'never'),
  minConfidence: fc.constantFrom(0, 50, 80),
  confidence: fc.constantFrom(...CONFIDENCE),
  forDetection: fc.boolean(),
  exploited: fc.boolean(),
  minEpss: fc.constantFrom(0, 0.2, 0.6, 1),
  since: fc.constantFrom(new Date(NOW.getTime() - 5 * HOUR).toISOString()),
  source: fc.constantFrom('Test', 'Other', 'None'),
};
type Filters = {
  [Name in keyof typeof everyFilter]?: (typeof everyFilter)[Name] extends fc.Arbitrary<infer Value>
    ? Value
    : never;
};
/** With more of them at once hardly anything matches. */
const some = fc
  .tuple(fc.record(everyFilter), fc.subarray(Object.keys(everyFilter), { maxLength: 3 }))
  .map(
    ([all, names]): Filters =>
      Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))),
  );
const { tag, source, confidence, minConfidence, severity } = everyFilter;
const filters: fc.Arbitrary<Filters> = fc.oneof(
  { weight: 3, arbitrary: some },
  fc.record({ tag, confidence }),
  fc.record(
    { source, confidence, severity, exploited: everyFilter.exploited },
    { requiredKeys: ['source', 'confidence'] },
  ),
  fc.record({ severity, minConfidence, tag }, { requiredKeys: ['severity', 'minConfidence'] }),
);
const bounds = fc.record({
  materialize: fc.nat(20),
  scanFirst: fc.nat(20),
  scanFirstSorted: fc.nat(20),
  materializeStated: fc.nat(5),
  inRange: fc.constantFrom(0, 2),
  deep: fc.nat(20),
  changes: fc.constantFrom(1, 40, 1_000),
});
const page = fc.record({
  page: fc.integer({ min: 1, max: 25 }),
  pageSize: fc.integer({ min: 1, max: 30 }),
  sort: fc.option(fc.record({ by: fc.constantFrom(...SORTS), ascending: fc.boolean() }), { nil: undefined }),
});

onEveryEngine((engine) => {
  let harness: Harness;
  const sourceIds = new Map<string, string>();
  beforeAll(async () => {
    harness = await startHarness(engine);
    // Most of the segments' counts have to be corrected.
    const before = records
      .slice(0, 45)
      .map((record, i) => (i % 9 ? record : { ...record, severity: 'INFO' as const }));
    await harness.load(before);
    await countSegments(harness.db, new Date(NOW.getTime() + 10_000), { size: 5, kept: 5, fewest: 2 });
    await harness.load([...records, ...scores]);
    await harness.load(
      records
        .filter((_, i) => i % 4 === 3)
        .map((record, i) => ({ ...record, tlp: TLPS[i % TLPS.length] ?? 'RED' })),
      'Other',
    );
    await harness.load([], 'None');
    const sources = await harness.db.selectFrom('source').select(['id', 'name']).execute();
    for (const { id, name } of sources) sourceIds.set(name, id);
  });
  afterAll(() => harness.close());

  /** In plain SQL, without an index to think of. */
  const naive = async (
    wanted: IndicatorFilters,
    ceiling: string,
    now: Date,
    by: string,
    ascending: boolean,
  ) => {
    const column =
      { lastSeen: 'last_seen', firstSeen: 'first_seen', epss: "(epss ->> 'score')::float8" }[by] ?? by;
    const { rows } = await sql<{ id: string }>`select id from indicator
      where not whitelisted and tlp <= ${ceiling}::tlp and coalesce(expires_at > ${now}::timestamptz, true)
        and (${wanted.q ?? null}::text is null or strpos(lower(normalized), ${wanted.q ?? ''}) > 0)
        and (${wanted.type ?? null}::text is null or type::text = ${wanted.type ?? ''})
        and (${wanted.severity ?? null}::text is null or severity::text = ${wanted.severity ?? ''})
        and (${wanted.tag ?? null}::text is null or ${wanted.tag ?? ''} = any (tags))
        and confidence >= ${wanted.minConfidence ?? 0}
        and (${wanted.confidence ?? null}::int is null or confidence = ${wanted.confidence ?? 0}::int)
        and (${wanted.forDetection ?? null}::boolean is null or for_detection = ${wanted.forDetection ?? true})
        and (${wanted.exploited ?? null}::boolean is null or (kev is not null) = ${wanted.exploited ?? true})
        and (${wanted.minEpss ?? null}::float8 is null or (epss ->> 'score')::float8 >= ${wanted.minEpss ?? 0}::float8)
        and (${wanted.since ?? null}::text is null or last_seen >= ${wanted.since ?? NOW}::timestamptz)
        and (${wanted.sourceId ?? null}::text is null or exists (select from indicator_source as said
          where said.indicator_number = indicator.number and said.source_id = ${wanted.sourceId ?? null}::uuid and said.tlp <= ${ceiling}::tlp))
      order by ${sql.raw(`${column} ${ascending ? 'asc' : 'desc'}${by === 'epss' ? ' nulls last' : ''}`)}, last_seen desc, id`.execute(
      harness.db,
    );
    return rows.map(({ id }) => id);
  };

  it('returns the same page and total with every strategy', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          filters,
          bounds,
          page,
          ceiling: fc.constantFrom(...TLPS),
          later: fc.nat(120),
          isRare: fc.boolean(),
          only: fc.constantFrom(undefined, undefined, 'by-others' as const),
        }),
        async ({
          filters: { source, ...wanted },
          bounds: within,
          page: asked,
          ceiling,
          later,
          isRare,
          only,
        }) => {
          const now = new Date(NOW.getTime() + later * 500);
          const sourceId = source === undefined ? undefined : sourceIds.get(source);
          const of = {
            principal: { tlpCeiling: ceiling, now },
            filters: { ...wanted, ...(sourceId && { sourceId }) } as IndicatorFilters,
          };
          const { sort, ...plain } = asked;
          const given = await readPage(
            harness.db,
            { ...of, page: sort ? { ...plain, sort } : plain, isRare },
            sql<{ one: number }>`1 as one`,
            within,
            undefined,
            only,
          );
          const { by = 'lastSeen', ascending = false } = sort ?? {};
          const all = await naive(of.filters, ceiling, now, by, ascending);
          const from = (asked.page - 1) * asked.pageSize;
          expect({ total: given.total, ids: given.rows.map(({ id }) => id) }).toEqual({
            total: all.length,
            ids: all.slice(from, from + asked.pageSize),
          });
          expect(given.first.one).toBe(1);
        },
      ),
      runs(300),
    );
  });

  const ofSubsets = [{ tag: 'often' }, { source: 'Test' as const }].flatMap(
    (subset): [Filters, boolean][] => [
      [{ ...subset, confidence: 80 }, true],
      [{ ...subset, confidence: 80 }, false],
      [{ ...subset, type: 'DOMAIN', minConfidence: 50 }, false],
    ],
  );
  it.runIf(engine.name === 'postgresql').each(ofSubsets)(
    'reads %j from the segments, also as a rare value (%s)',
    async ({ source, ...wanted }, isRare) => {
      const sourceId = source === undefined ? undefined : sourceIds.get(source);
      const of = {
        principal: { tlpCeiling: 'RED' as const, now: NOW },
        filters: { ...wanted, ...(sourceId && { sourceId }) },
        isRare,
      };
      const all = await naive(of.filters, 'RED', NOW, 'lastSeen', false);
      const within = {
        materialize: 1,
        materializeStated: 1,
        inRange: 2,
        scanFirst: 1,
        scanFirstSorted: 1,
        deep: 0,
        changes: 1_000,
      };
      const pages: string[] = [];
      for (let page = 1; pages.length < all.length; page++) {
        const { total, rows } = await readPage(
          harness.db,
          { ...of, page: { page, pageSize: 3 } },
          sql`1`,
          within,
          undefined,
          'segments',
        );
        expect([total, rows.length]).toEqual([all.length, Math.min(3, all.length - pages.length)]);
        pages.push(...rows.map(({ id }) => id));
      }
      expect(pages.length).toBeGreaterThan(3);
      expect(pages).toEqual(all);
    },
  );

  it.each<[boolean, IndicatorFilters]>([
    [true, {}],
    [true, { type: 'URL', severity: 'LOW', minConfidence: 50 }],
    [true, { forDetection: true }],
    [true, { type: 'URL', since: NOW.toISOString() }],
    [false, { forDetection: true, since: NOW.toISOString() }],
    [false, { tag: 'often' }],
    [false, { q: 'n12' }],
  ])('uses a generic plan where no parameter affects the plan: %s for %o', async (once, wanted) => {
    const { db, sent } = recording(harness.db);
    await listIndicators(db, { tlpCeiling: 'RED', now: NOW }, wanted, { page: 1, pageSize: 10 });
    expect(sent.at(-1)?.preparation?.plan === 'generic').toBe(once);
  });

  it('uses the same statements for every page size', async () => {
    const { db, sent } = recording(harness.db);
    for (const pageSize of [1, 7, 500])
      for (const page of [1, 2])
        await listIndicators(db, { tlpCeiling: 'RED', now: NOW }, {}, { page, pageSize });
    expect(new Set(sent.map(({ sql }) => sql)).size).toBe(2);
  });
});
