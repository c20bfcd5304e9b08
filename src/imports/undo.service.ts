import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { forgetLastCopy, sourceId } from '../sources/store/sources.queries.ts';
import {
  countRelationshipChanges,
  expandBatches,
  findChanges,
  findUndone,
  takeChanges,
  takeRelationshipChanges,
  UNDO_DAYS,
} from './changes.queries.ts';
import { findRun } from './import-runs.queries.ts';
import {
  previewRestoration,
  type Restoration,
  type RestoreOptions,
  type RestorePreview,
  restore,
} from './restore.service.ts';
import { beginUndo, endUndo, unfinishedUndos } from './undo.queries.ts';
import { deleteWithdrawals } from './withdrawals.queries.ts';

/** Thrown when an import cannot be undone; the message states the reason. */
export class UndoError extends Error {
  override name = 'UndoError';
}

type Run = NonNullable<Awaited<ReturnType<typeof findRun>>>;

const DAY_MS = 86_400_000;
const NO_UNDO_DATA = 'It has no undo data: its source was removed since, or an earlier version imported it.';

/** @throws {UndoError} when the import cannot be undone */
async function requireUndoable(db: Db, id: string, now: Date): Promise<Run> {
  const run = await findRun(db, id);
  if (!run) throw new UndoError('There is no such import.');
  const problem = undoProblem(run, now);
  if (problem !== null) throw new UndoError(problem);
  return run;
}

/** Returns why an import cannot be undone; null: it can. */
function undoProblem(run: Run, now: Date): string | null {
  if (run.dryRun) return 'It was a dry run: it changed nothing.';
  if (run.undo !== null) return run.undo === 'done' ? 'It has been undone already.' : null;
  if (run.state === 'running')
    return 'It is still running: wait for its end, or stop it. If its process has ended, try again in a minute.';
  if (run.startedAt.getTime() < now.getTime() - UNDO_DAYS * DAY_MS)
    return `It is older than ${UNDO_DAYS} days: its undo data has been deleted.`;
  return run.keepsChanges ? null : NO_UNDO_DATA;
}

/**
 * Returns the changes that the undo of an import would make.
 * @throws {UndoError} when it cannot be undone
 */
export async function previewUndo(db: Db, id: string, now: Date): Promise<RestorePreview> {
  const run = await requireUndoable(db, id, now);
  await expandBatches(db, { name: run.source });
  return previewRestoration(db, undoRestoration(run), now);
}

/** Returns the restoration of a source's statements before an import, except those that a later import has restated. */
function undoRestoration(run: Run): Restoration {
  const undone = async (db: Db) => {
    const found = await findUndone(db, run);
    if (!found) throw new UndoError(NO_UNDO_DATA);
    return found;
  };
  return {
    source: { id: sourceId(run.source), name: run.source },
    find: async (db, ...walk) => findChanges(db, await undone(db), ...walk),
    take: async (trx, ...walk) => takeChanges(trx, await undone(trx), ...walk),
    countRelationships: async (db) => countRelationshipChanges(db, await undone(db)),
    takeRelationships: async (trx, most) => takeRelationshipChanges(trx, await undone(trx), most),
  };
}

/**
 * Records that an import is to be undone; `carryOutUndos` carries it out.
 * @throws {UndoError} when it cannot be undone
 */
export async function startUndo(db: Db, id: string, by: AuditActor): Promise<void> {
  const run = await requireUndoable(db, id, by.now);
  await db.transaction().execute(async (trx) => {
    if (!(await beginUndo(trx, id, by))) return;
    await writeAudit(trx, by, {
      action: 'import.undo',
      object: { kind: 'import', id },
      before: { source: run.source, fileName: run.fileName },
      after: null,
      reason: null,
    });
  });
}

/**
 * Carries out the undos that have begun. An interrupted undo continues where it stopped; several processes may call
 * this at the same time.
 */
export async function runPendingUndos(db: Db, carryOut: RestoreOptions): Promise<void> {
  for (const id of await unfinishedUndos(db)) {
    const run = await findRun(db, id);
    if (!run) continue;
    await expandBatches(db, { name: run.source });
    if (!(await restore(db, undoRestoration(run), carryOut))) continue;
    const undone = await findUndone(db, run);
    if (undone) await deleteWithdrawals(db, sourceId(run.source), undone.number);
    await forgetLastCopy(db, sourceId(run.source));
    await endUndo(db, id, carryOut.now());
  }
}
