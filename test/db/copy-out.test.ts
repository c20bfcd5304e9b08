import fc from 'fast-check';
import { type Compilable, type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copiedFields, copyOut, linesOf } from '../../src/db/copy-out.ts';
import type { Database, Db } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { runs } from '../properties/runs.ts';
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
    database = await openDatabase({
      url: fresh.url,
      dataDirectory: '',
      allowRemote: false,
      onIdleError: () => {},
    });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  const compiled = (query: RawBuilder<unknown>): Compilable => ({
    compile: () => query.compile(database.db) as ReturnType<Compilable['compile']>,
  });
  const inTransaction = <T>(work: (trx: Db) => Promise<T>) => database.db.transaction().execute(work);
  const rowsOf = (...queries: RawBuilder<unknown>[]) =>
    inTransaction(async (trx) => {
      const rows: string[][] = [];
      for await (const piece of copyOut(trx, queries.map(compiled)))
        for (const line of linesOf(piece)) rows.push(copiedFields(line));
      return rows;
    });

  it('returns any text unchanged, and accepts any text as a parameter', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 20 }), async (pairs) => {
        const values = sql.join(pairs.map(([a, b]) => sql`(${a}::text, ${b}::text)`));
        expect(await rowsOf(sql`select a, b from (values ${values}) as given (a, b)`)).toEqual(pairs);
      }),
      runs(100),
    );
  });

  it('accepts lists, numbers, times, nulls and booleans', async () => {
    const at = new Date('2026-05-01T08:00:00.250Z');
    const list = ['a', 'b"', 'c,\\'];
    const query = sql`select ${list}::text[] = array['a', 'b"', ${'c,\\'}]::text[], ${7}::int + 1,
      ${at}::timestamptz, ${null}::text is null, ${true}::boolean`;
    expect(await rowsOf(query)).toEqual([['t', '8', '2026-05-01 08:00:00.25+00', 't', 't']]);
  });

  it('returns a million rows in order', async () => {
    const rows = await rowsOf(sql`select n from generate_series(1, 1000000) as n`);
    expect(rows.length).toBe(1_000_000);
    expect(rows.every(([n], i) => n === String(i + 1))).toBe(true);
  });

  it('fails when the query fails, also midway', async () => {
    await expect(rowsOf(sql`select 1 / (n - 90000) from generate_series(1, 100000) as n`)).rejects.toThrow(
      'division by zero',
    );
  });

  it('can be abandoned midway without leaving an active query', { tags: ['nightly'] }, async () => {
    const connections = async () => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
        where datname = current_database() and query like 'copy%' and state = 'active'`.execute(database.db);
      return rows[0]?.n;
    };
    for (let i = 0; i < 5; i++) {
      const trx = await database.db.startTransaction().execute();
      const many = compiled(sql`select n from generate_series(1, 10000000) as n`);
      for await (const piece of copyOut(trx, [many])) {
        expect(linesOf(piece)[0]).toBe('1');
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

  it('returns the rows of several queries in sequence', async () => {
    const from = (first: number) => sql`select n from generate_series(${first}::int, 100000) as n`;
    const rows = await rowsOf(from(50_000), sql`select 1 where false`, from(99_999));
    expect(rows.length).toBe(50_003);
    expect(rows.slice(-3)).toEqual([['100000'], ['99999'], ['100000']]);
  });

  it('fails when a later query fails, and leaves the connection usable', async () => {
    await database.db.connection().execute(async (one) => {
      const both = [sql`select 1`, sql`select 1 / 0`].map(compiled);
      const reading = async () => {
        for await (const piece of copyOut(one, both)) expect(linesOf(piece)).toEqual(['1']);
      };
      await expect(reading()).rejects.toThrow('division by zero');
      const { rows } = await sql<{ n: number }>`select 2 as n`.execute(one);
      expect(rows).toEqual([{ n: 2 }]);
    });
  });

  it('fails when the connection is lost', async () => {
    const reading = inTransaction(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
      const many = compiled(sql`select n from generate_series(1, 10000000) as n`);
      let count = 0;
      for await (const { places } of copyOut(trx, [many])) {
        if (count === 0) await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.db);
        count += places.length;
      }
    });
    await expect(reading).rejects.toThrow(/terminat|connection/i);
  });

  it('tolerates notices between rows', async () => {
    await sql`create function noisy(n int) returns int language plpgsql as
      $$ begin raise notice 'n is %', n; return n; end $$`.execute(database.db);
    const rows = await rowsOf(sql`select noisy(n) from generate_series(1, 20000) as n`);
    expect(rows.length).toBe(20_000);
    expect(rows.every(([n], i) => n === String(i + 1))).toBe(true);
  });

  it('yields only complete lines', async () => {
    const long = 'ü'.repeat(300_000);
    expect(await rowsOf(sql`select n, ${long}::text from generate_series(1, 5) as n`)).toEqual(
      [1, 2, 3, 4, 5].map((n) => [String(n), long]),
    );
  });
});
