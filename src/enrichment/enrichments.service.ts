import type { Db } from '../db/database.ts';
import { commitRevision, lockRevision } from '../db/revision/revision.ts';
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
 * Keeps a provider's answer about an indicator, as from a file.
 * @returns whether anything changed: false also when there is no such indicator, or the answer is older
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
  const said = { raw, fetchedAt, assessment: provider.assess(raw) };
  return save(db, provider.name, indicatorId(normal.type, normal.normalized), said, now);
}

/** Keeps what asking came to, and takes the request away, in one transaction. */
export async function saveOutcome(
  db: Db,
  provider: Provider,
  id: string,
  outcome: Exclude<Outcome, { kind: 'later' }>,
  now: Date,
): Promise<boolean> {
  return save(db, provider.name, id, outcome, now);
}

interface Said {
  raw: unknown;
  fetchedAt: Date;
  assessment: Assessment;
}

/**
 * In place of the provider's last answer; the confidence follows, unless it is pinned. A failure does not put out what
 * the provider said before.
 */
async function save(db: Db, provider: string, id: string, said: Said, now: Date): Promise<boolean> {
  const { lifetimeSeconds, ...assessment } = said.assessment;
  const enrichment = {
    indicatorId: id,
    provider,
    ...assessment,
    fetchedAt: said.fetchedAt,
    expiresAt: new Date(said.fetchedAt.getTime() + lifetimeSeconds * 1000),
    raw: JSON.stringify(said.raw),
  };
  await currentMatcher(db);
  return db.transaction().execute(async (trx) => {
    const lock = await lockRevision(trx);
    if (enrichment.error === null) await deleteRequest(trx, provider, id);
    else await postponeRequest(trx, provider, id, now);
    const before = await findEnrichment(trx, id, provider);
    if (before && before.fetchedAt >= enrichment.fetchedAt) return false;
    if (!(await hasIndicator(trx, id))) return false;
    if (enrichment.error !== null && before && before.error === null) {
      await noteFailure(trx, enrichment);
      return false;
    }
    await writeEnrichment(trx, enrichment, lock.next);
    await writeRecomputed(trx, [id], await currentMatcher(trx), lock, now);
    await commitRevision(trx, lock);
    return true;
  });
}
