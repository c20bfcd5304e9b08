import { readdir, readFile } from 'node:fs/promises';
import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { systemReason } from '../model/system-error.ts';
import { ROOT } from '../root.ts';
import type { Tables } from './tables.ts';

const directory = new URL('migrations/', ROOT);

async function sqlMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql'));
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, directory), 'utf8')));
  return Object.fromEntries(
    files.map((file, i): [string, Migration] => [
      file.replace(/\.sql$/, ''),
      { up: async (db) => void (await sql.raw(texts[i] ?? '').execute(db)) },
    ]),
  );
}

/**
 * Migrates the database to this version's schema. All or nothing, in one transaction under an advisory lock,
 * so that two nodes may start at once.
 * @returns the names of the migrations applied now
 * @throws when one fails, or the database is of a newer version
 */
export async function migrate(db: Kysely<Tables>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: sqlMigrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw new Error(reason(error), { cause: error });
  return (results ?? []).map((result) => result.migrationName);
}

/** Returns whether Tipline has created its tables in this database. */
export async function isMigrated(db: Kysely<Tables>): Promise<boolean> {
  try {
    const { rows } = await sql<{ there: boolean }>`
      select to_regclass('kysely_migration') is not null as there
    `.execute(db);
    return rows[0]?.there ?? false;
  } catch (error) {
    throw new Error(reason(error), { cause: error });
  }
}

/** Kysely's message for an applied migration that this version does not have. */
const NEWER = /previously executed migration .* is missing/;

function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (NEWER.test(text))
    return 'The database is of a newer version of Tipline. Run that version, or a later one.';
  return `The database cannot be used: ${systemReason(error) ?? text}.`;
}
