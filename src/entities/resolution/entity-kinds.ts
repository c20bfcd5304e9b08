import type {
  ActorRecord,
  AttributeRecord,
  CampaignRecord,
  ReportRecord,
  SoftwareRecord,
  TechniqueRecord,
} from '../../importers/importer.ts';
import type { Columns, Json } from './entity-state.ts';

export type EntityRecord =
  | ActorRecord
  | CampaignRecord
  | TechniqueRecord
  | SoftwareRecord
  | ReportRecord
  | AttributeRecord;

/** The rules by which records of one kind become rows of its table. */
export interface EntityKindRules {
  table: EntityRecord['kind'];
  /** The columns and their PostgreSQL types. */
  columns: Record<string, string>;
  name(record: EntityRecord): string;
  columnsOf(record: EntityRecord): Columns;
  /**
   * Whether ATT&CK numbers objects of this kind (techniques, software), so that every source identifies them
   * by that number.
   */
  isNumbered: boolean;
  /** Returns the object's ATT&CK id. */
  attackId(columns: Columns): string | null;
  /**
   * Returns the name and aliases, by which an object matches those of other sources; empty: only ids match.
   */
  names(columns: Columns): string[];
}

const iso = (date: Date | null) => date?.toISOString() ?? null;
const text = (value: Json | undefined) => (typeof value === 'string' ? value : null);
const list = (value: Json | undefined) => (Array.isArray(value) ? value : []);

function rules<R extends EntityRecord>(
  table: R['kind'],
  columns: Record<string, string>,
  columnsOf: (record: R) => Columns,
  identity: Partial<Pick<EntityKindRules, 'attackId' | 'names'>> = {},
): EntityKindRules {
  return {
    table,
    columns,
    name: (record) => ('title' in record ? record.title : (record.name ?? '')),
    columnsOf: (record) => columnsOf(record as R),
    isNumbered: table === 'technique' || table === 'software',
    attackId: ({ attack_id }) => text(attack_id),
    names: ({ name, aliases }) => [text(name) ?? '', ...list(aliases).map(String)],
    ...identity,
  };
}

export const ENTITY_RULES: Record<EntityRecord['kind'], EntityKindRules> = {
  actor: rules<ActorRecord>(
    'actor',
    {
      name: 'text',
      aliases: 'jsonb',
      attack_group_id: 'text',
      description: 'text',
      country: 'text',
      motivation: 'text',
      sophistication: 'text',
      retired: 'boolean',
      first_seen: 'timestamptz',
      last_seen: 'timestamptz',
      target_sectors: 'text[]',
      target_countries: 'text[]',
    },
    (record) => ({
      name: record.name,
      aliases: record.aliases.map(({ alias, namedBy }) => ({ alias, namedBy })),
      attack_group_id: record.attackGroupId,
      description: record.description,
      country: record.country,
      motivation: record.motivation ?? 'UNKNOWN',
      sophistication: record.sophistication,
      retired: record.retired,
      first_seen: iso(record.firstSeen),
      last_seen: iso(record.lastSeen),
      target_sectors: record.targetSectors,
      target_countries: record.targetCountries,
    }),
    {
      attackId: ({ attack_group_id }) => text(attack_group_id),
      names: ({ name, aliases }) => [
        text(name) ?? '',
        ...list(aliases).map((alias) => (alias as { alias: string }).alias),
      ],
    },
  ),
  campaign: rules<CampaignRecord>(
    'campaign',
    {
      name: 'text',
      aliases: 'text[]',
      description: 'text',
      start_date: 'timestamptz',
      end_date: 'timestamptz',
      target_sectors: 'text[]',
      target_countries: 'text[]',
    },
    (record) => ({
      name: record.name,
      aliases: record.aliases,
      description: record.description,
      start_date: iso(record.startDate),
      end_date: iso(record.endDate),
      target_sectors: record.targetSectors,
      target_countries: record.targetCountries,
    }),
    { attackId: () => null },
  ),
  technique: rules<TechniqueRecord>(
    'technique',
    { name: 'text', attack_id: 'text', description: 'text', tactics: 'text[]', retired: 'boolean' },
    (record) => ({
      name: record.name,
      attack_id: record.attackId,
      description: record.description,
      tactics: record.tactics,
      retired: record.retired,
    }),
  ),
  software: rules<SoftwareRecord>(
    'software',
    {
      name: 'text',
      software_type: 'text',
      attack_id: 'text',
      aliases: 'text[]',
      description: 'text',
      retired: 'boolean',
    },
    (record) => ({
      name: record.name,
      software_type: record.softwareType,
      attack_id: record.attackId,
      aliases: record.aliases,
      description: record.description,
      retired: record.retired,
    }),
  ),
  report: rules<ReportRecord>(
    'report',
    {
      title: 'text',
      description: 'text',
      published_at: 'timestamptz',
      tags: 'text[]',
      url: 'text',
      authors: 'text[]',
      links: 'text[]',
    },
    (record) => ({
      title: record.title,
      description: record.description,
      published_at: iso(record.publishedAt),
      tags: record.tags,
      url: record.url,
      authors: record.authors,
      links: record.links,
    }),
    { attackId: () => null, names: () => [] },
  ),
  attribute: rules<AttributeRecord>(
    'attribute',
    {
      type: 'text',
      value: 'text',
      name: 'text',
      description: 'text',
      category: 'text',
      for_detection: 'boolean',
      object: 'jsonb',
      tags: 'text[]',
      expires_at: 'timestamptz',
      kill_chain_phases: 'jsonb',
    },
    (record) => ({
      type: record.type,
      value: record.value,
      name: record.name,
      description: record.description,
      category: record.category,
      for_detection: record.forDetection,
      object: record.object,
      tags: record.tags,
      expires_at: iso(record.expiresAt),
      kill_chain_phases: record.killChainPhases,
    }),
    { attackId: () => null, names: () => [] },
  ),
};
