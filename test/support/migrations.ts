import { readdirSync, readFileSync } from 'node:fs';
import { Kysely, Migrator, sql } from 'kysely';
import { inject } from 'vitest';
import { engineDialect } from '../../src/db/dialect.ts';
import { connectPglite } from '../../src/db/embedded/pglite.ts';
import { leaseQueue } from '../../src/db/embedded/server.ts';
import { postgresDialect } from '../../src/db/postgres/postgres.ts';
import type { Tables } from '../../src/db/tables.ts';
import { freshPostgresUrl } from './engines.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);

export type Db = Kysely<Tables>;

/** Opens a database without tables, on each engine. */
export function emptyDatabases(): [string, () => Promise<Db>][] {
  const postgresUrl = inject('postgresUrl');
  const engines: [string, () => Promise<Db>][] = [
    [
      'embedded',
      async () => new Kysely<Tables>({ dialect: engineDialect(leaseQueue(await connectPglite())) }),
    ],
  ];
  if (postgresUrl) {
    engines.push([
      'postgresql',
      async () => {
        const { url } = await freshPostgresUrl(postgresUrl);
        return new Kysely<Tables>({
          dialect: postgresDialect({ url, maxConnections: 2, onIdleError: () => {} }),
        });
      },
    ]);
  }

  return engines;
}

/** Brings a database to the migrations up to one, by the beginning of its name. */
export async function migrateTo(db: Db, last: string): Promise<void> {
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql') && file <= `${last}~`);
  const provider = {
    getMigrations: async () =>
      Object.fromEntries(
        files.map((file) => [
          file.replace(/\.sql$/, ''),
          {
            up: async (on: Kysely<unknown>) =>
              void (await sql.raw(readFileSync(new URL(file, MIGRATIONS), 'utf8')).execute(on)),
          },
        ]),
      ),
  };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
}
