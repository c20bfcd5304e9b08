import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { vacuumDeadRows } from '../../src/db/dead-rows.ts';
import { EMBEDDED } from '../support/engines.ts';

const ROWS = 2_000;

describe('dead rows of the embedded database', () => {
  let database: Database;
  beforeEach(async () => {
    database = await EMBEDDED.openNew();
    await sql`create table seen (id int primary key, at timestamptz)`.execute(database.db);
    await sql`create index seen_at on seen (at)`.execute(database.db);
    await sql`insert into seen select i, now() from generate_series(1, ${ROWS}) as i`.execute(database.db);
    await sql`analyze seen`.execute(database.db);
  });
  afterEach(() => database.close());

  const update = (rows: number) =>
    sql`update seen set at = at + interval '1 s' where id <= ${rows}`.execute(database.db);
  const size = async () => {
    const { rows } = await sql<{
      size: number;
    }>`select pg_total_relation_size('seen')::int as size`.execute(database.db);
    return rows[0]?.size ?? 0;
  };

  it('are removed where they are more than a fifth, so that updates do not make a table larger without end', async () => {
    const sizes: number[] = [];
    for (let round = 0; round < 12; round++) {
      await update(ROWS);
      expect(await vacuumDeadRows(database)).toEqual(['seen']);
      sizes.push(await size());
    }
    expect(sizes.at(-1)).toBeLessThan(1.2 * Number(sizes[2]));
  });

  it('stay where they are few, as on PostgreSQL', async () => {
    await update(ROWS / 5);
    expect(await vacuumDeadRows(database)).toEqual([]);
    await update(100);
    expect(await vacuumDeadRows(database)).toEqual(['seen']);
  });

  it('stay while the disk is too full, or the process ends', async () => {
    await update(ROWS);
    const { db } = database;
    expect(await vacuumDeadRows({ db, diskProblem: async () => 'full' })).toEqual([]);
    expect(await vacuumDeadRows(database, () => true)).toEqual([]);
    expect(await vacuumDeadRows(database)).toEqual(['seen']);
  });
});
