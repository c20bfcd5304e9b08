import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { type OpenRevision, withRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { Source } from '../sources/store/sources.queries.ts';
import type { LeaseHolder } from './assert-lease.ts';
import { hasUndoable, type UndoWriter } from './changes.queries.ts';
import type { ImportCounts } from './counts.ts';

/** Everything that the batches of one import share. */
export interface ImportContext {
  db: Db;
  source: Source;
  now: Date;
  counts: ImportCounts;
  /** The import counts what would change, and writes nothing. */
  dryRun: boolean;
  /**
   * The ceiling of the account that imports: records marked above it are rejected, and stored objects above it are
   * counted as new, so that counts do not reveal them.
   */
  tlpCeiling: Tlp;
  writer: LeaseHolder;
}

interface Planned {
  /** The revision that the plan is based on. */
  revision: number;
}

/**
 * Plans the changes of a batch without the lock of the revision, then writes them under it. If another writer has
 * committed in between, the batch is planned again under the lock.
 * @param plan reads the revision before the rows
 * @param write must call `advance` if it changes a response
 * @returns the plan that was written, or that has nothing to write
 */
export async function writePlanned<Plan extends Planned>(
  { db, source, dryRun, writer }: ImportContext,
  plan: (db: Db) => Promise<Plan>,
  changesAnything: (plan: Plan) => boolean,
  write: (trx: Transaction<Tables>, plan: Plan, revision: OpenRevision, keeper: UndoWriter) => Promise<void>,
): Promise<Plan> {
  let planned = await plan(db);
  if (dryRun) return planned;
  // A repeated statement passes the undo data of an earlier import on, so it is recorded although it changes nothing.
  if (!changesAnything(planned) && !(await hasUndoable(db, source, writer.runId))) return planned;
  await withRevision(db, async (trx, revision) => {
    await writer.guard(trx);
    if (revision.previous !== planned.revision) planned = await plan(trx);
    // A repetition that changes nothing takes no revision: a later change must not have the same one.
    const at = changesAnything(planned) ? revision.next : revision.previous;
    await write(trx, planned, revision, { source, runId: writer.runId, revision: at });
  });
  return planned;
}
