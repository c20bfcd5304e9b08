import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { lastMigration, migrate, migrationNames } from '../../src/db/migrate.ts';
import { type Db, emptyDatabases, migrateTo } from '../support/migrations.ts';

const ID = '00000000-0000-4000-8000-000000000001';

describe.each(emptyDatabases())('migration on %s', (_, open) => {
  it('creates the tables although another schema has those of a store', { tags: ['nightly'] }, async () => {
    const db = await open();
    try {
      await sql`create schema other`.execute(db);
      await sql`create table other.kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(
        db,
      );
      await sql`create table other.kysely_migration_lock (id varchar(255) primary key, is_locked integer not null)`.execute(
        db,
      );
      expect(await migrate(db)).toHaveLength((await migrationNames()).length);
      expect(await migrate(db)).toEqual([]);
    } finally {
      await db.destroy();
    }
  });

  it.each([
    ['the same names', "create table kysely_migration as select '0001_initial' as name"],
    ['other columns', 'create table kysely_migration as select 1 as id'],
  ])(
    'refuses the migrations of another program, with %s',
    { tags: ['nightly'] },
    async (_name, statement) => {
      const db = await open();
      try {
        await sql.raw(statement).execute(db);
        for (const use of [migrate, lastMigration])
          await expect(use(db)).rejects.toThrow('The table kysely_migration is of another program.');
      } finally {
        await db.destroy();
      }
    },
  );
});

describe.each(emptyDatabases())('migration on %s from an earlier version', (_, open) => {
  /** @param fill what is in it before the later migrations */
  async function migrated<T>(last: string, fill: (db: Db) => Promise<unknown>, read: (db: Db) => Promise<T>) {
    const db = await open();
    try {
      await migrateTo(db, last);
      await fill(db);
      await migrate(db);
      return await read(db);
    } finally {
      await db.destroy();
    }
  }

  it('keeps undo data, with the renamed columns', { tags: ['nightly'] }, async () => {
    const stored = { left_at: '2026-01-02T00:00:00+00:00', tlp: 'GREEN' };
    const entity = { heard_at: '2026-01-03T00:00:00+00:00', parts: null };
    const rows = await migrated(
      '0018',
      async (db) => {
        await sql`
          insert into import_run (id, source, file_name, file_bytes, format, dry_run, who, state, started_at, heard_at)
          values (${ID}, 'Files', 'a', 1, 'csv', false, 'somebody', 'done', now(), now())
        `.execute(db);
        for (const [id, kind, before] of [
          [ID, 'indicator', stored],
          [ID.replace(/1$/, '2'), 'actor', entity],
          [ID.replace(/1$/, '3'), 'actor', null],
        ] as const)
          await sql`
            insert into import_change (object_id, run, kind, changed, revision, before)
            select ${id}, number, ${kind}::entity_kind, true, 1, ${JSON.stringify(before)}::text::jsonb from import_run
          `.execute(db);
      },
      (db) => db.selectFrom('import_change').select('before').orderBy('object_id').execute(),
    );
    expect(rows.map(({ before }) => before)).toEqual([
      { delisted_at: stored.left_at, tlp: 'GREEN' },
      { first_imported_at: entity.heard_at, parts: null },
      null,
    ]);
  });

  it('keeps user passwords', { tags: ['nightly'] }, async () => {
    const rows = await migrated(
      '0018',
      async (db) => {
        await sql`
          insert into app_user (id, email, name, role, created_at, updated_at)
          values (${ID}, 'a@example.org', 'A', 'viewer', now(), now())
        `.execute(db);
        await sql`
          insert into app_credential (id, user_id, account_id, provider_id, password, created_at, updated_at)
          values (${ID}, ${ID}, ${ID}, 'credential', 'the hash', now(), now())
        `.execute(db);
      },
      (db) => db.selectFrom('app_user').select(['email', 'password_hash']).execute(),
    );
    expect(rows).toEqual([{ email: 'a@example.org', password_hash: 'the hash' }]);
  });

  it('marks the records of statements that are not for detection, and no others', {
    tags: ['nightly'],
  }, async () => {
    const statements = [
      { number: 1, isForDetection: true, records: [{ id: 'a' }] },
      { number: 2, isForDetection: false, records: [{ id: 'b', statedAt: '2026-01-02' }, { id: 'a' }] },
      { number: 3, isForDetection: false, records: null },
    ];
    const rows = await migrated(
      '0046',
      async (db) => {
        await sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at)
          values (${ID}, 'A', 'import', 'CLEAR', 50, 'HIGH', now())`.execute(db);
        for (const { number, isForDetection, records } of statements) {
          const id = ID.replace(/1$/, String(number));
          await sql`
            insert into indicator (id, number, type, value, normalized, confidence, severity, tlp, tags, source_id, first_seen, last_seen,
              for_detection, has_records, created_at, revision)
            values (${id}, ${number}, 'DOMAIN', ${id}, ${id}, 50, 'HIGH', 'CLEAR', '{}', ${ID}, now(), now(), ${isForDetection},
              ${records !== null}, now(), 1)
          `.execute(db);
          await sql`
            insert into indicator_source (indicator_number, source_id, imported_at, tlp, tags, for_detection, records)
            values (${number}, ${ID}, now(), 'CLEAR', '{}', ${isForDetection}, ${records && JSON.stringify(records)}::text::jsonb)
          `.execute(db);
        }
      },
      (db) => db.selectFrom('indicator_source').select('records').orderBy('indicator_number').execute(),
    );
    expect(rows.map(({ records }) => records)).toEqual([
      [{ id: 'a' }],
      [
        { id: 'b', statedAt: '2026-01-02', forDetection: false },
        { id: 'a', forDetection: false },
      ],
      null,
    ]);
  });

  it('makes no complete lists of sources that send only what has changed', {
    tags: ['nightly'],
  }, async () => {
    const rows = await migrated(
      '0047',
      (db) =>
        sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at, is_snapshot_list)
          select gen_random_uuid(), kind, kind, 'CLEAR', 50, 'HIGH', now(), true
          from unnest(array['misp', 'otx', 'taxii', 'text']) as kind`.execute(db),
      (db) =>
        db.selectFrom('source').select(['kind', 'is_snapshot_list', 'recomputed']).orderBy('kind').execute(),
    );
    const changed = { is_snapshot_list: false, recomputed: false };
    expect(rows).toEqual([
      { kind: 'misp', ...changed },
      { kind: 'otx', ...changed },
      { kind: 'taxii', ...changed },
      { kind: 'text', is_snapshot_list: true, recomputed: true },
    ]);
  });

  it('numbers and dates the actors and relationships that are there, after all indicators', {
    tags: ['nightly'],
  }, async () => {
    const rows = await migrated(
      '0035',
      async (db) => {
        await sql`insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at)
          values (${ID}, 'A', 'import', 'CLEAR', 50, 'HIGH', now())`.execute(db);
        await sql`insert into actor (id, name, aliases, motivation, retired, target_sectors, target_countries, confidence, tlp, source_id,
            created_at, revision)
          values (${ID}, 'A', '[]', 'ESPIONAGE', false, '{}', '{}', 50, 'CLEAR', ${ID}, now(), 1)`.execute(
          db,
        );
        await sql`insert into entity_source (entity_kind, object_id, source_id, entity_id, external_ids, tlp, confidence, columns,
            first_imported_at)
          values ('actor', ${ID}, ${ID}, ${ID}, array['attack:intrusion-set--A', 'misp-galaxy:A', 'threat-actor--' || ${ID}], 'CLEAR', 50,
            '{}', now())`.execute(db);
        await sql`insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision, change_number)
          values (gen_random_uuid(), ${ID}, 'indicates', 'indicator', 'actor', 'CLEAR', ${ID}, 1, null)`.execute(
          db,
        );
        await sql`update revision set value = 1, last_number = 1`.execute(db);
        await sql`insert into change_date values (1, nextval('change_number'), (extract(epoch from now()) * 1000000)::bigint + 1000, 1, 0)`.execute(
          db,
        );
      },
      async (db) => {
        const [actor, relationship, dates, states] = await Promise.all([
          db.selectFrom('actor').select(['change_number', 'stix_ids']).executeTakeFirstOrThrow(),
          db.selectFrom('relationship').select('change_number').executeTakeFirstOrThrow(),
          db.selectFrom('change_date').selectAll().orderBy('first_number').execute(),
          db.selectFrom('entity_history').selectAll().execute(),
        ]);
        return {
          numbers: [actor.change_number, relationship.change_number],
          ids: actor.stix_ids,
          dates,
          states,
        };
      },
    );
    expect(rows.ids).toEqual(['attack:intrusion-set--A', `threat-actor--${ID}`]);
    expect(rows.states).toEqual([]);
    const [before, added] = rows.dates.slice(-2);
    expect(added).toMatchObject({ first_number: (before?.last_number ?? 0) + 1, revision: 1 });
    expect(added?.first_date).toBeGreaterThan(before?.first_date ?? 0);
    for (const number of rows.numbers) {
      expect(number).toBeGreaterThanOrEqual(added?.first_number ?? 0);
      expect(number).toBeLessThanOrEqual(added?.last_number ?? 0);
    }
    // Neither is of the beginning of time.
    for (const { modified } of rows.dates) expect(modified).toBeGreaterThan(0);
  });
});
