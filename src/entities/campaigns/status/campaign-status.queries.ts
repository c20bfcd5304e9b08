import { sql, type Transaction } from 'kysely';
import type { Db } from '../../../db/database.ts';
import { nextModifiedAt } from '../../../db/expressions.ts';
import type { Tables } from '../../../db/tables.ts';
import type { CampaignStatus } from '../../../model/vocabulary.ts';

export interface NamedCampaign {
  id: string;
  name: string;
  /** The status that an analyst has set; null: its dates determine the status. */
  status: CampaignStatus | null;
}

/** Returns the campaigns with this id, or with this name, ignoring case. */
export async function findCampaignsNamed(db: Db, idOrName: string): Promise<NamedCampaign[]> {
  return db
    .selectFrom('campaign')
    .select(['id', 'name', 'pinned_status as status'])
    .where(sql<boolean>`id::text = ${idOrName} or lower(name) = lower(${idOrName})`)
    .orderBy('id')
    .execute();
}

export async function writeStatus(
  trx: Transaction<Tables>,
  id: string,
  status: CampaignStatus | null,
  revision: number,
  now: Date,
): Promise<void> {
  await sql`
    update campaign set pinned_status = ${status}::campaign_status, revision = ${revision}::bigint,
      modified_at = ${nextModifiedAt('campaign', now)}
    where id = ${id}::uuid
  `.execute(trx);
}
