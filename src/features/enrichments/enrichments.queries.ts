import { sql, type Transaction } from 'kysely';
import { laterThan } from '../../db/later-than.ts';
import type { Db } from '../../db/open.ts';
import type { Tables } from '../../db/tables.ts';
import type { Verdict } from '../../model/vocabulary.ts';

export interface StoredEnrichment {
  indicatorId: string;
  provider: string;
  verdict: Verdict;
  score: number | null;
  fetchedAt: Date;
  expiresAt: Date;
  error: string | null;
  /** The answer as it came, JSON. */
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
  };
  await trx
    .insertInto('enrichment')
    .values({ indicator_id: enrichment.indicatorId, provider: enrichment.provider, ...values })
    .onConflict((conflict) => conflict.columns(['indicator_id', 'provider']).doUpdateSet(values))
    .execute();
}

/** Sets what is shown of the confidence; where that is another, the indicator has changed. */
export async function writeConfidence(
  trx: Transaction<Tables>,
  id: string,
  shown: { confidence: number; sourceId: string },
  revision: number,
  now: Date,
): Promise<void> {
  await sql`
    update indicator set confidence = ${shown.confidence}, source_id = ${shown.sourceId}::uuid,
      revision = ${revision}::bigint, version = version + 1, modified_at = ${laterThan('indicator', now)}
    where id = ${id} and (confidence <> ${shown.confidence} or source_id <> ${shown.sourceId}::uuid)
  `.execute(trx);
}
