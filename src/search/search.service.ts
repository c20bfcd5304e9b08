import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { listActors } from '../entities/actors/actors.queries.ts';
import { listCampaigns } from '../entities/campaigns/campaigns.queries.ts';
import { findReportsTitled } from '../entities/reports/reports.queries.ts';
import { searchIndicators } from '../indicators/details.queries.ts';
import { indicatorId } from '../model/identity.ts';
import { normalize } from '../model/normalize.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import { findTechniquesOrSoftware, hasTag } from './search.queries.ts';

/** The first objects of each kind that contain a text. */
export interface SearchPage {
  q: string;
  /** The maximum number of objects of a kind. */
  most: number;
}

/** @param includeSuppressed whether whitelisted and expired indicators with exactly this value are found too */
export async function findIndicators(
  db: Db,
  principal: Principal,
  { q, most }: SearchPage,
  includeSuppressed: boolean,
) {
  return searchIndicators(db, principal, { q, ids: idsOf(q), includeSuppressed, most });
}

export async function findActors(db: Db, principal: Principal, { q, most }: SearchPage) {
  const { rows } = await listActors(db, principal, { q }, { page: 1, pageSize: most });
  return rows.map(({ id, name, attack_group_id }) => ({ id, name, attackGroupId: attack_group_id }));
}

export async function findCampaigns(db: Db, principal: Principal, { q, most }: SearchPage) {
  const { rows } = await listCampaigns(db, principal, { q }, { page: 1, pageSize: most });
  return rows.map(({ id, name, status }) => ({ id, name, status }));
}

export const findTechniques = (db: Db, principal: Principal, { q, most }: SearchPage) =>
  findTechniquesOrSoftware(db, principal, 'technique', q, most);

export const findSoftware = (db: Db, principal: Principal, { q, most }: SearchPage) =>
  findTechniquesOrSoftware(db, principal, 'software', q, most);

export const findReports = (db: Db, principal: Principal, { q, most }: SearchPage) =>
  findReportsTitled(db, principal, q, most);

/** Returns the text itself if a visible indicator has it as a tag, else nothing. */
export async function findTags(db: Db, principal: Principal, { q }: SearchPage): Promise<string[]> {
  return (await hasTag(db, principal, q)) ? [q] : [];
}

/** Returns the ids of the indicators of all types whose value this text can be. */
function idsOf(text: string): string[] {
  return INDICATOR_TYPES.flatMap((type) => {
    const value = normalize(type, text);
    return 'rejected' in value ? [] : [indicatorId(type, value.normalized)];
  });
}
