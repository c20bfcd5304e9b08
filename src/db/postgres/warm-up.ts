import { sql } from 'kysely';
import type { Db } from '../database.ts';

/**
 * The indexes and tables that details and contexts read, those first whose pages answer the most requests. The indicators
 * come last, because they may not fit.
 */
const RELATIONS = [
  'indicator_pkey',
  'relationship_from',
  'relationship_to',
  'enrichment_pkey',
  'report_pkey',
  'source',
  'campaign',
  'actor',
  'report',
  'indicator_list',
  'relationship',
  'enrichment',
  'indicator',
];
/** The blocks of 8 kB that are read by one statement. */
const BLOCKS_PER_STATEMENT = 1024;

/** Thrown where the database lacks the extension pg_prewarm and this user cannot create it. */
export class NoPrewarmError extends Error {
  override name = 'NoPrewarmError';
  constructor(cause: unknown) {
    super(
      'The extension pg_prewarm of PostgreSQL (in its contrib package) is required. A superuser creates it in this database with: create extension pg_prewarm',
      { cause },
    );
  }
}

export interface WarmUpOptions {
  /** Called after each statement with the milliseconds that it took. */
  rest(ms: number): Promise<void>;
  /** Called when a relation has been read, with the bytes of it that have been. */
  onRelation(name: string, bytes: number): void;
}

/**
 * Reads the files behind details and contexts, so that the kernel or PostgreSQL has them in memory, up to
 * `effective_cache_size`, which is PostgreSQL's setting for the memory that holds its files.
 * @throws {NoPrewarmError}
 */
export async function warmUp(db: Db, { rest, onRelation }: WarmUpOptions): Promise<void> {
  await sql`create extension if not exists pg_prewarm`.execute(db).catch((error) => {
    throw new NoPrewarmError(error);
  });
  let left = await cacheBlocks(db);
  for (const name of RELATIONS) {
    const blocks = Math.min(left, await blocksOf(db, name));
    for (let first = 0; first < blocks; first += BLOCKS_PER_STATEMENT) {
      const last = Math.min(first + BLOCKS_PER_STATEMENT, blocks) - 1;
      const startedAt = performance.now();
      await sql`select pg_prewarm(${name}::text::regclass, 'read', 'main', ${first}::bigint, ${last}::bigint)`.execute(
        db,
      );
      await rest(performance.now() - startedAt);
    }
    left -= blocks;
    onRelation(name, blocks * 8192);
  }
}

async function cacheBlocks(db: Db): Promise<number> {
  const { rows } = await sql<{ blocks: number }>`
    select (pg_size_bytes(current_setting('effective_cache_size')) / 8192)::int as blocks
  `.execute(db);
  return rows[0]?.blocks ?? 0;
}

async function blocksOf(db: Db, name: string): Promise<number> {
  const { rows } = await sql<{ blocks: number }>`
    select (pg_relation_size(${name}::text::regclass) / 8192)::int as blocks
  `.execute(db);
  return rows[0]?.blocks ?? 0;
}
