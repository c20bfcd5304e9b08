import { slugOf } from '../../model/text.ts';
import type { CampaignRow } from './campaigns.queries.ts';
import type { CampaignAnswer } from './campaigns.schema.ts';

export function toCampaign(row: CampaignRow): CampaignAnswer {
  return {
    id: row.id,
    name: row.name,
    slug: slugOf(row.name),
    description: row.description,
    status: row.status,
    startDate: row.start_date?.toISOString() ?? null,
    endDate: row.end_date?.toISOString() ?? null,
    targetSectors: row.target_sectors,
    targetCountries: row.target_countries,
    confidence: row.confidence,
    tlp: row.tlp,
    actorCount: row.actor_count,
    techniqueCount: row.technique_count,
    indicatorCount: row.indicator_count,
  };
}
