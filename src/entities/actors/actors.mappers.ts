import { slugOf } from '../../model/text.ts';
import { malwareAndTools } from '../entities.queries.ts';
import type { ActorRow, findActor } from './actors.queries.ts';
import type { ActorAnswer, ActorDetailAnswer } from './actors.schema.ts';

export function toActor(row: ActorRow): ActorAnswer {
  return {
    id: row.id,
    name: row.name,
    slug: slugOf(row.name),
    attackGroupId: row.attack_group_id,
    country: row.country,
    motivation: row.motivation,
    sophistication: row.sophistication,
    active: row.active,
    confidence: row.confidence,
    tlp: row.tlp,
    aliases: row.aliases,
  };
}

export function toActorDetail(row: NonNullable<Awaited<ReturnType<typeof findActor>>>): ActorDetailAnswer {
  return {
    ...toActor(row),
    description: row.description,
    targetSectors: row.target_sectors,
    targetCountries: row.target_countries,
    firstSeen: row.first_seen?.toISOString() ?? null,
    lastSeen: row.last_seen?.toISOString() ?? null,
    techniques: row.techniques,
    ...malwareAndTools(row.software),
  };
}
