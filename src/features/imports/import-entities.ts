import type { Db } from '../../db/open.ts';
import { commitRevision, lockRevision } from '../../db/revision.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { removeShown, writeShown } from './entities.queries.ts';
import { ENTITY_RULES, type EntityRecord } from './entity-kinds.ts';
import { writeStatements } from './entity-statements.queries.ts';
import { keepExternalIds, writeExternalIds } from './external-ids.queries.ts';
import { type Guard, unguarded } from './guard.ts';
import { type EntityPlan, planEntities } from './plan-entities.ts';
import { moveEnds } from './relationship-ends.queries.ts';
import type { Source } from './sources.queries.ts';
import type { Tally } from './tally.ts';

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
  tally: Tally,
  dryRun: boolean,
  seesUpTo: Tlp,
  guard: Guard = unguarded,
): Promise<void> {
  let plan = await planEntities(db, source, kind, records, now, seesUpTo);
  if (!dryRun && plan.statements.length > 0) {
    await db.transaction().execute(async (trx) => {
      const lock = await lockRevision(trx);
      await guard(trx);
      if (lock.previous !== plan.revision)
        plan = await planEntities(trx, source, kind, records, now, seesUpTo);
      if (plan.statements.length === 0) return;
      await write(trx, kind, plan, lock.next, now);
      await commitRevision(trx, lock);
    });
  }
  for (const outcome of plan.outcomes) tally.count(kind, outcome);
}

async function write(
  trx: Parameters<typeof writeShown>[0],
  kind: EntityRecord['kind'],
  plan: EntityPlan,
  revision: number,
  now: Date,
): Promise<void> {
  const rules = ENTITY_RULES[kind];
  await writeStatements(trx, rules, plan.statements);
  await writeShown(trx, rules, plan.shown, revision, now);
  await moveEnds(trx, kind, plan.moves, revision);
  await removeShown(trx, rules, plan.successors);
  await keepExternalIds(trx, plan.regrouped, plan.externalIds);
  await writeExternalIds(trx, plan.externalIds);
}
