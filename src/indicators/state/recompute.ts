import type { Transaction } from 'kysely';
import type { OpenRevision } from '../../db/revision/revision.ts';
import type { Tables } from '../../db/tables.ts';
import { effectiveConfidence } from '../../model/confidence.ts';
import { resolve } from '../../model/statement.ts';
import { sameKev } from '../../model/vulnerability.ts';
import type { WhitelistHit, WhitelistMatcher } from '../../whitelist/matching/matcher.ts';
import {
  type IndicatorWrite,
  type LoadedIndicator,
  loadIndicators,
  prepareIndicators,
  type StoredState,
  writeIndicators,
} from './state.queries.ts';

/**
 * Returns the derived state of an indicator from its statements, scores, pin and the whitelist. An indicator
 * that no source states any more retains its state, but expires at `now` unless it expired before; its confidence
 * still follows its pin and the scores.
 */
export function recompute(known: LoadedIndicator, matcher: WhitelistMatcher, now: Date): StoredState {
  const { type, normalized, statements, scores, pinned, stored } = known;
  const { hit: suppressedBy, parts: whitelistedParts } = matcher.match(type, normalized);
  if (statements.size > 0 || !stored)
    return {
      pinned,
      suppressedBy,
      whitelistedParts,
      ...resolve(type, [...statements.values()], scores, pinned),
    };
  const { expiresAt } = stored;
  return {
    ...stored,
    confidence: effectiveConfidence({ pinned, scores, stated: lastConfidence(known) }),
    pinned,
    expiresAt: expiresAt && expiresAt < now ? expiresAt : now,
    suppressedBy,
    whitelistedParts,
  };
}

/**
 * Returns the confidence of an indicator that no source states any more, pin and scores aside: that of its row or, if that
 * is pinned, the default of its last source.
 */
export function lastConfidence({
  stored,
  lastSource,
}: Pick<LoadedIndicator, 'stored' | 'lastSource'>): number {
  const retained = stored?.confidence ?? 0;
  return stored?.pinned == null ? retained : (lastSource?.defaults.confidence ?? retained);
}

/**
 * Recomputes the rows of these indicators and writes the changed ones. It must be called under the revision
 * lock, and advances the revision if a row has changed.
 * @returns the number of changed rows
 */
export async function writeRecomputed(
  trx: Transaction<Tables>,
  ids: readonly string[],
  matcher: WhitelistMatcher,
  revision: OpenRevision,
  now: Date,
): Promise<number> {
  const known = await loadIndicators(trx, ids);
  const writes: IndicatorWrite[] = [];
  for (const [id, indicator] of known) {
    const write = changedRow(id, indicator, recompute(indicator, matcher, now));
    if (write) writes.push(write);
  }
  await writeIndicators(trx, prepareIndicators(writes), revision, now);
  if (writes.length > 0) revision.advance();
  return writes.length;
}

/**
 * Returns the row to write for a new state of an indicator; null: the stored row has that state.
 * @param isRestated a statement about it has changed in something that exports show and its row does not hold
 */
export function changedRow(
  id: string,
  { type, value, normalized, stored }: LoadedIndicator,
  shown: StoredState,
  isRestated = false,
): IndicatorWrite | null {
  if (stored && sameStored(stored, shown) && !isRestated) return null;
  const whitelistHitChanged = !sameHit(stored?.suppressedBy ?? null, shown.suppressedBy);
  return { id, newPlace: null, type, value, normalized, shown, whitelistHitChanged };
}

export function sameHit(a: WhitelistHit | null, b: WhitelistHit | null): boolean {
  return a?.listId === b?.listId && a?.entry === b?.entry;
}

function sameStored(a: StoredState, b: StoredState): boolean {
  return (
    a.confidence === b.confidence &&
    a.pinned === b.pinned &&
    a.severity === b.severity &&
    a.tlp === b.tlp &&
    a.sourceId === b.sourceId &&
    a.firstSeen.getTime() === b.firstSeen.getTime() &&
    a.lastSeen.getTime() === b.lastSeen.getTime() &&
    a.expiresAt?.getTime() === b.expiresAt?.getTime() &&
    a.forDetection === b.forDetection &&
    a.ofCertificate === b.ofCertificate &&
    a.hasRecords === b.hasRecords &&
    sameKev(a.kev, b.kev) &&
    a.tags.length === b.tags.length &&
    a.tags.every((tag, i) => tag === b.tags[i]) &&
    sameHit(a.suppressedBy, b.suppressedBy) &&
    a.whitelistedParts.join() === b.whitelistedParts.join()
  );
}
