import { sql } from 'kysely';
import type { Database } from './database.ts';

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
 * VACUUM or ANALYZE.
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
    ) as measured
    where bytes > ${SPARSE} * needed and bytes - needed > ${least}
    order by bytes - needed desc, index`.execute(db);
  return rows;
}

/**
 * Rebuilds the index that wastes most space, if one is sparse: on PostgreSQL beside reads and writes, for as long as a statement may take;
 * on the embedded database all others wait, and nothing is rebuilt while the disk is too full.
 * @param least bytes of wasted space
 * @returns the index before it was rebuilt; `error`: it could not be, and is as before; null: none is sparse
 */
export async function rebuildSparseIndex(
  database: Pick<Database, 'db' | 'kind' | 'diskProblem'>,
  least?: number,
): Promise<(SparseIndex & { error?: unknown }) | null> {
  const { db, kind } = database;
  const [found] = await findSparseIndexes(database, least);
  if (!found || (await database.diskProblem()) !== null) return null;
  const isEmbedded = kind === 'embedded';
  try {
    await sql`reindex index ${isEmbedded ? sql`` : sql`concurrently`} ${sql.id(found.index)}`.execute(db);
    return found;
  } catch (error) {
    // PostgreSQL leaves the new index, which is not valid.
    if (!isEmbedded)
      await sql`drop index concurrently if exists ${sql.id(`${found.index}_ccnew`)}`.execute(db);
    return { ...found, error };
  }
}
