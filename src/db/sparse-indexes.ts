import { sql } from 'kysely';
import type { Database, Db } from './database.ts';

/** An index with so many times the size that its entries need is sparse: rows that all change between two vacuums take three times as much. */
const SPARSE = 5;
/** Less wasted space than this is left alone, in bytes. */
const LEAST_WASTE = 32 * 1024 * 1024;

export interface SparseIndex {
  index: string;
  /** Its size, and that of its entries in pages that are nine tenths full, in bytes. */
  bytes: number;
  needed: number;
}

/**
 * Returns the sparse indexes, the one that wastes most first. Entries that move with each sighting or change leave pages on which a few
 * stay, such as expired indicators: VACUUM frees only empty pages. Only B-trees of columns of fixed length are judged, as of the latest
 * VACUUM or ANALYZE, and those that this user may rebuild.
 */
export async function findSparseIndexes({ db }: Pick<Database, 'db'>, least = LEAST_WASTE) {
  const { rows } = await sql<SparseIndex>`
    select index, bytes, needed
    from (
      select c.relname as index, relpages * current_setting('block_size')::float8 as bytes,
        -- Each entry has a header and a pointer to it.
        ceil(reltuples * (8 * ceil(width / 8.0) + 12) / 0.9) as needed
      from pg_class as c join pg_index on indexrelid = c.oid join pg_am on pg_am.oid = relam,
        lateral (select sum(attlen) as width, min(attlen) > 0 as is_fixed from pg_attribute where attrelid = c.oid) as entry
      where relnamespace = current_schema()::regnamespace and amname = 'btree' and indisvalid and reltuples >= 0 and is_fixed
        and pg_has_role(relowner, 'USAGE')
    ) as measured
    where bytes > ${SPARSE} * needed and bytes - needed > ${least}
    order by bytes - needed desc, index`.execute(db);
  return rows;
}

/** A rebuild would wait for transactions that began before so many seconds, such as a backup. */
const OLD_SECONDS = 10;

/**
 * Rebuilds the index that wastes most space, if one is sparse: on PostgreSQL beside reads and writes, within the time that a statement may
 * take, and while no transaction is old; on the embedded database all others wait, and nothing is rebuilt while the disk is too full.
 * @param options `least` bytes of wasted space, and `oldSeconds` after which a transaction is old
 * @returns the index before it was rebuilt; `error`: it could not be; null: nothing was to be rebuilt, or nothing could be now
 */
export async function rebuildSparseIndex(
  database: Pick<Database, 'db' | 'kind' | 'diskProblem'>,
  { least = LEAST_WASTE, oldSeconds = OLD_SECONDS } = {},
): Promise<(SparseIndex & { error?: unknown }) | null> {
  const { db, kind } = database;
  const isConcurrent = kind === 'postgresql';
  if (isConcurrent && (await hasOldTransactions(db, oldSeconds))) return null;
  const [found] = await findSparseIndexes(database, least);
  if (!found || (await database.diskProblem()) !== null) return null;
  try {
    if (isConcurrent) await dropRemainders(db);
    await sql`reindex index ${isConcurrent ? sql`concurrently` : sql``} ${sql.id(found.index)}`.execute(db);
    return found;
  } catch (error) {
    if (isConcurrent) await dropRemainders(db).catch(() => {});
    return { ...found, error };
  }
}

async function hasOldTransactions(db: Db, seconds: number): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
      and xact_start < clock_timestamp() - make_interval(secs => ${seconds}) limit 1`.execute(db);
  return rows.length > 0;
}

/** Drops what interrupted rebuilds have left: indexes that are not valid, while writes still keep them. */
async function dropRemainders(db: Db): Promise<void> {
  const { rows } = await sql<{ index: string }>`
    select relname as index from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = current_schema()::regnamespace and not indisvalid and relname ~ '_cc(new|old)[0-9]*$'
      and indrelid not in (select relid from pg_stat_progress_create_index where datname = current_database())`.execute(
    db,
  );
  for (const { index } of rows) await sql`drop index concurrently if exists ${sql.id(index)}`.execute(db);
}
