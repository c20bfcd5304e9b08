import { sql, type Transaction } from 'kysely';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { MIGRATION_TABLES, type ObjectKind } from '../db/migrate.ts';
import { DATES_A_CHANGE } from '../db/revision/change-dates.ts';
import type { Tables } from '../db/tables.ts';

/** The SQL of backups. Names of tables, indexes and constraints come from the catalogue of the database, quoted by it. */

export interface TableColumns {
  name: string;
  columns: string[];
}

/** Returns the tables of the schema that unqualified names refer to, with their columns, by name. */
export async function findTables(db: Db): Promise<TableColumns[]> {
  const { rows } = await sql<TableColumns>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname order by c.relname
  `.execute(db);
  return rows;
}

export interface SequenceState {
  name: string;
  value: number;
  isCalled: boolean;
}

/**
 * Returns the states of sequences.
 * @param names of sequences @param tables whose sequences are read too, such as those of identity columns
 */
export async function readSequences(
  db: Db,
  names: readonly string[],
  tables: readonly string[],
): Promise<SequenceState[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class as s where relnamespace = current_schema()::regnamespace and relkind = 'S'
      and (relname = any(${names}::text[]) or exists (
        select from pg_depend as d join pg_class as t on t.oid = d.refobjid
        where d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i') and t.relname = any(${tables}::text[])))
    order by relname
  `.execute(db);
  const states: SequenceState[] = [];
  for (const { name } of rows) {
    const { rows: found } = await sql<Omit<SequenceState, 'name'>>`
      select last_value as value, is_called as "isCalled" from ${sql.table(name)}`.execute(db);
    states.push({ name, ...(found[0] ?? { value: 1, isCalled: false }) });
  }
  return states;
}

export async function setSequences(db: Db, states: readonly SequenceState[]): Promise<void> {
  for (const { name, value, isCalled } of states)
    await sql`select setval(${name}::text::regclass, ${value}::bigint, ${isCalled}::boolean)`.execute(db);
}

/** Returns the statements of the catalogue that this query gives, in its order. */
async function statementsOf(db: Db, query: ReturnType<typeof sql<{ statement: string }>>): Promise<string[]> {
  return (await query.execute(db)).rows.map(({ statement }) => statement);
}

