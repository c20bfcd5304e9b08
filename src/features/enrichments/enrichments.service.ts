import type { Db } from '../../db/open.ts';
import { commitRevision, lockRevision } from '../../db/revision.ts';
import type { Provider } from '../../enrichment/provider.ts';
import { indicatorId } from '../../model/identity.ts';
import { normalize } from '../../model/normalize.ts';
import { show } from '../../model/statement.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';
import { loadIndicators } from '../imports/indicators.write.queries.ts';
import {
  findEnrichment,
  type StoredEnrichment,
  writeConfidence,
  writeEnrichment,
} from './enrichments.queries.ts';

export interface ProviderAnswer {
  type: IndicatorType;
  value: string;
  fetchedAt: Date;
  raw: unknown;
}

/**
 * Keeps a provider's answer about an indicator, in place of its last one, and reckons the confidence anew unless
 * it is pinned.
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
  const id = indicatorId(normal.type, normal.normalized);
  const { lifetimeSeconds, ...assessment } = provider.assess(answer.raw);
  const enrichment: StoredEnrichment = {
    indicatorId: id,
    provider: provider.name,
    ...assessment,
    fetchedAt: answer.fetchedAt,
    expiresAt: new Date(answer.fetchedAt.getTime() + lifetimeSeconds * 1000),
    raw: JSON.stringify(answer.raw),
  };
  return db.transaction().execute(async (trx) => {
    const lock = await lockRevision(trx);
    const before = await findEnrichment(trx, id, provider.name);
    if (before && before.fetchedAt >= enrichment.fetchedAt) return false;
    if (!(await loadIndicators(trx, [id])).has(id)) return false;
    await writeEnrichment(trx, enrichment, lock.next);
    const indicator = (await loadIndicators(trx, [id])).get(id);
    if (indicator) {
      const shown = show([...indicator.statements.values()], indicator.scores, indicator.pinned);
      await writeConfidence(trx, id, shown, lock.next, now);
    }
    await commitRevision(trx, lock);
    return true;
  });
}
