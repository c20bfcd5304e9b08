import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { recordset, uuidArray } from '../../src/db/recordset.ts';
import { runs } from '../properties/runs.ts';
import { onEveryEngine } from '../support/engines.ts';

const text = fc.oneof(
  fc.constantFrom('', ' ', ',', '"', '\\', '{}', 'NULL', 'null', 'a b', "it's", '\n', 'ü', '🦊', '{a,"b"}'),
  fc.string({ unit: 'binary' }).filter((one) => !one.includes('\0')),
);
const date = fc.date({
  min: new Date('1000-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 3 });
const others = fc.array(
  fc.record({
    id: fc.uuid(),
    said: maybe(text),
    many: maybe(fc.array(text, { maxLength: 3 })),
    ids: maybe(fc.array(fc.uuid(), { maxLength: 3 })),
    at: maybe(
      fc.oneof(
        date,
        fc.date({ min: new Date('1900-01-01'), max: new Date('2106-01-01'), noInvalidDate: true }),
      ),
    ),
    yes: maybe(fc.boolean()),
    small: maybe(fc.integer({ min: -32_768, max: 32_767 })),
    big: maybe(fc.maxSafeInteger()),
    severity: maybe(fc.constantFrom('LOW', 'CRITICAL')),
    json: maybe(fc.record({ said: text, any: fc.boolean() })),
  }),
  { maxLength: 6 },
);
const COLUMNS = ['id', 'said', 'many', 'ids', 'at', 'yes', 'small', 'big', 'severity', 'json'] as const;
/** Rows of which some columns have the same value in all. */
const rows = fc.tuple(others, fc.subarray([...COLUMNS])).map(([[first, ...more], same]) => {
  const shared = Object.fromEntries(same.map((name) => [name, first?.[name]]));
  return first ? [first, ...more.map((row) => ({ ...row, ...shared }))] : [];
});

onEveryEngine((engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.open();
  });
  afterAll(() => database.close());

  it('gives the database the rows as they are', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const item = recordset(given, {
          id: ['uuid', ({ id }) => id],
          said: ['text', ({ said }) => said],
          many: ['text[]', ({ many }) => many],
          ids: ['uuid[]', ({ ids }) => ids],
          at: ['timestamptz', ({ at }) => at],
          yes: ['boolean', ({ yes }) => yes],
          small: ['smallint', ({ small }) => small],
          big: ['bigint', ({ big }) => big],
          severity: ['severity', ({ severity }) => severity],
          json: ['jsonb', ({ json }) => json],
        });
        const { rows: read } =
          await sql`select *, extract(microseconds from at)::bigint % 1000 as below_ms from ${item}`.execute(
            database.db,
          );
        expect(read).toEqual(given.map((row) => ({ ...row, below_ms: row.at && 0 })));
        for (const row of read) expect(Object.keys(row as object)).toEqual([...COLUMNS, 'below_ms']);
      }),
      runs(200),
    );
  });

  it('gives the database times of any year to the millisecond', async () => {
    const times = [
      '1000-01-01',
      '1830-03-01',
      '1856-06-29',
      '1863-11-25',
      '1970-01-01',
      '2106-02-07',
      '9999-12-31',
    ].flatMap((day) =>
      Array.from({ length: 400 }, (_, i) => ({ at: new Date(new Date(day).getTime() + i * 86_399 + 126) })),
    );
    for (let from = 0; from < times.length; from += 100) {
      const given = times.slice(from, from + 100);
      const { rows: read } = await sql<{
        at: Date;
      }>`select *, extract(microseconds from at)::bigint % 1000 as below_ms
        from ${recordset(given, { at: ['timestamptz', ({ at }) => at] })}`.execute(database.db);
      expect(read).toEqual(given.map(({ at }) => ({ at, below_ms: 0 })));
    }
  });

  it.each([0, 300, 999])(
    'gives the database times in the format of any year, from row %i of a thousand on',
    async (first) => {
      const given = Array.from({ length: 1000 }, (_, i) => ({
        row: i,
        at: i === first ? new Date('1000-01-01T00:00:00.126Z') : new Date(1_700_000_000_126 + i),
        said: i % 3 === 0 ? null : `row, "${i}"`,
      }));
      const item = recordset(given, {
        row: ['bigint', ({ row }) => row],
        at: ['timestamptz', ({ at }) => at],
        said: ['text', ({ said }) => said],
      });
      const { rows: read } = await sql`select * from ${item} order by row`.execute(database.db);
      expect(read).toEqual(given);
    },
  );

  it('gives the database ids as an array', async () => {
    const ids = ['6f0f5d0e-6c0b-4c55-9d3b-4f1f6b6a0c3e', '0a1d9bd2-7d0d-4a0c-9a57-6c1f1c2f8f60'];
    const { rows: read } = await sql`select ${uuidArray(ids)} as ids, ${uuidArray([])} as none`.execute(
      database.db,
    );
    expect(read).toEqual([{ ids, none: [] }]);
  });
});
