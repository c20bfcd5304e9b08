import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Principal, visibleFrom } from '../../db/visibility.ts';
import { linkedTechniques } from '../entities.queries.ts';

/** Returns the actor with the visible techniques that it uses, from one snapshot. */
export async function findActorTechniques(db: Db, principal: Principal, id: string) {
  return visibleFrom(db, 'actor', principal)
    .select(['name', 'description', 'attack_group_id as attackGroupId'])
    .select(linkedTechniques(db, 'actor', principal))
    .where('actor.id', '=', id)
    .executeTakeFirst();
}

/** Returns the campaign with the visible techniques that it uses, from one snapshot. */
export async function findCampaignTechniques(db: Db, principal: Principal, id: string) {
  return visibleFrom(db, 'campaign', principal)
    .select(['name', 'description', sql<null>`null`.as('attackGroupId')])
    .select(linkedTechniques(db, 'campaign', principal))
    .where('campaign.id', '=', id)
    .executeTakeFirst();
}
