import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Column, recordset } from '../db/recordset.ts';
import { withRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import type { RecordVersion } from '../model/source-record.ts';
import type { UndoWriter } from './changes.queries.ts';

/** Withdrawals of records that no indicator holds. */

/** Returns the latest stored withdrawals of these records, by their ids. */
export async function findWithdrawals(
  db: Db,
  sourceId: string,
  recordIds: readonly string[],
): Promise<Map<string, RecordVersion>> {
  if (recordIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; statedAt: Date }>`
    select record_id as id, max(stated_at) as "statedAt" from record_withdrawal
    where source_id = ${sourceId}::uuid and record_id = any(${[...recordIds]}::text[]) group by record_id
  `.execute(db);
  return new Map(
    rows.map(({ id, statedAt }) => [id, { id, statedAt: statedAt.toISOString(), withdrawn: true }]),
  );
}

const COLUMNS: Record<string, Column<RecordVersion>> = {
  record_id: ['text', ({ id }) => id],
  stated_at: ['timestamptz', ({ statedAt }) => new Date(statedAt)],
};

/** Stores withdrawals for an import, which is undone without those of others. */
export async function writeWithdrawals(
  trx: Transaction<Tables>,
  { source, runId }: UndoWriter,
  withdrawals: readonly RecordVersion[],
): Promise<void> {
  if (withdrawals.length === 0) return;
  await sql`
    insert into record_withdrawal (source_id, record_id, stated_at, run)
    select ${source.id}::uuid, record_id, stated_at, coalesce((select number from import_run where id = ${runId}::uuid), 0)
    from ${recordset(withdrawals, COLUMNS)}
    on conflict (source_id, record_id, run) do update set stated_at = greatest(record_withdrawal.stated_at, excluded.stated_at)
  `.execute(trx);
}

/**
 * Deletes the withdrawals of a source.
 * @param run the number of the import that read them; null: all
 */
export async function deleteWithdrawals(db: Db, sourceId: string, run: number | null): Promise<void> {
  await withRevision(db, async (trx, revision) => {
    const { numDeletedRows } = await trx
      .deleteFrom('record_withdrawal')
      .where('source_id', '=', sourceId)
      .$if(run !== null, (query) => query.where('run', '=', run))
      .executeTakeFirstOrThrow();
    // Imports that are planned with them must be planned again.
    if (numDeletedRows > 0n) revision.advance();
  });
}