async function run(db: Db, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const OWN = sql`current_schema()::regnamespace`;

/**
 * Takes triggers, foreign keys and indexes off all tables: rows are added faster without them, in any order, and exactly as they are.
 * @returns the statements that put them back
 */
export async function stripTables(db: Db): Promise<string[]> {
  const tables = await statementsOf(
    db,
    sql`select format('%I', relname) as statement from pg_class where relnamespace = ${OWN} and relkind = 'r' order by relname`,
  );
  const foreignKeys = sql`from pg_constraint where connamespace = ${OWN} and contype = 'f' order by conrelid::regclass::text, conname`;
  const indexes = sql`from pg_index join pg_class as c on c.oid = indexrelid
    where c.relnamespace = ${OWN} and not exists (select from pg_constraint where conindid = indexrelid) order by c.relname`;
  const addKeys = await statementsOf(
    db,
    sql`select format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as statement ${foreignKeys}`,
  );
  const addIndexes = await statementsOf(db, sql`select pg_get_indexdef(indexrelid) as statement ${indexes}`);
  const dropKeys = await statementsOf(
    db,
    sql`select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement ${foreignKeys}`,
  );
  const dropIndexes = await statementsOf(
    db,
    sql`select format('drop index %s', indexrelid::regclass) as statement ${indexes}`,
  );
  await run(db, [
    ...tables.map((table) => `alter table ${table} disable trigger user`),
    ...dropKeys,
    ...dropIndexes,
  ]);
  return [...addIndexes, ...addKeys, ...tables.map((table) => `alter table ${table} enable trigger user`)];
}

export const restoreTables = run;

/** Deletes the rows that migrations have added. Triggers and foreign keys have been taken off. */
export async function emptyTables(db: Db, tables: readonly TableColumns[]): Promise<void> {
  const names = tables.map(({ name }) => name).filter((name) => !MIGRATION_TABLES.includes(name));
  if (names.length > 0) await sql`truncate ${sql.join(names.map((name) => sql.table(name)))}`.execute(db);
}

/**
 * Begins another history: cursors of the change feed, positions of bouncers and webhooks and pages of TAXII from before are rejected,
 * and serials and revisions of rules that were given in the lost history are exceeded.
 */
export async function beginHistory(db: Db, now: Date): Promise<void> {
  await sql`update revision set epoch = gen_random_uuid()`.execute(db);
  await sql`update revision_log set token = gen_random_uuid()`.execute(db);
  // A response without a version begins with the present time.
  await sql`delete from response_version`.execute(db);
  await sql`delete from address_rule_version`.execute(db);
  await sql`
    insert into lost_period (after_date, last_date)
    select first_date + ${sql.lit(DATES_A_CHANGE)} * (last_number - first_number + 1) - 1, floor(extract(epoch from ${now}::timestamptz) * 1000000)
    from change_date order by first_number desc limit 1
    on conflict (after_date) do update set last_date = excluded.last_date
  `.execute(db);
}

/** Facts about the rows of a store, for messages. */
export interface StoreFacts {
  indicators: number;
  revision: number;
}

export async function readStoreFacts(db: Db): Promise<StoreFacts> {
  const { rows } = await sql<StoreFacts>`
    select (select count(*) from indicator) as indicators, (select value from revision) as revision
  `.execute(db);
  return rows[0] ?? { indicators: 0, revision: 0 };
}

/** Returns how many other connections of Tipline the database has. */
export async function countOtherConnections(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name like 'tipline%' and pid <> pg_backend_pid()
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** Returns the schema that unqualified names refer to. */
export async function currentSchema(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(db);
  const name = rows[0]?.name ?? null;
  if (name === null) throw new Error('The search path of the database user has no schema that exists.');
  return name;
}

/** @param schemas the ones that unqualified names refer to, for the rest of the connection */
export async function setSearchPath(db: Db, schemas: readonly string[]): Promise<void> {
  await sql`set search_path = ${sql.join(schemas.map((name) => sql.id(name)))}`.execute(db);
}

/** The comment on schemas that `createSchema` has created. */
const CREATED = 'Created by a restore of Tipline, and deleted by the next one';

/**
 * Creates an empty schema, also if a killed command has left it, and the extension that migrations would create in it.
 * @returns false: there is one already that this function has not created, and nothing was done
 */
export async function createSchema(db: Db, name: string, target: string): Promise<boolean> {
  const { rows } = await sql<{ comment: string | null }>`
    select obj_description(oid, 'pg_namespace') as comment from pg_namespace where nspname = ${name}`.execute(
    db,
  );
  if (rows.some(({ comment }) => comment !== CREATED)) return false;
  await dropSchema(db, name);
  await sql`create schema ${sql.id(name)}`.execute(db);
  await sql`comment on schema ${sql.id(name)} is ${sql.lit(CREATED)}`.execute(db);
  await sql`create extension if not exists pg_trgm schema ${sql.id(target)}`.execute(db);
  return true;
}

/** Returns the schema of the extension that migrations use. */
export async function extensionSchema(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select nspname as name from pg_extension join pg_namespace as n on n.oid = extnamespace where extname = 'pg_trgm'`.execute(
    db,
  );
  return rows[0]?.name ?? 'public';
}

export async function dropSchema(db: Db, name: string): Promise<void> {
  await sql`drop schema if exists ${sql.id(name)} cascade`.execute(db);
}

const isOwnedByExtension = (catalogue: string) =>
  sql`exists (select from pg_depend where classid = ${sql.lit(catalogue)}::regclass and objid = o.oid and deptype = 'e')`;

/**
 * The kinds and names of the objects in the current schema that belong neither to a table nor to an extension: `name` is quoted, and has the
 * arguments of a function.
 */
const otherObjects = sql`
  select 'sequence' as kind, oid::regclass::text as name, relname::text as plain, tableoid as class, oid as id from pg_class as o
  where relnamespace = ${OWN} and relkind = 'S' and not ${isOwnedByExtension('pg_class')}
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = o.oid and deptype in ('a', 'i'))
  union all
  select 'function', oid::regprocedure::text, proname::text, tableoid, oid from pg_proc as o
  where pronamespace = ${OWN} and not ${isOwnedByExtension('pg_proc')}
  union all
  select 'type', oid::regtype::text, typname::text, tableoid, oid from pg_type as o
  where typnamespace = ${OWN} and typtype = 'e' and not ${isOwnedByExtension('pg_type')}`;

/**
 * Returns the objects of a kind in the current schema, by name: the tables, or those of the other kinds that belong neither to a table nor
 * to an extension. `signature` is quoted, and has the arguments of a function.
 */
export async function findObjects(db: Db, kind: ObjectKind): Promise<{ name: string; signature: string }[]> {
  const { rows } = await sql<{ name: string; signature: string }>`
    select plain as name, name as signature from (
      select 'table' as kind, oid::regclass::text as name, relname::text as plain from pg_class where relnamespace = ${OWN} and relkind = 'r'
      union all select kind, name, plain from (${otherObjects}) as other) as object
    where kind = ${kind} order by name
  `.execute(db);
  return rows;
}

/**
 * Returns, by kind and name, what `dropEverything` would also drop or take a part of, by `cascade`: views of any schema, and in other
 * schemas the functions, the types, and the tables with columns, defaults, constraints, triggers, policies or indexes that need an object
 * of the current schema.
 */
export async function findDependents(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive dropped (class, id, part) as (
      select tableoid, oid, 0 from pg_class where relnamespace = ${OWN} and relkind = 'r'
      union select class, id, 0 from (${otherObjects}) as other
      union
      select d.classid, d.objid, d.objsubid from dropped join pg_depend as d
        on d.refclassid = class and d.refobjid = id and (part = 0 or d.refobjsubid = part)
    ), parts as (
      select distinct class, id,
        case class
          when 'pg_class'::regclass then coalesce((select indrelid from pg_index where indexrelid = id), id)
          when 'pg_attrdef'::regclass then (select adrelid from pg_attrdef where oid = id)
          when 'pg_constraint'::regclass then (select conrelid from pg_constraint where oid = id)
          when 'pg_trigger'::regclass then (select tgrelid from pg_trigger where oid = id)
          when 'pg_policy'::regclass then (select polrelid from pg_policy where oid = id)
          when 'pg_rewrite'::regclass then (select ev_class from pg_rewrite where oid = id)
        end as relation
      from dropped
    )
    select case when relkind in ('v', 'm') then 'view ' when relkind = 'c' then 'type ' when relkind = 'S' then 'sequence ' else 'table ' end
        || c.oid::regclass as name
      from parts join pg_class as c on c.oid = relation
      where relkind <> 't' and not (relnamespace = ${OWN} and relkind in ('r', 'S'))
    union
    select 'function ' || oid::regprocedure from parts join pg_proc on class = 'pg_proc'::regclass and oid = id
      where pronamespace <> ${OWN}
    union
    select 'type ' || oid::regtype from parts join pg_type on class = 'pg_type'::regclass and oid = id
      where typtype in ('d', 'r')
    order by 1
  `.execute(db);
  return rows.map(({ name }) => name);
}

/** Drops everything in the current schema that belongs to no extension, and the schema of jobs. */
export async function dropEverything(db: Db): Promise<void> {
  await sql`drop schema if exists pgboss cascade`.execute(db);
  await run(
    db,
    await statementsOf(
      db,
      sql`select format('drop table %s cascade', oid::regclass) as statement from pg_class
        where relnamespace = ${OWN} and relkind = 'r'`,
    ),
  );
  await run(
    db,
    await statementsOf(
      db,
      sql`select format('drop %s %s cascade', kind, name) as statement from (${otherObjects}) as object`,
    ),
  );
}

/** Drops tables of the current schema that are there. */
export async function dropTables(db: Db, names: readonly string[]): Promise<void> {
  await sql`drop table if exists ${sql.join(names.map((name) => sql.table(name)))}`.execute(db);
}

/** Moves everything in the current schema, which is then empty, to another one. */
export async function moveEverything(db: Db, target: string): Promise<void> {
  await run(
    db,
    await statementsOf(
      db,
      sql`select format('alter %s %s set schema %I', kind, name, ${target}::text) as statement from (
        select 'table' as kind, oid::regclass::text as name from pg_class where relnamespace = ${OWN} and relkind = 'r'
        union all
        select 'statistics', format('%I.%I', ${OWN}, stxname) from pg_statistic_ext where stxnamespace = ${OWN}
        union all select kind, name from (${otherObjects}) as other) as object`,
    ),
  );
}

/** Updates statistics and the visibility map, which index-only scans need. Runs outside of a transaction. */
export async function vacuumTables(db: Db, tables: readonly string[]): Promise<void> {
  await sql`vacuum (analyze) ${sql.join(tables.map((name) => sql.table(name)))}`.execute(db);
}

/** Writes all changes to the files of the tables. */
export async function checkpoint(db: Db): Promise<void> {
  await sql`checkpoint`.execute(db);
}

const LAST_BACKUP = 'last backup';

/** Records the time of a complete backup, and who made it. */
export async function recordBackup(db: Db, by: AuditActor): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`insert into meta (name, value) values (${LAST_BACKUP}, ${by.now.toISOString()})
      on conflict (name) do update set value = excluded.value`.execute(trx);
    await audit(trx, 'store.backup', by, null);
  });
}

