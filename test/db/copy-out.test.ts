import fc from 'fast-check';
import { type Compilable, type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copiedFields, copyOut, linesOf } from '../../src/db/copy-out.ts';
import { type Database, type Db, openDatabase } from '../../src/db/open.ts';
import { freshDatabase, hasPostgres } from '../support/postgres-nodes.ts';

const text = fc.oneof(
  fc.constantFrom('', '\\', '\\N', '\\.', '\t', '\n', '\r\n', "'", "\\'", '$1', '"', '{}', 'ü', '🦊'),
  fc.string({ unit: 'binary' }).filter((any) => !any.includes('\0')),
);

describe.skipIf(!hasPostgres)('COPY from PostgreSQL', () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  let database: Database;

  beforeAll(async () => {
    fresh = await freshDatabase();
    database = await openDatabase({ url: fresh.url, dataDirectory: '', share: false, onIdleError: () => {} });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  const compiled = (query: RawBuilder<unknown>): Compilable => ({
    compile: () => query.compile(database.db) as ReturnType<Compilable['compile']>,
  });
  const inTransaction = <T>(work: (trx: Db) => Promise<T>) => database.db.transaction().execute(work);
  const rowsOf = (query: RawBuilder<unknown>) =>
    inTransaction(async (trx) => {
      const rows: string[][] = [];
      for await (const lines of linesOf(copyOut(trx, compiled(query)))) rows.push(...lines.map(copiedFields));
      return rows;
    });

  it('gives any text as it is, and takes any as a parameter', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 20 }), async (pairs) => {
        const values = sql.join(pairs.map(([a, b]) => sql`(${a}::text, ${b}::text)`));
        expect(await rowsOf(sql`select a, b from (values ${values}) as given (a, b)`)).toEqual(pairs);
      }),
      { numRuns: 100 },
    );
  });

  it('takes lists, numbers, times and nothing', async () => {
    const at = new Date('2026-05-01T08:00:00.250Z');
    const list = ['a', 'b"', 'c,\\'];
    const query = sql`select ${list}::text[] = array['a', 'b"', ${'c,\\'}]::text[], ${7}::int + 1,
      ${at}::timestamptz, ${null}::text is null, ${true}::boolean`;
    expect(await rowsOf(query)).toEqual([['t', '8', '2026-05-01 08:00:00.25+00', 't', 't']]);
  });

  it('gives a million lines in their order', async () => {
    const rows = await rowsOf(sql`select n from generate_series(1, 1000000) as n`);
    expect(rows.length).toBe(1_000_000);
    expect(rows.every(([n], i) => n === String(i + 1))).toBe(true);
  });

  it('fails as the query does, in its middle too', async () => {
    await expect(rowsOf(sql`select 1 / (n - 90000) from generate_series(1, 100000) as n`)).rejects.toThrow(
      'division by zero',
    );
  });

  it('can be left before its end, and nothing of it stays', async () => {
    const connections = async () => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
        where datname = current_database() and query like 'copy%' and state = 'active'`.execute(database.db);
      return rows[0]?.n;
    };
    for (let i = 0; i < 5; i++) {
      const trx = await database.db.startTransaction().execute();
      for await (const chunk of copyOut(
        trx,
        compiled(sql`select n from generate_series(1, 10000000) as n`),
      )) {
        expect(chunk.toString('utf8', 0, 2)).toBe('1\n');
        break;
      }
      await trx
        .rollback()
        .execute()
        .catch(() => {});
    }
    await expect.poll(connections, { timeout: 10_000 }).toBe(0);
    expect(await rowsOf(sql`select 1`)).toEqual([['1']]);
  });

  it('shows nothing of a line that is not whole', async () => {
    const long = 'ü'.repeat(300_000);
    expect(await rowsOf(sql`select n, ${long}::text from generate_series(1, 5) as n`)).toEqual(
      [1, 2, 3, 4, 5].map((n) => [String(n), long]),
    );
  });
});
