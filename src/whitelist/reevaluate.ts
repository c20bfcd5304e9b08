import type { Db } from '../db/database.ts';
import { BEFORE_ALL_IDS } from '../db/expressions.ts';
import { withRevision } from '../db/revision/revision.ts';
import { writeRecomputed } from '../indicators/state/recompute.ts';
import { currentMatcher } from './current-matcher.ts';
import type { WhitelistMatcher } from './matching/matcher.ts';
import {
  type IndicatorMatch,
  indicatorsAfter,
  indicatorsOf,
  markApplied,
  markPosition,
  readEdition,
} from './whitelist.queries.ts';

const PAGE = 10_000;
/** Indicators per transaction: written in well under the 200 ms for which the revision may be locked. */
const BATCH = 500;

export interface RecheckOptions {
  now: Date;
  /** Called between pages; after a stop, the next call continues from the last page. */
  stopped?: () => boolean;
}

/**
 * Re-evaluates all indicators against the current lists, unless that has been done. If the lists change
 * meanwhile, it starts again; the rows written so far stay correct.
 * @returns the number of indicators that were hidden, shown again, or hidden by another entry
 */
export async function reevaluateMatches(
  db: Db,
  { now, stopped = () => false }: RecheckOptions,
): Promise<number> {
  let changed = 0;
  while (!stopped()) {
    const { edition, applied, position } = await readEdition(db);
    if (edition === applied) break;
    const page = await indicatorsAfter(db, position ?? BEFORE_ALL_IDS, PAGE);
    changed += await reevaluateRows(db, page, now);
    const last = page.at(-1);
    if (last) await markPosition(db, edition, last.id);
    else await markApplied(db, edition);
  }
  return changed;
}

function hasChanged(
  { type, normalized, list_id, entry, whitelisted_parts }: IndicatorMatch,
  matcher: WhitelistMatcher,
): boolean {
  const { hit, parts } = matcher.match(type, normalized);
  const isSameHit = (hit?.listId ?? null) === list_id && (hit?.entry ?? null) === entry;
  return !isSameHit || parts.join() !== (whitelisted_parts ?? []).join();
}

/**
 * Re-evaluates indicators against the current lists.
 * @returns the number of changed ones
 */
export async function reevaluateIndicators(db: Db, ids: readonly string[], now: Date): Promise<number> {
  let changed = 0;
  for (let at = 0; at < ids.length; at += PAGE)
    changed += await reevaluateRows(db, await indicatorsOf(db, ids.slice(at, at + PAGE)), now);
  return changed;
}

/** Writes those that have changed. */
async function reevaluateRows(db: Db, rows: readonly IndicatorMatch[], now: Date): Promise<number> {
  const matcher = await currentMatcher(db);
  const changed = rows.filter((row) => hasChanged(row, matcher));
  return recomputeInBatches(
    db,
    changed.map(({ id }) => id),
    now,
  );
}

/**
 * Recomputes indicators from their statements and the current lists, each batch under its own revision.
 * @returns the number of changed ones
 */
export async function recomputeInBatches(db: Db, ids: readonly string[], now: Date): Promise<number> {
  let changed = 0;
  for (let at = 0; at < ids.length; at += BATCH) {
    await currentMatcher(db);
    changed += await withRevision(db, async (trx, revision) =>
      writeRecomputed(trx, ids.slice(at, at + BATCH), await currentMatcher(trx), revision, now),
    );
  }
  return changed;
}
