import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Db } from '../../src/db/open.ts';
import { SEVERITIES, TLPS } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const value = fc.nat(7);
const writes = fc.array(
  fc.oneof(
    fc.record({
      what: fc.constant('import' as const),
      values: fc.array(
        fc.record({ value, severity: fc.constantFrom(...SEVERITIES), tlp: fc.constantFrom(...TLPS) }),
        { minLength: 1, maxLength: 6 },
      ),
    }),
    fc.record({ what: fc.constantFrom('whitelist' as const, 'list' as const, 'delete' as const), value }),
  ),
  { minLength: 1, maxLength: 12 },
);

const KIND = 'type, severity, tlp, confidence, for_detection';

/** The sums as they are kept, and as the rows have them. */
async function sums(db: Db) {
  const kept = await sql`select ${sql.raw(KIND)}, count, hash::text from indicator_summary where count > 0
    order by ${sql.raw(KIND)}`.execute(db);
  const counted = await sql`select ${sql.raw(KIND)}, count(*) as count,
    bit_xor(indicator_hash(id, version, created_at, modified_at))::text as hash
    from indicator where not whitelisted group by ${sql.raw(KIND)} order by ${sql.raw(KIND)}`.execute(db);
  return { kept: kept.rows, counted: counted.rows };
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  it('keeps the sums of indicators in step with every write', async () => {
    await fc.assert(
      fc.asyncProperty(writes, async (steps) => {
        await sql`truncate indicator cascade`.execute(harness.db);
        for (const step of steps) {
          harness.clock.now = new Date(harness.clock.now.getTime() + 1000);
          if (step.what === 'import') {
            const records = step.values.map(({ value: n, ...fields }) =>
              indicatorRecord('DOMAIN', `d${n}.example`, fields),
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
      }),
      { numRuns: 25 },
    );
  });
});
