import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { parseTextArray, parseTimestamp } from '../../src/db/postgres/text-formats.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';

const element = fc.oneof(
  fc.constantFrom('', ' ', ',', '"', '\\', '{}', 'NULL', 'null', 'a b', "it's", '\n', 'ü', '🦊', '{a,"b"}'),
  fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
);

onEveryEngine((engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.open();
  });
  afterAll(() => database.close());

  it('parses the text of any array', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(element, { maxLength: 5 }), async (elements) => {
        const { rows } = await sql<{ text: string }>`select ${elements}::text[]::text as text`.execute(
          database.db,
        );
        expect(parseTextArray(rows[0]?.text ?? '')).toEqual(elements);
      }),
      runs(200),
    );
  });

  it('parses the text of any timestamp to the millisecond', async () => {
    const times = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    await fc.assert(
      fc.asyncProperty(times, async (time) => {
        const { rows } = await sql<{
          text: string;
        }>`select ${time.toISOString()}::timestamptz::text as text`.execute(database.db);
        expect(parseTimestamp(rows[0]?.text ?? '')).toEqual(time);
      }),
      runs(200),
    );
  });
});
