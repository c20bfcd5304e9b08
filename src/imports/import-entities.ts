import type { Transaction } from 'kysely';
import type { Tables } from '../db/tables.ts';
import { deleteMerged, upsertEntities } from '../entities/resolution/entities.queries.ts';
import { ENTITY_RULES, type EntityRecord } from '../entities/resolution/entity-kinds.ts';
import { writeStatements } from '../entities/resolution/entity-statements.queries.ts';
import { deleteOtherExternalIds, writeExternalIds } from '../entities/resolution/external-ids.queries.ts';
import { type EntityChange, planEntities } from '../entities/resolution/plan-entities.ts';
import { moveEnds } from '../entities/resolution/relationships.queries.ts';
import { recordObjectChanges } from './changes.queries.ts';
import { type ImportContext, writePlanned } from './import-context.ts';

/** Imports a batch of records of one kind. */
export async function importEntities(
  context: ImportContext,
  kind: EntityRecord['kind'],
  records: readonly EntityRecord[],
): Promise<void> {
  const { source, now, tlpCeiling, counts } = context;
  const plan = await writePlanned(
    context,
    (db) => planEntities(db, source, kind, records, now, tlpCeiling),
    ({ statements }) => statements.length > 0,
    async (trx, planned, revision, keeper) => {
      await recordObjectChanges(trx, keeper, kind, planned);
      if (planned.statements.length === 0) return;
      await writeEntities(trx, kind, planned, revision.next, now);
      revision.advance();
    },
  );
  for (const [n, outcome] of plan.outcomes.entries()) {
    const { withdrawn = '', externalIds: [where = ''] = [] } = records[n] ?? {};
    if (outcome === 'rejected') counts.reject(kind, withdrawn, where);
    else counts.count(kind, outcome);
  }
}

/** Writes the planned changes of one kind, under the lock of the revision. */
export async function writeEntities(
  trx: Transaction<Tables>,
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
