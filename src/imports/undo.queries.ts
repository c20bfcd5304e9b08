import type { Transaction } from 'kysely';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';

/** @returns false: the undo has begun already, or the import has no undo data any more */
export async function beginUndo(
  trx: Transaction<Tables>,
  id: string,
  { who, now }: AuditActor,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('import_run')
    .set({ undo: 'running', undone_by: who, undone_at: now })
    .where('id', '=', id)
    .where('undo', 'is', null)
    .where('keeps_changes', '=', true)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the imports whose undo has begun and not ended, the earliest undo first. */
export async function unfinishedUndos(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('import_run')
    .select('id')
    .where('undo', '=', 'running')
    .orderBy('undone_at')
    .execute();
  return rows.map(({ id }) => id);
}

export async function endUndo(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('import_run')
    .set({ undo: 'done', undone_at: now })
    .where('id', '=', id)
    .where('undo', '=', 'running')
    .execute();
}
