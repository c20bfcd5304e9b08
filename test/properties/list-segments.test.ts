import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type IndicatorFilters,
  SORTS,
  type SortedPage,
} from '../../src/indicators/read/indicators.queries.ts';
import { readSortedPage } from '../../src/indicators/read/sorted-list.queries.ts';
import { countSegments } from '../../src/indicators/segments/count-segments.queries.ts';
import { SEVERITIES, TLPS } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { sumAt } from '../support/sums.ts';
import { runs } from './runs.ts';

const HOUR = 3_600_000;
const TYPES = ['DOMAIN', 'URL', 'MUTEX'] as const;
const SIZES = { size: 4, atOnce: 3, kept: 3, fewest: 2 };
const TAGS = ['common', 'half', 'rare'];
const SOURCES = ['One', 'Other'];
const source = fc.constantFrom(...SOURCES);
/** Many rows share a time: more than a segment has. The unit is an hour or half a week. */
const ago = fc.oneof(fc.constant(3), fc.nat(12));

const value = fc.nat(80);
const some = fc.uniqueArray(value, { minLength: 5, maxLength: 20 });
const counting = fc.record({ what: fc.constant('count' as const), ahead: fc.nat(20) });
const importing = (minLength: number, maxLength: number) =>
  fc.record({
    what: fc.constant('import' as const),
    source,
    rows: fc.array(
      fc.record({
        value,
        ago,
        severity: fc.constantFrom(...SEVERITIES),
        tlp: fc.constantFrom(...TLPS),
        confidence: fc.oneof({ weight: 4, arbitrary: fc.constant(50) }, fc.constantFrom(0, 7, 99, 100)),
        lives: fc.option(fc.nat(30), { freq: 2 }),
        tags: fc.subarray(TAGS),
      }),
      { minLength, maxLength, size: 'max' },
    ),
  });
const change = fc.oneof(
  importing(1, 10),
  counting,
  fc.record({ what: fc.constantFrom('whitelist' as const, 'list' as const), value }),
  fc.record({ what: fc.constant('withdraw' as const), values: some, source }),
  fc.record({ what: fc.constant('mark' as const), values: some, source, tlp: fc.constantFrom(...TLPS) }),
  fc.record({ what: fc.constant('sums' as const), ahead: fc.nat(20) }),
  fc.record({ what: fc.constant('wait' as const), seconds: fc.nat(20) }),
);
/** The counts are discarded. */
const deletion = fc.record({ what: fc.constant('delete' as const), value });
type Step = typeof change extends fc.Arbitrary<infer T> ? T | { what: 'delete'; value: number } : never;
const q = fc.constantFrom('d', '1', '.', 'd1', 'x2', 'zz', 'ö', 'M');
const ofRows = {
  type: fc.constantFrom(...TYPES),
  types: fc.subarray([...TYPES], { minLength: 1 }),
  severity: fc.constantFrom(...SEVERITIES),
  minConfidence: fc.constantFrom(0, 5, 10, 50, 93, 100),
  /** As many units ago. */
  since: ago.map(String),
  tag: fc.constantFrom(...TAGS),
  sourceId: source,
};
const anyRequest = fc.record({
  filters: fc.oneof(
    fc.constant({}),
    fc.record({ severity: ofRows.severity }),
    fc.record({ since: ofRows.since }),
    fc.record(
      { tag: ofRows.tag, minConfidence: fc.constantFrom(0, 10, 50, 100), since: ofRows.since },
      { requiredKeys: ['tag'] },
    ),
    fc.record({ tag: ofRows.tag, severity: ofRows.severity, since: ofRows.since }, { requiredKeys: ['tag'] }),
    fc.record(
      { sourceId: source, minConfidence: fc.constantFrom(0, 10, 50, 100), since: ofRows.since },
      { requiredKeys: ['sourceId'] },
    ),
    fc.record(
      { sourceId: source, type: ofRows.type, severity: ofRows.severity },
      { requiredKeys: ['sourceId'] },
    ),
    fc.record(
      {
        severity: ofRows.severity,
        minConfidence: ofRows.minConfidence,
        tag: ofRows.tag,
        since: ofRows.since,
      },
      { requiredKeys: ['severity', 'minConfidence'] },
    ),
    fc.record(
      { types: ofRows.types, minConfidence: ofRows.minConfidence, sourceId: source, since: ofRows.since },
      { requiredKeys: ['types', 'minConfidence'] },
    ),
    fc.record(ofRows, { requiredKeys: [] }),
    fc.record({ q }),
    fc.record({ q, ...ofRows }, { requiredKeys: ['q'] }),
  ),
  ceiling: fc.constantFrom(...TLPS),
  page: fc.integer({ min: 1, max: 8 }),
  pageSize: fc.integer({ min: 1, max: 9 }),
  sort: fc.option(
    fc.record({ by: fc.constantFrom(...SORTS, 'confidence' as const), ascending: fc.boolean() }),
    {
      nil: undefined,
      freq: 3,
    },
  ),
  ahead: fc.integer({ min: -5, max: 25 }),
  scanFirst: fc.constantFrom(5, 100),
  inRange: fc.constantFrom(0, 1),
});

