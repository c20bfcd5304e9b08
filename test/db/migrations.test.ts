import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { type Db, emptyDatabases, migrateTo } from '../support/migrations.ts';

const ID = '00000000-0000-4000-8000-000000000001';

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

  it('keeps undo data, with the renamed columns', async () => {
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

  it('keeps user passwords', async () => {
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
});
