import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import { nextModifiedAt } from '../../db/next-modified-at.ts';
import type { Tables } from '../../db/tables.ts';

export interface PinnedConfidence {
  confidence: number;
  /** Null: unlocked. */
  pinned: number | null;
}

export async function findConfidence(db: Db, id: string): Promise<PinnedConfidence | undefined> {
  return db
    .selectFrom('indicator')
    .select(['confidence', 'pinned_confidence as pinned'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Sets or removes the pin. The caller then writes the confidence that results from it. */
export async function writePin(
  trx: Transaction<Tables>,
  id: string,
  pinned: number | null,
  revision: number,
  now: Date,
): Promise<void> {
  await sql`
    update indicator set pinned_confidence = ${pinned}::smallint, revision = ${revision}::bigint,
      version = version + 1, modified_at = ${nextModifiedAt('indicator', now)}
    where id = ${id}::uuid
  `.execute(trx);
}
