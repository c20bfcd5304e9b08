import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { withStoreSnapshot } from '../../src/backup/write-backup.ts';
import { lastMigration, migrationNames } from '../../src/db/migrate.ts';
import { NOW } from '../support/harness.ts';
import { migrateTo } from '../support/migrations.ts';
import { hasPostgres } from '../support/postgres-nodes.ts';
import { PLACES } from './places.ts';

const [, newPlace] = PLACES.at(-1) ?? [];

describe.each(PLACES)('a store of a newer version (%s)', (_, newPlaceOf) => {
  it('is not backed up: tables would be missing', { tags: ['nightly'] }, async () => {
    const place = await newPlaceOf();
    await place.withSession(async (session) => {
      await migrateTo(session.db, (await migrationNames()).at(-1) ?? '');
      await sql`insert into kysely_migration (name, timestamp) values ('9999_later', '')`.execute(session.db);
      const backup = withStoreSnapshot(session, { secret: null, now: NOW }, async () => {});
      await expect(backup).rejects.toThrow('The database is of a newer version of Tipline.');
    });
  });
});

describe.skipIf(!hasPostgres || !newPlace)('a backup of an older version', () => {
  it('is migrated when it is restored', async () => {
    const [old, target] = [await newPlace?.(), await newPlace?.()];
    await old?.withSession(async (source) => {
      await migrateTo(source.db, '0039');
      await sql`insert into audit (at, who, action, object_kind, object_id) values (now(), 'somebody', 'x', 'y', 'z')`.execute(
        source.db,
      );
      await withStoreSnapshot(source, { secret: null, now: NOW }, async (snapshot) => {
        expect(snapshot.manifest.schema).toBe('0039_list_orders_and_grams');
        await target?.load(snapshot, {
          now: NOW,
          replace: false,
          beginsHistory: false,
          verify: async () => {},
        });
      });
    });
    const restored = await target?.withSession(async ({ db }) => ({
      schema: await lastMigration(db),
      audit: await db.selectFrom('audit').select(['id', 'who']).execute(),
    }));
    expect(restored).toEqual({
      schema: (await migrationNames()).at(-1),
      audit: [{ id: 1, who: 'somebody' }],
    });
  });
});
