import type { Db } from '../db/database.ts';
import { commitRevision, lockRevision } from '../db/revision/revision.ts';
import { deleteMerged, upsertEntities } from '../entities/resolution/entities.queries.ts';
import { ENTITY_RULES, type EntityRecord } from '../entities/resolution/entity-kinds.ts';
import { writeStatements } from '../entities/resolution/entity-statements.queries.ts';
import { deleteOtherExternalIds, writeExternalIds } from '../entities/resolution/external-ids.queries.ts';
import { type EntityChange, planEntities } from '../entities/resolution/plan-entities.ts';
import { moveEnds } from '../entities/resolution/relationship-ends.queries.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { Source } from '../sources/store/sources.queries.ts';
import { type LeaseHolder, NO_LEASE } from './assert-lease.ts';
import { hasUndoable, keepObjects } from './changes.queries.ts';
import type { ImportCounts } from './counts.ts';

/**
 * Imports records of one kind, as `importIndicators` does: works out without a lock what they change, then, when they
 * change anything, takes the revision and writes; worked out again under the lock when somebody else was quicker.
 */
export async function importEntities(
  db: Db,
  source: Source,
  kind: EntityRecord['kind'],
  records: readonly EntityRecord[],
  now: Date,
  counts: ImportCounts,
  dryRun: boolean,
  tlpCeiling: Tlp,
  writer: LeaseHolder = NO_LEASE,
): Promise<void> {
  const mayBeUndone = !dryRun && (await hasUndoable(db, source, writer.runId));
  let plan = await planEntities(db, source, kind, records, now, tlpCeiling);
  if (!dryRun && (mayBeUndone || plan.statements.length > 0)) {
    await db.transaction().execute(async (trx) => {
      const lock = await lockRevision(trx);
      await writer.guard(trx);
      if (lock.previous !== plan.revision)
        plan = await planEntities(trx, source, kind, records, now, tlpCeiling);
      await keepObjects(trx, { source, runId: writer.runId, revision: lock.next }, kind, plan);
      if (plan.statements.length === 0) return;
      await writeEntities(trx, kind, plan, lock.next, now);
      await commitRevision(trx, lock);
    });
  }
  for (const outcome of plan.outcomes) counts.count(kind, outcome);
}

/** Writes what a plan changes of one kind, under the revision's lock. */
export async function writeEntities(
  trx: Parameters<typeof upsertEntities>[0],
  kind: EntityRecord['kind'],
  plan: EntityChange,
  revision: number,
  now: Date,
): Promise<void> {
  const rules = ENTITY_RULES[kind];
  await writeStatements(trx, rules, plan.statements);
  await upsertEntities(trx, rules, plan.resolvedStates, revision, now);
  await moveEnds(trx, kind, plan.moves, revision);
  await deleteMerged(trx, rules, plan.successors);
  await deleteOtherExternalIds(trx, plan.prunedEntityIds, plan.externalIds);
  await writeExternalIds(trx, plan.externalIds);
}
