import { readdir, readFile } from 'node:fs/promises';
import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { systemReason } from '../model/system-error.ts';
import { ROOT } from '../root.ts';
import type { Tables } from './tables.ts';

const directory = new URL('migrations/', ROOT);

/** Returns the texts of the migrations by their names, in their order. */
async function readMigrations(): Promise<Map<string, string>> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, directory), 'utf8')));
  return new Map(files.map((file, i) => [file.replace(/\.sql$/, ''), texts[i] ?? '']));
}

async function sqlMigrations(): Promise<Record<string, Migration>> {
  const migrations = [...(await readMigrations())].map(([name, text]): [string, Migration] => [
    name,
    { up: async (db) => void (await sql.raw(text).execute(db)) },
  ]);
  return Object.fromEntries(migrations);
}

/**
 * Migrates the database to this version's schema. All or nothing, in one transaction under an advisory lock,
 * so that two nodes may start at once.
 * @returns the names of the migrations applied now
 * @throws when one fails, or the database is of a newer version or not in UTF-8
 */
export async function migrate(db: Kysely<Tables>): Promise<string[]> {
  const last = await lastMigration(db);
  // Nothing to do, as usual: Kysely would first read the columns of all tables, which takes the embedded database 0.3 s.
  if (last !== null && last === (await migrationNames()).at(-1)) return [];
  // A database that Tipline has set up already goes on; `tipline doctor` reports its encoding.
  if (last === null) await requireEncoding(db);
  const provider = { getMigrations: sqlMigrations };
  // Without a schema, Kysely takes tables of this name in any for its own: those of another store, or of one that is being restored.
  const migrationTableSchema = await migrationSchema(db);
  const migrator = new Migrator({ db, provider, migrationTableSchema });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw new Error(reason(error), { cause: error });
  return (results ?? []).map((result) => result.migrationName);
}

/**
 * What is done about the schema of a database that is opened: `migrate` creates it or migrates it to this version; `create` only creates
 * it where there is none, `require` does neither, and both refuse one of another version; `accept` leaves any as it is.
 */
export type SchemaPolicy = 'migrate' | 'create' | 'require' | 'accept';

/** Thrown for a database without the tables of Tipline by commands that do not create them. */
export class NoDatabaseError extends Error {
  override name = 'NoDatabaseError';
  constructor() {
    super(
      'The database is there, but Tipline has not been set up in it; serve, demo, import and migrate do that.',
    );
  }
}

/**
 * Applies a policy to the schema of a database.
 * @throws {NoDatabaseError} where there is none, and the policy requires one
 * @throws when it is of another version, or migrations fail
 */
export async function applyPolicy(db: Kysely<Tables>, policy: SchemaPolicy): Promise<void> {
  if (policy === 'accept') return;
  if (policy === 'migrate') return void (await migrate(db));
  const last = await lastMigration(db);
  if (last === null) {
    if (policy === 'require') throw new NoDatabaseError();
    return void (await migrate(db));
  }
  const names = await migrationNames();
  if (!names.includes(last)) throw new Error(NEWER_VERSION);
  if (last !== names.at(-1))
    throw new Error(
      `The database is of an older version of Tipline (its schema is ${last}). Make a backup; then start a server of this version, or run tipline migrate.`,
    );
}

/** Returns the names of the migrations of this version, in their order. */
export async function migrationNames(): Promise<string[]> {
  return [...(await readMigrations()).keys()];
}

