import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { visible } from '../../src/db/visibility.ts';
import { sweepExpired } from '../../src/indicators/expiry/sweep.ts';
import { countMatches } from '../../src/indicators/read/summaries.queries.ts';
import { SEVERITIES, TLPS } from '../../src/model/vocabulary.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const value = fc.nat(7);
const writes = fc.array(
  fc.oneof(
    fc.record({
      what: fc.constant('import' as const),
      values: fc.array(
        fc.record({
          value,
          severity: fc.constantFrom(...SEVERITIES),
          tlp: fc.constantFrom(...TLPS),
          lives: fc.option(fc.nat(20)),
          tags: fc.subarray(['a', 'b', 'c']),
        }),
        { minLength: 1, maxLength: 6 },
      ),
    }),
    fc.record({ what: fc.constantFrom('whitelist' as const, 'list' as const, 'delete' as const), value }),
    fc.record({ what: fc.constant('sweep' as const), seconds: fc.nat(20), batches: fc.nat(3) }),
  ),
  { minLength: 1, maxLength: 12 },
);

const KIND = 'type, severity, tlp, confidence, for_detection';

/** The sums as they are kept, and as the rows have them. */
async function sums(db: Db) {
  const kept = await sql`select ${sql.raw(KIND)}, count, hash::text from indicator_summary where count > 0
    order by ${sql.raw(KIND)}`.execute(db);
  const counted = await sql`select ${sql.raw(KIND)}, count(*) as count,
    bit_xor(indicator_hash(i.id, version, created_at, modified_at))::text as hash
    from indicator as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    group by ${sql.raw(KIND)} order by ${sql.raw(KIND)}`.execute(db);
  const tags = await sql`select * from indicator_tag_summary order by tag, type, severity, tlp`.execute(db);
  const countedTags = await sql`select tag, type, severity, tlp, count(*) as count
    from indicator as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
    where is_summed(whitelisted, i.expires_at, i.id, last)
    group by tag, type, severity, tlp order by tag, type, severity, tlp`.execute(db);
  return { kept: [...kept.rows, ...tags.rows], counted: [...counted.rows, ...countedTags.rows] };
}

/** The total that the sums and their correction give at a time, and the one that the rows give. */
async function totals(db: Db, now: Date) {
  const principal = { tlpCeiling: 'RED' as const, now };
  const given = await countMatches(principal, {}).execute(db);
  const plain = await sql<{ total: number }>`
    select count(*) as total from indicator where ${visible('indicator', principal)}`.execute(db);
  return { given: given.rows[0]?.total, plain: plain.rows[0]?.total };
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
        for (const step of steps) {
          harness.clock.now = after(1);
          if (step.what === 'sweep') {
            let left = step.batches;
            await sweepExpired(harness.db, after(step.seconds), () => left-- <= 0, { summed: 2, marked: 2 });
          } else if (step.what === 'import') {
            const records = step.values.map(({ value: n, lives, ...fields }) =>
              indicatorRecord('DOMAIN', `d${n}.example`, {
                ...fields,
                expiresAt: lives === null ? null : after(lives),
              }),
            );
            await harness.load(records);
          } else if (step.what === 'delete') {
            await harness.db.deleteFrom('indicator').where('value', '=', `d${step.value}.example`).execute();
          } else {
            const update = { whitelisted: step.what === 'whitelist' };
            await harness.db
              .updateTable('indicator')
              .set(update)
              .where('value', '=', `d${step.value}.example`)
              .execute();
          }
        }
        const { kept, counted } = await sums(harness.db);
        expect(kept).toEqual(counted);
        for (const seconds of [-5, 0, 5]) {
          const { given, plain } = await totals(harness.db, after(seconds));
          expect(given).toBe(plain);
        }
      }),
      runs(10),
    );
  });
});
