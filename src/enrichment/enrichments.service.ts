import type { Db } from '../db/database.ts';
import { withRevision } from '../db/revision/revision.ts';
import { writeRecomputed } from '../indicators/state/recompute.ts';
import { indicatorId } from '../model/identity.ts';
import { normalize } from '../model/normalize.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import { findEnrichment, hasIndicator, noteFailure, writeEnrichment } from './enrichments.queries.ts';
import type { Assessment, Provider } from './providers/provider.ts';
import type { Outcome } from './providers/provider-client.ts';
import { deleteRequest, postponeRequest } from './requests.queries.ts';

export interface ProviderAnswer {
  type: IndicatorType;
  value: string;
  fetchedAt: Date;
  raw: unknown;
}

/**
 * Stores a provider's response about an indicator, such as one from a file.
 * @returns whether anything changed: false also when there is no such indicator, or the response is older
 */
export async function saveAnswer(
  db: Db,
  provider: Provider,
  answer: ProviderAnswer,
  now: Date,
): Promise<boolean> {
  const normal = normalize(answer.type, answer.value);
  if ('rejected' in normal) return false;
  const { raw, fetchedAt } = answer;
  const result = { raw, fetchedAt, assessment: provider.assess(raw) };
  return save(db, provider.name, indicatorId(normal.type, normal.normalized), result, now);
}

/**
 * Stores the outcome of a look-up and deletes its request, or postpones it after a failure, in one
 * transaction.
 */
export async function saveOutcome(
  db: Db,
  provider: Provider,
  id: string,
  outcome: Exclude<Outcome, { kind: 'later' }>,
  now: Date,
): Promise<boolean> {
  return save(db, provider.name, id, outcome, now);
}

interface ProviderResult {
  raw: unknown;
  /** The same as received; default: `raw` is written as JSON. */
  text?: string;
  fetchedAt: Date;
  assessment: Assessment;
}

/**
 * Replaces the provider's last response and recomputes the confidence, unless it is pinned. A failure never
 * overwrites an earlier result.
 */
async function save(
  db: Db,
  provider: string,
  id: string,
  result: ProviderResult,
  now: Date,
): Promise<boolean> {
  const { lifetimeSeconds, ...assessment } = result.assessment;
  const enrichment = {
    indicatorId: id,
    provider,
    ...assessment,
    fetchedAt: result.fetchedAt,
    expiresAt: new Date(result.fetchedAt.getTime() + lifetimeSeconds * 1000),
    raw: result.text ?? JSON.stringify(result.raw),
  };
  await currentMatcher(db);
  return withRevision(db, async (trx, revision) => {
    if (enrichment.error === null) await deleteRequest(trx, provider, id);
    else await postponeRequest(trx, provider, id, now);
    const before = await findEnrichment(trx, id, provider);
    // A result that is dated in the future was stored before the clock was set back.
    const isMisdated = before && before.fetchedAt > now && enrichment.fetchedAt <= now;
    if (before && before.fetchedAt >= enrichment.fetchedAt && !isMisdated) return false;
    if (!(await hasIndicator(trx, id))) return false;
    if (enrichment.error !== null && before && before.error === null) {
      await noteFailure(trx, enrichment);
      return false;
    }
    await writeEnrichment(trx, enrichment, revision.next);
    await writeRecomputed(trx, [id], await currentMatcher(trx), revision, now);
    revision.advance();
    return true;
  });
}
