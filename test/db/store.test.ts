import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { withRevision } from '../../src/db/revision/revision.ts';
import { freshPostgresUrl, onEveryEngine } from '../support/engines.ts';

const onIdleError = () => {};

onEveryEngine((engine) => {
  describe('the database', () => {
    let database: Database;
    beforeAll(async () => {
      database = await engine.open();
    });
    afterAll(() => database.close());

    it('returns the same types on every engine', async () => {
      const { rows } = await sql`
        select 9007199254740991::bigint as big, count(*) as count, 'AMBER_STRICT'::tlp as tlp,
          '2026-01-02T03:04:05.678Z'::timestamptz as at, array['b', 'a"', null] as list, null::text as nothing,
          '{"a": [1, "x"]}'::jsonb as json, true as yes, 1.5::float8 as half, 7::smallint as small
      `.execute(database.db);
      expect(rows).toEqual([
        {
          big: 9007199254740991,
          count: 1,
          tlp: 'AMBER_STRICT',
          at: new Date('2026-01-02T03:04:05.678Z'),
          list: ['b', 'a"', null],
          nothing: null,
          json: { a: [1, 'x'] },
          yes: true,
          half: 1.5,
          small: 7,
        },
      ]);
    });

    it('orders TLP from least to most restrictive', async () => {
      const { rows } = await sql<{
        tlp: string;
      }>`select unnest(enum_range(null::tlp)) as tlp order by 1`.execute(database.db);
      expect(rows.map(({ tlp }) => tlp)).toEqual(['CLEAR', 'GREEN', 'AMBER', 'AMBER_STRICT', 'RED']);
    });

    it('rolls back a failed transaction completely', async () => {
      const { db } = database;
      const write = db.transaction().execute(async (trx) => {
        await trx.insertInto('meta').values({ name: 'half', value: 'done' }).execute();
        throw new Error('in the middle');
      });
      await expect(write).rejects.toThrow('in the middle');
      expect(await db.selectFrom('meta').selectAll().where('name', '=', 'half').execute()).toEqual([]);
    });

    it('reports a violated constraint by name', async () => {
      const { db } = database;
      const write = () => db.insertInto('meta').values({ name: 'once', value: '' }).execute();
      await write();
      await expect(write()).rejects.toMatchObject({ code: '23505', constraint: 'meta_pkey' });
    });

    it('serializes writers of the revision', async () => {
      const { db } = database;
      const taken = await Promise.all(
        Array.from({ length: 10 }, () =>
          withRevision(db, async (_, revision) => {
            revision.advance(2);
            return revision.next;
          }),
        ),
      );
      const unused = await withRevision(db, async (_, { next }) => next);
      expect(unused).toBe(11);
      expect([...taken].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      const row = await db.selectFrom('revision').selectAll().executeTakeFirstOrThrow();
      expect(row).toMatchObject({ value: 10, last_number: 20 });
    });
  });
});

describe('opening the database', () => {
  it('keeps everything in the embedded data directory, shared only through the owning process', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'tipline-test-'));
    const open = (allowRemote: boolean) =>
      openDatabase({ url: undefined, dataDirectory, allowRemote, onIdleError });
    const holder = await open(false);
    await expect(open(false)).rejects.toThrow(`${dataDirectory} is in use by process ${process.pid}`);
    const guest = await open(true);
    await guest.db.insertInto('meta').values({ name: 'guest', value: 'wrote' }).execute();
    const values = (database: Database) =>
      database.db.selectFrom('meta').select('value').where('name', '=', 'guest').execute();
    expect(await values(holder)).toEqual([{ value: 'wrote' }]);
    await guest.close();
    await holder.close();
    const again = await open(false);
    expect(await values(again)).toEqual([{ value: 'wrote' }]);
    await again.close();
    await rm(dataDirectory, { recursive: true });
  });

  it('empties the pending lists that a killed import left in the embedded database', {
    tags: ['nightly'],
  }, async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'tipline-test-'));
    const open = () => openDatabase({ url: undefined, dataDirectory, allowRemote: false, onIdleError });
    const pages = async ({ db }: Database) => {
      const { rows } = await sql`
        select gin_clean_pending_list('indicator_search') + gin_clean_pending_list('indicator_tags') as pages`.execute(
        db,
      );
      return rows;
    };
    const insert = async ({ db }: Database) => {
      await sql`
        insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at)
        values ('00000000-0000-4000-8000-000000000001', 'Test', 'import', 'CLEAR', 50, 'LOW', now()) on conflict do nothing`.execute(
        db,
      );
      await sql`
        insert into indicator (id, number, type, value, normalized, confidence, severity, tlp, tags, source_id, first_seen, last_seen,
          expires_at, for_detection, whitelisted, created_at, revision)
        select gen_random_uuid(), coalesce(max(number), 0) + 1, 'DOMAIN', 'a.test', 'a.test', 50, 'LOW', 'CLEAR', '{tag}',
          '00000000-0000-4000-8000-000000000001', now(), now(), null, true, false, now(), 1 from indicator`.execute(
        db,
      );
    };
    const first = await open();
    await insert(first);
    expect(await pages(first)).toEqual([{ pages: 2 }]);
    await insert(first);
    await first.close();
    const second = await open();
    expect(await pages(second)).toEqual([{ pages: 0 }]);
    await second.close();
    await rm(dataDirectory, { recursive: true });
  });

  it('returns the same types and errors to a client process as to the owner', {
    tags: ['nightly'],
  }, async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'tipline-test-'));
    const open = (allowRemote: boolean) =>
      openDatabase({ url: undefined, dataDirectory, allowRemote, onIdleError });
    const holder = await open(false);
    const guest = await open(true);
    const { rows } =
      await sql`select now() is not null as at, 5::bigint as big, ${new Date(0)}::timestamptz as zero`.execute(
        guest.db,
      );
    expect(rows).toEqual([{ at: true, big: 5, zero: new Date(0) }]);
    await expect(sql`select 1/0`.execute(guest.db)).rejects.toMatchObject({ code: '22012' });
    await guest.close();
    await holder.close();
    await rm(dataDirectory, { recursive: true });
  });

  it("isolates a client's transaction, and rolls it back when the client fails", {
    tags: ['nightly'],
  }, async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'tipline-test-'));
    const open = (allowRemote: boolean) =>
      openDatabase({ url: undefined, dataDirectory, allowRemote, onIdleError });
    const holder = await open(false);
    const guest = await open(true);
    let seen: unknown;
    await guest.db
      .transaction()
      .execute(async (trx) => {
        await trx.insertInto('meta').values({ name: 'a', value: '' }).execute();
        // Asked now, answered when the guest is done.
        seen = holder.db.selectFrom('meta').selectAll().where('name', '=', 'a').execute();
        throw new Error('away');
      })
      .catch(() => {});
    expect(await seen).toEqual([]);
    await guest.close();
    await holder.close();
    await rm(dataDirectory, { recursive: true });
  });

  it('migrates no embedded database under a process that holds it with older tables', {
    tags: ['nightly'],
  }, async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'tipline-test-'));
    const open = (allowRemote: boolean) =>
      openDatabase({ url: undefined, dataDirectory, allowRemote, onIdleError });
    const holder = await open(false);
    await sql`delete from kysely_migration where name = (select max(name) from kysely_migration)`.execute(
      holder.db,
    );
    await expect(open(true)).rejects.toThrow(`process ${process.pid} uses it: stop that process`);
    await holder.close();
    await rm(dataDirectory, { recursive: true });
  });

  it.skipIf(inject('postgresUrl') === null)(
    'lets several nodes start simultaneously on an empty database',
    async () => {
      const { url, drop } = await freshPostgresUrl(inject('postgresUrl') ?? '');
      const open = () => openDatabase({ url, dataDirectory: randomUUID(), allowRemote: false, onIdleError });
      const nodes = await Promise.all([open(), open(), open()]);
      const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(
        (nodes[0] as Database).db,
      );
      expect(new Set(applied.rows.map(({ name }) => name)).size).toBe(applied.rows.length);
      await Promise.all(nodes.map((node) => node.close()));
      await drop();
    },
  );

  it.skipIf(inject('postgresUrl') === null)("uses UTC, regardless of the server's time zone", async () => {
    const { url, drop } = await freshPostgresUrl(inject('postgresUrl') ?? '');
    const open = () => openDatabase({ url, dataDirectory: '', allowRemote: false, onIdleError });
    const before = await open();
    const name = new URL(url).pathname.slice(1);
    await sql`alter database ${sql.id(name)} set timezone to 'Europe/Berlin'`.execute(before.db);
    await before.close();
    const database = await open();
    const { rows } = await sql`select to_json('1880-01-01T00:00:00Z'::timestamptz) as at`.execute(
      database.db,
    );
    expect(rows).toEqual([{ at: '1880-01-01T00:00:00+00:00' }]);
    await database.close();
    await drop();
  });
});
