import type { ColumnType, Generated } from 'kysely';
import type {
  CampaignStatus,
  EntityKind,
  IndicatorType,
  Motivation,
  RelationshipType,
  Severity,
  Sophistication,
  Tlp,
  Verdict,
} from '../model/vocabulary.ts';

/** jsonb goes in as text (both drivers take it alike) and comes out parsed. */
type Jsonb<T> = ColumnType<T, string, string>;

export interface Tables {
  revision: { only_row: Generated<boolean>; value: number; last_number: number };
  source: {
    id: string;
    name: string;
    kind: string;
    default_tlp: Tlp;
    default_confidence: number;
    default_severity: Severity;
    created_at: Date;
  };
  indicator: {
    id: string;
    number: number;
    type: IndicatorType;
    value: string;
    normalized: string;
    search_text: string | null;
    confidence: number;
    pinned_confidence: number | null;
    severity: Severity;
    tlp: Tlp;
    tags: string[];
    source_id: string;
    first_seen: Date;
    last_seen: Date;
    expires_at: Date | null;
    for_detection: boolean;
    whitelisted: Generated<boolean>;
    created_at: Date;
    revision: number;
    version: Generated<number>;
    modified_at: Date | null;
  };
  indicator_summary: {
    type: IndicatorType;
    severity: Severity;
    tlp: Tlp;
    confidence: number;
    for_detection: boolean;
    count: number;
    hash: string;
  };
  answer_state: { question: string; digest: string; changed_at: Date; asked_at: Date };
  indicator_source: {
    indicator_id: string;
    source_id: string;
    stated_at: Date | null;
    first_seen: Date | null;
    last_seen: Date | null;
    imported_at: Date;
    expires_at: Date | null;
    confidence: number | null;
    severity: Severity | null;
    tlp: Tlp;
    tags: string[];
    for_detection: boolean;
  };
  enrichment: {
    indicator_id: string;
    provider: string;
    verdict: Verdict;
    score: number | null;
    fetched_at: Date;
    expires_at: Date;
    error: string | null;
    raw: string;
    revision: number;
  };
  actor: {
    id: string;
    name: string;
    aliases: Jsonb<{ alias: string; namedBy: string | null }[]>;
    attack_group_id: string | null;
    description: string | null;
    country: string | null;
    motivation: Motivation;
    sophistication: Sophistication | null;
    retired: boolean;
    first_seen: Date | null;
    last_seen: Date | null;
    target_sectors: string[];
    target_countries: string[];
    confidence: number;
    tlp: Tlp;
    source_id: string;
    stated_at: Date | null;
    created_at: Date;
    revision: number;
    modified_at: Date | null;
  };
  campaign: {
    id: string;
    name: string;
    aliases: string[];
    description: string | null;
    pinned_status: CampaignStatus | null;
    start_date: Date | null;
    end_date: Date | null;
    target_sectors: string[];
    target_countries: string[];
    confidence: number;
    tlp: Tlp;
    source_id: string;
    stated_at: Date | null;
    created_at: Date;
    revision: number;
    modified_at: Date | null;
  };
  technique: {
    id: string;
    attack_id: string | null;
    name: string;
    description: string | null;
    tactics: string[];
    retired: boolean;
    confidence: number;
    tlp: Tlp;
    source_id: string;
    stated_at: Date | null;
    created_at: Date;
    revision: number;
    modified_at: Date | null;
  };
  software: {
    id: string;
    software_type: 'malware' | 'tool';
    attack_id: string | null;
    name: string;
    aliases: string[];
    description: string | null;
    retired: boolean;
    confidence: number;
    tlp: Tlp;
    source_id: string;
    stated_at: Date | null;
    created_at: Date;
    revision: number;
    modified_at: Date | null;
  };
  report: {
    id: string;
    title: string;
    description: string | null;
    published_at: Date | null;
    tags: string[];
    url: string | null;
    confidence: number;
    tlp: Tlp;
    source_id: string;
    stated_at: Date | null;
    created_at: Date;
    revision: number;
  };
  relationship: {
    from_id: string;
    to_id: string;
    type: RelationshipType;
    from_kind: EntityKind;
    to_kind: EntityKind;
    tlp: Tlp;
    source_id: string;
    revision: number;
  };
  external_id: { external_id: string; entity_id: string; entity_kind: EntityKind };
  api_key: {
    id: string;
    name: string;
    prefix: string;
    hash: string;
    scopes: string[];
    tlp_ceiling: Tlp;
    networks: string[];
    created_at: Date;
    expires_at: Date | null;
    revoked_at: Date | null;
    last_used_at: Date | null;
  };
  meta: { name: string; value: string };
}
