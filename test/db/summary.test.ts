import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { visible } from '../../src/db/visibility.ts';
import { sumExpiries } from '../../src/indicators/expiry/sums.ts';
import type { IndicatorFilters } from '../../src/indicators/read/indicators.queries.ts';
import { countMatches } from '../../src/indicators/read/summaries.queries.ts';
import { SEVERITIES, TLPS } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const value = fc.nat(7);
const source = fc.constantFrom('One', 'Two');
const writes = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        what: fc.constant('import' as const),
        source,
        values: fc.array(
          fc.record({
            value,
            severity: fc.constantFrom(...SEVERITIES),
            tlp: fc.constantFrom(...TLPS),
            confidence: fc.constantFrom(20, 80),
            lives: fc.option(fc.constantFrom(3, 10, 30)),
            tags: fc.subarray(['a', 'b', 'c']),
          }),
          { minLength: 1, maxLength: 6 },
        ),
      }),
    },
    fc.record({ what: fc.constant('score' as const), value, confidence: fc.constantFrom(20, 80) }),
    fc.record({ what: fc.constantFrom('whitelist' as const, 'list' as const, 'delete' as const), value }),
    // Statements of both sources, in one statement of SQL.
    fc.record({ what: fc.constant('retract' as const), values: fc.uniqueArray(value, { minLength: 1 }) }),
    fc.record({
      what: fc.constant('mark' as const),
      values: fc.uniqueArray(value, { minLength: 1 }),
      tlp: fc.constantFrom(...TLPS),
    }),
    {
      weight: 3,
      arbitrary: fc.record({
        what: fc.constant('sum' as const),
        // Often now, so that what expires later is summed before it is changed again.
        seconds: fc.constantFrom(0, 0, 0, 5),
        batches: fc.nat(5),
        many: fc.constantFrom(1, 1, 2, 3),
      }),
    },
  ),
  { minLength: 6, maxLength: 20 },
);

const nameOf = (n: number) => `d${n}.example`;

const KIND = 'type, severity, tlp, confidence, for_detection, expires_next';
const NEXT = 'expires_next(i.expires_at, i.id, last) as expires_next';

/** The sums as they are kept, and as the rows have them. */
async function sums(db: Db) {
  const kept = await sql`select ${sql.raw(KIND)}, count, hash::text from indicator_summary where count > 0
    order by ${sql.raw(KIND)}`.execute(db);
  const counted =
    await sql`select type, severity, tlp, confidence, for_detection, ${sql.raw(NEXT)}, count(*) as count,
    bit_xor(indicator_hash(i.id, version, created_at, modified_at))::text as hash
    from indicator as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`.execute(db);
  const tags =
    await sql`select * from indicator_tag_summary order by tag, type, severity, tlp, expires_next`.execute(
      db,
    );
  const countedTags = await sql`select tag, type, severity, tlp, count(*) as count, ${sql.raw(NEXT)}
    from indicator as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
    where is_summed(whitelisted, i.expires_at, i.id, last)
    group by tag, type, severity, tlp, 6 order by tag, type, severity, tlp, 6`.execute(db);
  const sources =
    await sql`select * from source_summary order by source_id, type, severity, tlp, confidence, expires_next`.execute(
      db,
    );
  const countedSources = await sql`
    select said.source_id, i.type, i.severity, greatest(said.tlp, i.tlp) as tlp, i.confidence, count(*) as count,
      ${sql.raw(NEXT)}
    from indicator_summary_expiry as last, indicator_source as said join indicator as i on i.number = said.indicator_number
    where is_summed(i.whitelisted, i.expires_at, i.id, last)
    group by 1, 2, 3, 4, 5, 7 order by 1, 2, 3, 4, 5, 7`.execute(db);
  return {
    kept: [...kept.rows, ...tags.rows, ...sources.rows],
    counted: [...counted.rows, ...countedTags.rows, ...countedSources.rows],
  };
}

/** The totals that the sums and their correction give at a time, and those that the rows give: of all, and of each source by severity and minimum confidence. */
async function totals(db: Db, now: Date) {
  const given: number[] = [];
  const plain: number[] = [];
  const { rows: sources } = await sql<{ id: string }>`select id from source order by id`.execute(db);
  for (const tlpCeiling of TLPS) {
    const principal = { tlpCeiling, now };
    const bySource = sources.flatMap(({ id }) => [
      { sourceId: id },
      { sourceId: id, minConfidence: 50 },
      ...SEVERITIES.map((severity) => ({ sourceId: id, severity })),
    ]);
    for (const filters of [{}, ...bySource] as IndicatorFilters[]) {
      const { rows: counted } = await countMatches(principal, filters).execute(db);
      const { severity = null, sourceId = null, minConfidence = 0 } = filters;
      const { rows } = await sql<{ total: number }>`
        select count(*) as total from indicator where ${visible('indicator', principal)}
          and confidence >= ${minConfidence} and (${severity}::severity is null or severity = ${severity}::severity)
          and (${sourceId}::uuid is null or exists (select from indicator_source as said
            where said.indicator_number = indicator.number and said.source_id = ${sourceId}::uuid
              and ${visible('indicator_source', principal, 'said')}))`.execute(db);
      given.push(counted[0]?.total ?? -1);
      plain.push(rows[0]?.total ?? -1);
    }
  }
  return { given, plain };
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const after = (seconds: number) => new Date(harness.clock.now.getTime() + seconds * 1000);

  it('keeps the indicator summaries correct after every write', async () => {
    await fc.assert(
      fc.asyncProperty(writes, async (steps) => {
        await sql`truncate indicator, indicator_source cascade`.execute(harness.db);
        // The keys of the runs before would follow most expiries.
        await sql`update indicator_summary_expiry set expires_at = '-infinity', next_expires_at = '-infinity', next_id = id`.execute(
          harness.db,
        );
        for (const step of steps) {
          harness.clock.now = after(1);
          if (step.what === 'sum') {
            let left = step.batches;
            const sizes = { batch: 2, many: step.many };
            await sumExpiries(harness.db, after(step.seconds), () => left-- <= 0, sizes);
          } else if (step.what === 'import') {
            const records = step.values.map(({ value: n, lives, ...fields }) =>
              indicatorRecord('DOMAIN', nameOf(n), {
                ...fields,
                expiresAt: lives === null ? null : after(lives),
              }),
            );
            await harness.load(records, step.source);
          } else if (step.what === 'retract' || step.what === 'mark') {
            const numbers = sql`(select number from indicator where value = any (${step.values.map(nameOf)}::text[]))`;
            if (step.what === 'retract')
              await sql`delete from indicator_source where indicator_number in ${numbers}`.execute(
                harness.db,
              );
            else
              await sql`update indicator_source set tlp = ${step.tlp}::tlp where indicator_number in ${numbers}`.execute(
                harness.db,
              );
          } else if (step.what === 'score') {
            await harness.db
              .updateTable('indicator')
              .set({ confidence: step.confidence })
              .where('value', '=', nameOf(step.value))
              .execute();
          } else if (step.what === 'delete') {
            await harness.db.deleteFrom('indicator').where('value', '=', nameOf(step.value)).execute();
          } else {
            const update = { whitelisted: step.what === 'whitelist' };
            await harness.db
              .updateTable('indicator')
              .set(update)
              .where('value', '=', nameOf(step.value))
              .execute();
          }
        }
        const { kept, counted } = await sums(harness.db);
        expect(kept).toEqual(counted);
        for (const seconds of [-5, 0, 9]) {
          const { given, plain } = await totals(harness.db, after(seconds));
          expect(given).toEqual(plain);
        }
      }),
      runs(30),
    );
  });
});
