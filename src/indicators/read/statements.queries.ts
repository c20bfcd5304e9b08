import type { Db } from '../../db/database.ts';
import { type Principal, visible, visibleFrom } from '../../db/visibility.ts';

/** Returns the statements of the sources of an indicator that are visible to the principal, the latest first. */
export async function findStatements(db: Db, principal: Principal, id: string, most: number) {
  return visibleFrom(db, 'indicator', principal)
    .innerJoin('indicator_source as said', 'said.indicator_number', 'indicator.number')
    .innerJoin('source as of', 'of.id', 'said.source_id')
    .select(['of.name as source', 'said.confidence', 'said.severity', 'said.tlp', 'said.tags'])
    .select(['said.first_seen as firstSeen', 'said.last_seen as lastSeen', 'said.delisted_at as delistedAt'])
    .select(['said.for_detection as forDetection', 'said.imported_at as importedAt'])
    .where('indicator.id', '=', id)
    .where(visible('indicator_source', principal, 'said'))
    .orderBy('said.imported_at', 'desc')
    .orderBy('of.name')
    .limit(most)
    .execute();
}