/** Returns the encoding of a database, and whether it holds all text: SQL_ASCII stores the bytes of UTF-8 as they are. */
export async function readEncoding(db: Kysely<Tables>): Promise<{ encoding: string; holdsAllText: boolean }> {
  const { rows } = await sql<{
    encoding: string;
  }>`select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding ?? 'UTF8';
  return { encoding, holdsAllText: ['UTF8', 'SQL_ASCII'].includes(encoding) };
}

export const CREATE_IN_UTF8 =
  'Create another database: createdb -E UTF8 --lc-collate=C --lc-ctype=C.UTF-8 -T template0 NAME';

async function requireEncoding(db: Kysely<Tables>): Promise<void> {
  const { encoding, holdsAllText } = await readEncoding(db).catch((error) => {
    throw new Error(reason(error), { cause: error });
  });
  if (!holdsAllText)
    throw new Error(
      `The database has the encoding ${encoding}, which does not hold all text. ${CREATE_IN_UTF8}`,
    );
}

/** The tables in which Kysely records migrations. */
export const MIGRATION_TABLES = ['kysely_migration', 'kysely_migration_lock'];

/** The kinds of what migrations create, besides what belongs to a table. */
export type ObjectKind = 'table' | 'sequence' | 'function' | 'type';

/** Returns the names of all objects of a kind that migrations of this version create, also those that later ones rename or drop. */
export async function migratedNames(kind: ObjectKind): Promise<Set<string>> {
  const texts = [...(await readMigrations()).values()].join('\n');
  const created = texts.matchAll(
    new RegExp(
      `^create (?:or replace )?${kind} (\\w+)|^alter ${kind} \\w+(?:\\([^)]*\\))? rename to (\\w+)`,
      'gm',
    ),
  );
  return new Set([...created].map(([, name, renamed]) => String(name ?? renamed)));
}

/**
 * Returns the last migration of a database; null: Tipline has created no tables in it.
 * @throws when its table of migrations is that of another program, which must neither be migrated nor replaced
 */
export async function lastMigration(db: Kysely<Tables>): Promise<string | null> {
  if (!(await isMigrated(db)) || !(await hasMigrations(db))) return null;
  const { rows } = await sql<{ name: string | null }>`select max(name) as name from kysely_migration`.execute(
    db,
  );
  return rows[0]?.name ?? null;
}

/**
 * Migrates a database within a transaction that the caller has begun on its only connection.
 * @param schema the first one of the connection's search path
 * @param upTo the last migration to apply; absent: all
 * @throws when one fails
 */
export async function migrateWithin(db: Kysely<Tables>, schema: string, upTo?: string): Promise<void> {
  await requireEncoding(db);
  const provider = { getMigrations: sqlMigrations };
  const migrator = new Migrator({ db, provider, migrationTableSchema: schema, disableTransactions: true });
  const { error } = await (upTo === undefined ? migrator.migrateToLatest() : migrator.migrateTo(upTo));
  if (error) throw new Error(reason(error), { cause: error });
}

/** Returns the schema with the tables of Tipline, or in which they are to be created. */
async function migrationSchema(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ schema: string | null }>`
    select coalesce(
      (select nspname from pg_class join pg_namespace as n on n.oid = relnamespace where pg_class.oid = to_regclass('kysely_migration')),
      current_schema()) as schema
  `.execute(db);
  const schema = rows[0]?.schema;
  if (!schema) throw new Error('The search path of the database names no schema that exists.');
  return schema;
}

async function isMigrated(db: Kysely<Tables>): Promise<boolean> {
  try {
    const { rows } = await sql<{ there: boolean }>`
      select to_regclass('kysely_migration') is not null as there
    `.execute(db);
    return rows[0]?.there ?? false;
  } catch (error) {
    throw new Error(reason(error), { cause: error });
  }
}

/** A table that the first migration creates, together with its row in the table of migrations. */
const FIRST_TABLE = 'indicator_source';

/**
 * Returns whether migrations have been applied. A first start that ended early leaves the table of migrations without rows.
 * @throws when they are those of another program
 */
async function hasMigrations(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ applied: boolean; own: boolean }>`
    select exists (select from kysely_migration) as applied,
      exists (
        select from pg_class as migrations join pg_class as own using (relnamespace)
        where migrations.oid = to_regclass('kysely_migration') and own.relname = ${FIRST_TABLE}
      ) as own
  `.execute(db);
  const { applied = false, own = false } = rows[0] ?? {};
  if (applied && !own) throw new Error(`The table kysely_migration is of another program. ${CREATE_IN_UTF8}`);
  return applied;
}

/** Kysely's message for an applied migration that this version does not have. */
const NEWER = /previously executed migration .* is missing/;
export const NEWER_VERSION =
  'The database is of a newer version of Tipline. Run that version, or a later one.';

function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (NEWER.test(text)) return NEWER_VERSION;
  const reason = systemReason(error);
  return `The database cannot be used: ${reason ?? text}.${reason === undefined ? detailOf(error) : ''}`;
}

/** Returns what PostgreSQL adds to a message, such as which objects depend on another, after a space; '' for nothing. */
function detailOf(error: unknown): string {
  const detail = error instanceof Error && 'detail' in error ? error.detail : undefined;
  return typeof detail === 'string' ? ` ${detail}` : '';
}