/** Pages of lists by the first sighting since a time, for which the segments with the first matches are looked for. */
const requestSince = fc.record({
  filters: fc.record(
    { since: ofRows.since, severity: ofRows.severity, sourceId: source },
    { requiredKeys: ['since'] },
  ),
  ceiling: fc.constantFrom('AMBER' as const, 'RED' as const),
  page: fc.integer({ min: 1, max: 3 }),
  pageSize: fc.integer({ min: 1, max: 3 }),
  sort: fc.record({ by: fc.constant('firstSeen' as const), ascending: fc.boolean() }),
  ahead: fc.integer({ min: -5, max: 25 }),
  scanFirst: fc.constant(5),
  inRange: fc.constant(0),
});
const request = fc.oneof({ weight: 3, arbitrary: anyRequest }, { weight: 1, arbitrary: requestSince });

const textOf = (n: number): [(typeof TYPES)[number], string] => {
  const type = TYPES[n % TYPES.length] ?? 'MUTEX';
  return [type, { DOMAIN: `d${n}.example`, URL: `https://d${n}.example/`, MUTEX: `mutex ${n}` }[type]];
};

onEveryEngine((engine) => {
  let harness: Harness;
  /** By name. */
  const sourceIds = new Map<string, string>();
  beforeAll(async () => {
    harness = await startHarness(engine);
    for (const name of SOURCES) await harness.load([], name);
    const sources = await harness.db.selectFrom('source').select(['id', 'name']).execute();
    for (const { id, name } of sources) sourceIds.set(name, id);
  });
  afterAll(() => harness.close());

  const after = (seconds: number) => new Date(harness.clock.now.getTime() + seconds * 1000);

  async function apply(step: Step, unit: number): Promise<void> {
    const { db } = harness;
    harness.clock.now = after(1);
    if (step.what === 'import')
      await harness.load(
        step.rows.map(({ value: n, ago, lives, ...fields }) =>
          indicatorRecord(...textOf(n), {
            ...fields,
            lastSeen: new Date(NOW.getTime() - ago * unit),
            // Few were first seen long before.
            firstSeen: new Date(NOW.getTime() - (ago + (n % 7 === 0 ? 12 : n % 3)) * unit),
            expiresAt: lives === null ? null : after(lives),
          }),
        ),
        step.source,
      );
    else if (step.what === 'count') await countSegments(db, after(step.ahead - 10), SIZES);
    else if (step.what === 'sums') await sumAt(db, after(step.ahead - 10));
    else if (step.what === 'wait') harness.clock.now = after(step.seconds);
    else if (step.what === 'withdraw' || step.what === 'mark') await changeStatements(step);
    else await changeOne(step.what, step.value);
  }

  /** With the next revision, too, but perhaps without a change of the indicators. */
  async function changeStatements({
    source,
    values,
    ...step
  }: Step & { what: 'withdraw' | 'mark' }): Promise<void> {
    const texts = values.map((n) => textOf(n)[1]);
    const statements = sql`source_id = ${sourceIds.get(source)}
      and indicator_number in (select number from indicator where value = any (${texts}::text[]))`;
    await (step.what === 'mark'
      ? sql`update indicator_source set tlp = ${step.tlp}::tlp where ${statements}`
      : sql`delete from indicator_source where ${statements}`
    ).execute(harness.db);
    await sql`update revision set value = value + 1`.execute(harness.db);
  }

  /** As the product does: with the next revision. */
  async function changeOne(what: 'whitelist' | 'list' | 'delete', n: number): Promise<void> {
    const [, text] = textOf(n);
    if (what === 'delete') await sql`delete from indicator where value = ${text}`.execute(harness.db);
    else
      await sql`with changed as (
          update indicator set whitelisted = ${what === 'whitelist'}, revision = (select value + 1 from revision) where value = ${text})
        select 1`.execute(harness.db);
    await sql`update revision set value = value + 1`.execute(harness.db);
  }

  async function naive(
    filters: IndicatorFilters,
    ceiling: string,
    now: Date,
    { by, ascending }: NonNullable<SortedPage['sort']> = { by: 'lastSeen', ascending: false },
  ): Promise<string[]> {
    const column =
      { lastSeen: 'last_seen', firstSeen: 'first_seen', epss: "(epss ->> 'score')::float8" }[by as string] ??
      by;
    const direction = `${ascending ? 'asc' : 'desc'}${by === 'epss' ? ' nulls last' : ''}`;
    const { q, type, types, severity, minConfidence, since, tag, sourceId } = filters;
    const { rows } = await sql<{ id: string }>`select id from indicator
      where not whitelisted and tlp <= ${ceiling}::tlp and coalesce(expires_at > ${now}::timestamptz, true)
        and (${type ?? null}::text is null or type::text = ${type ?? ''})
        and (${types ?? null}::text[] is null or type::text = any (${types ?? []}::text[]))
        and (${severity ?? null}::text is null or severity::text = ${severity ?? ''})
        and strpos(coalesce(search_text, normalized), ${(q ?? '').toLowerCase()}) > 0
        and confidence >= ${minConfidence ?? 0}
        and (${tag ?? null}::text is null or ${tag ?? ''} = any (tags))
        and (${sourceId ?? null}::text is null or exists (
          select from indicator_source as s
          where s.indicator_number = indicator.number and s.source_id::text = ${sourceId ?? ''} and s.tlp <= ${ceiling}::tlp))
        and (${since ?? null}::text is null or last_seen >= ${since ?? NOW}::timestamptz)
      order by ${sql.raw(`${column} ${direction}`)}, last_seen desc, id`.execute(harness.db);
    return rows.map(({ id }) => id);
  }

  it('returns exact pages and totals from segments that were counted at any earlier time', async () => {
    const property = fc.asyncProperty(
      importing(40, 80),
      fc.option(importing(30, 40)),
      fc.array(fc.oneof({ weight: 8, arbitrary: change }, { weight: 1, arbitrary: deletion }), {
        maxLength: 6,
      }),
      counting,
      fc.array(change, { minLength: 1, maxLength: 3 }),
      fc.array(request, { minLength: 40, maxLength: 40 }),
      fc.constantFrom(HOUR, 84 * HOUR),
      async (first, more, before, count, since, requests, unit) => {
        await sql`truncate indicator, indicator_source, indicator_history cascade`.execute(harness.db);
        await countSegments(harness.db, harness.clock.now, SIZES);
        // After the second one, segments that have been counted are divided.
        const divided = more ? [{ ...count, ahead: 10 }, more] : [];
        for (const step of [first, ...divided, ...before, count, ...since]) await apply(step, unit);
        for (const { filters: named, ceiling, ahead, scanFirst, inRange, ...page } of requests) {
          const now = after(ahead);
          const sourceId = 'sourceId' in named ? sourceIds.get(named.sourceId ?? '') : undefined;
          const filters = {
            ...named,
            ...(sourceId && { sourceId }),
            ...('since' in named && {
              since: new Date(NOW.getTime() - Number(named.since) * unit).toISOString(),
            }),
          } as IndicatorFilters;
          const expected = await naive(filters, ceiling, now, page.sort);
          const of = {
            principal: { tlpCeiling: ceiling, now },
            filters,
            page: page as SortedPage,
          };
          const bounds = {
            materialize: 10,
            materializeStated: 5,
            scanFirst,
            scanFirstSorted: scanFirst,
            deep: 0,
            changes: 1_000,
            inRange,
          };
          const { total, rows } = await readSortedPage(
            harness.db,
            of,
            sql<{ one: number }>`1 as one`,
            bounds,
          );
          const from = (page.page - 1) * page.pageSize;
          expect({ total, ids: rows.map(({ id }) => id) }).toEqual({
            total: expected.length,
            ids: expected.slice(from, from + page.pageSize),
          });
        }
      },
    );
    await fc.assert(property, runs(8));
  });
});
