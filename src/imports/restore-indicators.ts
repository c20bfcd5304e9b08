import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RevisionLock } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import { changedRow, recompute } from '../indicators/state/recompute.ts';
import {
  type IndicatorWrite,
  loadIndicators,
  prepareIndicators,
  prepareStatements,
  type StatementWrite,
  type StoredState,
  statementOf,
  writeIndicators,
  writeStatements,
} from '../indicators/state/state.queries.ts';
import { type SourceRecord, sameRecords } from '../model/source-record.ts';
import { loadSources } from '../sources/store/sources.queries.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import type { ChangedObject } from './changes.queries.ts';
import { deleteExternalIds, deleteStatements, type LostExternalId } from './undo.queries.ts';

/** The changes that restore the earlier statements of a source about indicators. */
export interface RestoredIndicators {
  statements: StatementWrite[];
  /** Ids of the indicators that the source no longer states. */
  unsaid: string[];
  /** Ids of the indicators that no source states any more: all their external ids are deleted. */
  withdrawn: string[];
  /** The ids of records that no source states any more. */
  lostIds: LostExternalId[];
  writes: IndicatorWrite[];
  /** The number of visible indicators among them, before and after. */
  shown: { before: number; after: number };
}

/** @param changes each with the row of `indicator_source` to restore; null: none */
export async function planRestoredIndicators(
  db: Db,
  sourceId: string,
  changes: readonly ChangedObject[],
  now: Date,
): Promise<RestoredIndicators> {
  const matcher = await currentMatcher(db);
  const source = (await loadSources(db, [sourceId])).get(sourceId);
  const known = await loadIndicators(
    db,
    changes.map(({ id }) => id),
  );
  const plan: RestoredIndicators = {
    statements: [],
    unsaid: [],
    withdrawn: [],
    lostIds: [],
    writes: [],
    shown: { before: 0, after: 0 },
  };
  for (const { id, before } of changes) {
    const indicator = known.get(id);
    if (!indicator || !source) continue;
    const recordsBefore = indicator.statements.get(sourceId)?.records ?? [];
    if (before === null) {
      plan.unsaid.push(id);
      indicator.statements.delete(sourceId);
    } else {
      const statement = statementOf(before as unknown as Tables['indicator_source']);
      plan.statements.push({ indicatorId: id, sourceId, statement });
      indicator.statements.set(sourceId, { source, ...statement });
    }
    if (indicator.statements.size === 0) plan.withdrawn.push(id);
    const stated = new Set([...indicator.statements.values()].flatMap(({ records }) => recordIds(records)));
    for (const external_id of recordIds(recordsBefore))
      if (!stated.has(external_id)) plan.lostIds.push({ entity_id: id, external_id });
    const after = recompute(indicator, matcher, now);
    plan.shown.before += isShown(indicator.stored, now);
    plan.shown.after += isShown(after, now);
    const recordsAfter = indicator.statements.get(sourceId)?.records ?? [];
    const write = changedRow(id, indicator, after, !sameRecords(recordsBefore, recordsAfter));
    if (write) plan.writes.push(write);
  }
  return plan;
}

const recordIds = (records: readonly SourceRecord[]) => records.flatMap(({ id }) => id ?? []);

const isShown = (row: StoredState | null, now: Date) =>
  Number(row !== null && row.suppressedBy === null && (row.expiresAt === null || row.expiresAt > now));

/** Writes the changes. Must be called under the revision lock; the caller advances the revision. */
export async function writeRestoredIndicators(
  trx: Transaction<Tables>,
  sourceId: string,
  { statements, unsaid, withdrawn, lostIds, writes }: RestoredIndicators,
  lock: RevisionLock,
  now: Date,
): Promise<void> {
  await deleteStatements(trx, sourceId, unsaid);
  await deleteExternalIds(trx, withdrawn, lostIds);
  await writeStatements(trx, prepareStatements(statements));
  await writeIndicators(trx, prepareIndicators(writes), lock, now);
}
