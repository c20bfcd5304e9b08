import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { findSparseIndexes } from '../db/sparse-indexes.ts';
import type { StoredCredential } from './credentials.ts';

/** Facts about a database, for the checks in database.ts. */

/** Returns the clock of the database, in Unix milliseconds, and how long the answer took. */
export async function readClock(
  db: Db,
  clock: () => number,
): Promise<{ difference: number; uncertainty: number }> {
  const before = clock();
  const { rows } = await sql<{ now: number }>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as now`.execute(db);
  const after = clock();
  return { difference: (rows[0]?.now ?? 0) - (before + after) / 2, uncertainty: (after - before) / 2 };
}

export async function readVersion(db: Db): Promise<{ version: string; number: number }> {
  const { rows } = await sql<{ version: string; number: number }>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number`.execute(
    db,
  );
  return rows[0] ?? { version: 'unknown', number: 0 };
}

export async function hasExtension(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`select from pg_extension where extname = ${name}`.execute(db);
  return rows.length > 0;
}

export interface SchemaFaults {
  invalidIndexes: string[];
  indexes: string[];
  /** `TRIGGER on TABLE`. */
  disabledTriggers: string[];
}

export async function readSchema(db: Db): Promise<SchemaFaults> {
  const { rows } = await sql<SchemaFaults>`
    select
      array(select relname::text from pg_index join pg_class as c on c.oid = indexrelid
        where relnamespace = current_schema()::regnamespace and not (indisvalid and indisready) order by 1) as "invalidIndexes",
      array(select relname::text from pg_index join pg_class as c on c.oid = indexrelid
        where relnamespace = current_schema()::regnamespace order by 1) as indexes,
      array(select tgname || ' on ' || relname from pg_trigger join pg_class as c on c.oid = tgrelid
        where relnamespace = current_schema()::regnamespace and not tgisinternal and tgenabled = 'D' order by 1) as "disabledTriggers"
  `.execute(db);
  return rows[0] ?? { invalidIndexes: [], indexes: [], disabledTriggers: [] };
}

export interface ConnectionFacts {
  most: number;
  reserved: number;
  used: number;
}

export async function readConnections(db: Db): Promise<ConnectionFacts> {
  const { rows } = await sql<ConnectionFacts>`
    select current_setting('max_connections')::int as most, current_setting('superuser_reserved_connections')::int as reserved,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`.execute(db);
  return rows[0] ?? { most: 0, reserved: 0, used: 0 };
}

/** Returns whether this connection is encrypted. */
export async function isEncrypted(db: Db): Promise<boolean> {
  const { rows } = await sql<{
    ssl: boolean;
  }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(db);
  return rows[0]?.ssl ?? false;
}

export interface VacuumFacts {
  autovacuum: boolean;
  /** Large tables without statistics. */
  neverAnalyzed: string[];
  /** Large tables of which a third and more are dead rows. */
  bloated: string[];
  /** Sparse indexes. */
  sparse: string[];
}

/** Rows from which on a table counts as large. */
const LARGE = 50_000;

export async function readVacuum(db: Db): Promise<VacuumFacts> {
  const { rows } = await sql<Omit<VacuumFacts, 'sparse'>>`
    select current_setting('autovacuum') = 'on' as autovacuum,
      array(select relname::text from pg_stat_user_tables where schemaname = current_schema()
        and n_live_tup > ${LARGE} and last_analyze is null and last_autoanalyze is null order by 1) as "neverAnalyzed",
      array(select relname::text from pg_stat_user_tables where schemaname = current_schema()
        and n_dead_tup > ${LARGE} and n_dead_tup > n_live_tup / 2 order by 1) as bloated`.execute(db);
  const facts = rows[0] ?? { autovacuum: true, neverAnalyzed: [], bloated: [] };
  return { ...facts, sparse: (await findSparseIndexes({ db })).map(({ index }) => index) };
}

export interface LongTransaction {
  pid: number;
  application: string;
  minutes: number;
}

/** Returns the transactions of the database that began so many minutes ago. */
export async function findLongTransactions(db: Db, minutes: number): Promise<LongTransaction[]> {
  const { rows } = await sql<LongTransaction>`
    select pid, application_name as application, floor(extract(epoch from clock_timestamp() - xact_start) / 60)::int as minutes
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and xact_start < clock_timestamp() - make_interval(mins => ${minutes}) order by xact_start limit 10`.execute(
    db,
  );
  return rows;
}

export interface SlowStatement {
  text: string;
  calls: number;
  milliseconds: number;
}

/** Returns the statements of the database that take longest on average, if pg_stat_statements records them; null: it does not. */
export async function findSlowStatements(db: Db, milliseconds: number): Promise<SlowStatement[] | null> {
  if (!(await hasExtension(db, 'pg_stat_statements'))) return null;
  try {
    const { rows } = await sql<SlowStatement>`
      select regexp_replace(left(query, 60), '\\s+', ' ', 'g') as text, calls, mean_exec_time::float8 as milliseconds
      from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
        and calls >= 10 and mean_exec_time > ${milliseconds} order by mean_exec_time desc limit 3`.execute(
      db,
    );
    return rows;
  } catch {
    // The extension is created, but its library is not loaded.
    return null;
  }
}

/**
 * Returns when a worker last completed a job; null: never, as far as is recorded. Jobs in the future were completed before the clock was
 * set back: they say nothing of the present.
 */
export async function findLastJob(db: Db): Promise<Date | null> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass('pgboss.job') is not null and to_regclass('pgboss.archive') is not null as exists`.execute(
    db,
  );
  if (!tables[0]?.exists) return null;
  const { rows } = await sql<{ at: Date | null }>`
    select max(completed_on) as at from (select completed_on from pgboss.job union all select completed_on from pgboss.archive) as job
    where completed_on < now() + interval '1 minute'`.execute(db);
  return rows[0]?.at ?? null;
}

/** Returns the last number that was given to an indicator. */
export async function readLastNumber(db: Db): Promise<number> {
  const { last } = await db.selectFrom('revision').select('last_number as last').executeTakeFirstOrThrow();
  return last;
}

/** Returns the size of the database, in bytes. */
export async function readSize(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(
    db,
  );
  return rows[0]?.bytes ?? 0;
}

export interface ReplicaFacts {
  standby: boolean;
  /** The position up to which it has replayed the log of the primary. */
  replayed: string | null;
}

export async function readReplica(db: Db): Promise<ReplicaFacts> {
  const { rows } = await sql<ReplicaFacts>`
    select pg_is_in_recovery() as standby, pg_last_wal_replay_lsn()::text as replayed`.execute(db);
  return rows[0] ?? { standby: false, replayed: null };
}

/** Returns how many bytes of the primary's log a replica has not replayed. */
export async function readLag(primary: Db, replayed: string | null): Promise<number> {
  const { rows } = await sql<{ bytes: number | null }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), ${replayed}::text::pg_lsn)::bigint as bytes`.execute(
    primary,
  );
  return rows[0]?.bytes ?? 0;
}

/** Returns the encrypted credentials of sources, providers and webhooks, by kind and name. */
export async function findStoredCredentials(db: Db): Promise<StoredCredential[]> {
  const { rows } = await sql<StoredCredential>`
    select 'source' as kind, name, credentials as sealed from source where credentials is not null
    union all select 'provider', name, keys from provider where keys is not null
    union all select 'webhook', feed.slug, sealed from feed_webhook join feed on feed.id = feed_webhook.feed_id
    order by kind, name`.execute(db);
  return rows;
}
