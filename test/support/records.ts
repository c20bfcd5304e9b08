import type {
  ActorRecord,
  AttributeRecord,
  CampaignRecord,
  RelationshipRecord,
  ReportRecord,
  SoftwareRecord,
  TechniqueRecord,
} from '../../src/importers/importer.ts';
import type { RelationshipType } from '../../src/model/vocabulary.ts';

const stated = { statedAt: null, tlp: null, confidence: null };

export function actorRecord(name: string, fields: Partial<ActorRecord> = {}): ActorRecord {
  return {
    kind: 'actor',
    externalIds: [`actor:${name}`],
    name,
    aliases: [],
    attackGroupId: null,
    description: null,
    country: null,
    motivation: null,
    sophistication: null,
    retired: false,
    firstSeen: null,
    lastSeen: null,
    targetSectors: [],
    targetCountries: [],
    ...stated,
    ...fields,
  };
}

export function campaignRecord(name: string, fields: Partial<CampaignRecord> = {}): CampaignRecord {
  return {
    kind: 'campaign',
    externalIds: [`campaign:${name}`],
    name,
    aliases: [],
    description: null,
    startDate: null,
    endDate: null,
    targetSectors: [],
    targetCountries: [],
    ...stated,
    ...fields,
  };
}

export function techniqueRecord(attackId: string, fields: Partial<TechniqueRecord> = {}): TechniqueRecord {
  return {
    kind: 'technique',
    externalIds: [`technique:${attackId}`],
    attackId,
    name: `Technique ${attackId}`,
    description: null,
    tactics: [],
    retired: false,
    ...stated,
    ...fields,
  };
}

export function softwareRecord(name: string, fields: Partial<SoftwareRecord> = {}): SoftwareRecord {
  return {
    kind: 'software',
    externalIds: [`software:${name}`],
    softwareType: 'malware',
    attackId: null,
    name,
    aliases: [],
    description: null,
    retired: false,
    ...stated,
    ...fields,
  };
}

export function reportRecord(title: string, fields: Partial<ReportRecord> = {}): ReportRecord {
  return {
    kind: 'report',
    externalIds: [`report:${title}`],
    title,
    description: null,
    publishedAt: null,
    tags: [],
    url: null,
    authors: [],
    links: [],
    ...stated,
    ...fields,
  };
}

export function attributeRecord(
  type: string,
  value: string,
  fields: Partial<AttributeRecord> = {},
): AttributeRecord {
  return {
    kind: 'attribute',
    externalIds: [`attribute:${type}:${value}`],
    type,
    value,
    name: null,
    description: null,
    category: null,
    forDetection: true,
    object: null,
    tags: [],
    expiresAt: null,
    killChainPhases: null,
    ...stated,
    ...fields,
  };
}

export function relationshipRecord(
  from: string,
  type: RelationshipType,
  to: string,
  fields: Partial<RelationshipRecord> = {},
): RelationshipRecord {
  return { kind: 'relationship', type, from, to, tlp: null, ...fields };
}