/** Records who has restored which backup, within the transaction that its session has begun. */
export async function recordRestore(
  db: Db,
  by: AuditActor,
  { takenAt, product, revision }: { takenAt: string; product: string; revision: number },
): Promise<void> {
  await audit(db as Transaction<Tables>, 'store.restore', by, { takenAt, product, revision });
}

/** Records who has moved the store here, within the transaction that its session has begun. */
export async function recordMove(db: Db, by: AuditActor, { revision }: { revision: number }): Promise<void> {
  await audit(db as Transaction<Tables>, 'store.move', by, { revision });
}

async function audit(
  trx: Transaction<Tables>,
  action: 'store.backup' | 'store.restore' | 'store.move',
  by: AuditActor,
  after: object | null,
): Promise<void> {
  const { value: id } = await trx
    .selectFrom('meta')
    .select('value')
    .where('name', '=', 'installation')
    .executeTakeFirstOrThrow();
  await writeAudit(trx, by, { action, object: { kind: 'store', id }, before: null, after, reason: null });
}

/** Returns the time of the last complete backup by `tipline backup`; null: none is known. */
export async function findLastBackup(db: Db): Promise<Date | null> {
  const row = await db.selectFrom('meta').select('value').where('name', '=', LAST_BACKUP).executeTakeFirst();
  return row ? new Date(row.value) : null;
}
