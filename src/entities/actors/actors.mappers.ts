import { slugOf } from '../../model/slug.ts';
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
  const catalogued = (item: { id: string; attack_id: string | null; name: string }) => ({
    id: item.id,
    attackId: item.attack_id,
    name: item.name,
  });
  return {
    ...toActor(row),
    description: row.description,
    targetSectors: row.target_sectors,
    targetCountries: row.target_countries,
    firstSeen: row.first_seen?.toISOString() ?? null,
    lastSeen: row.last_seen?.toISOString() ?? null,
    techniques: row.techniques.map((technique) => ({ ...catalogued(technique), tactics: technique.tactics })),
    malware: row.software.filter(({ software_type }) => software_type === 'malware').map(catalogued),
    tools: row.software.filter(({ software_type }) => software_type === 'tool').map(catalogued),
  };
}
