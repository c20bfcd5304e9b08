import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Verdict } from '../model/vocabulary.ts';

export interface StoredEnrichment {
  indicatorId: string;
  provider: string;
  verdict: Verdict;
  score: number | null;
  fetchedAt: Date;
  expiresAt: Date;
  error: string | null;
  /** The response as received, JSON. */
  raw: string;
}

export async function findEnrichment(
  db: Db,
  indicatorId: string,
  provider: string,
): Promise<StoredEnrichment | undefined> {
  const row = await db
    .selectFrom('enrichment')
    .selectAll()
    .where('indicator_id', '=', indicatorId)
    .where('provider', '=', provider)
    .executeTakeFirst();
  return (
    row && {
      indicatorId,
      provider,
      verdict: row.verdict,
      score: row.score,
      fetchedAt: row.fetched_at,
      expiresAt: row.expires_at,
      error: row.error,
      raw: row.raw,
    }
  );
}

export async function writeEnrichment(
  trx: Transaction<Tables>,
  enrichment: StoredEnrichment,
  revision: number,
): Promise<void> {
  const values = {
    verdict: enrichment.verdict,
    score: enrichment.score,
    fetched_at: enrichment.fetchedAt,
    expires_at: enrichment.expiresAt,
    error: enrichment.error,
    raw: enrichment.raw,
    revision,
    failure: null,
    failed_at: null,
  };
  await trx
    .insertInto('enrichment')
    .values({ indicator_id: enrichment.indicatorId, provider: enrichment.provider, ...values })
    .onConflict((conflict) => conflict.columns(['indicator_id', 'provider']).doUpdateSet(values))
    .execute();
}

export async function hasIndicator(db: Db, id: string): Promise<boolean> {
  return (
    (await db.selectFrom('indicator').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
  );
}

/** Records a failure next to the last successful response, which stays. */
export async function noteFailure(
  trx: Transaction<Tables>,
  {
    indicatorId,
    provider,
    error,
    fetchedAt,
  }: Pick<StoredEnrichment, 'indicatorId' | 'provider' | 'error' | 'fetchedAt'>,
): Promise<void> {
  await trx
    .updateTable('enrichment')
    .set({ failure: error, failed_at: fetchedAt })
    .where('indicator_id', '=', indicatorId)
    .where('provider', '=', provider)
    .execute();
}

/** Returns the stored results of these providers for these indicators, for operators. */
export async function findAnswers(db: Db, ids: readonly string[], providers: readonly string[]) {
  return db
    .selectFrom('enrichment')
    .select([
      'indicator_id as indicatorId',
      'provider',
      'verdict',
      'score',
      'fetched_at as fetchedAt',
      'expires_at as expiresAt',
      'error',
      'failure',
    ])
    .where(sql<boolean>`indicator_id = any(${[...ids]}::uuid[])`)
    .where(sql<boolean>`provider = any(${[...providers]}::text[])`)
    .orderBy('indicator_id')
    .orderBy('provider')
    .execute();
}
