import type { ColumnType, Generated } from 'kysely';
import type { Role } from '../model/account.ts';
import type { KillChainPhase, MispObject, SourceRecord } from '../model/source-record.ts';
import type { Lifetimes } from '../model/statement.ts';
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
import type { Epss, Kev } from '../model/vulnerability.ts';

/** jsonb goes in as text (both drivers take it alike) and comes out parsed. */
type Jsonb<T> = ColumnType<T, string, string>;
type NullableJsonb<T> = ColumnType<T | null, string | null | undefined, string | null>;
/** The same, where the column has a default. */
type DefaultedJsonb<T> = ColumnType<T, string | undefined, string>;

export interface Tables {
  /** Counts changes of access rights. */
  access_revision: { only_row: Generated<boolean>; value: number };
  revision: {
    only_row: Generated<boolean>;
    value: number;
    last_number: number;
    epoch: Generated<string>;
  };
  /** Times that the history before a restore may have stated, in microseconds since 1970. */
  lost_period: { after_date: number; last_date: number };
  source: {
    id: string;
    name: string;
    kind: string;
    default_tlp: Tlp;
    default_confidence: number;
    default_severity: Severity;
    created_at: Date;
    address: string | null;
    options: DefaultedJsonb<Record<string, unknown>>;
    interval_seconds: number | null;
    enabled: Generated<boolean>;
    lifetimes: DefaultedJsonb<Lifetimes>;
    is_snapshot_list: Generated<boolean>;
    credentials: string | null;
    memory: DefaultedJsonb<Record<string, unknown>>;
    next_run_at: Date | null;
    last_run_at: Date | null;
    last_success_at: Date | null;
    last_error: string | null;
    errors_in_a_row: Generated<number>;
    last_counts: NullableJsonb<Record<string, unknown>>;
    recomputed: Generated<boolean>;
    recompute_position: string | null;
    settings_version: Generated<number>;
    run_token: string | null;
    running_until: Date | null;
    /**
     * `running`: its statements are being withdrawn; `done`: only rows that name it as their source are left.
     */
    removal: 'running' | 'done' | null;
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
    of_certificate: Generated<boolean>;
    has_records: Generated<boolean>;
    whitelisted: Generated<boolean>;
    /** The whitelisted addresses and CIDR blocks within a network; null: none. */
    whitelisted_parts: string[] | null;
    created_at: Date;
    revision: number;
    version: Generated<number>;
    modified_at: Date | null;
    /** The place of its last change among all changes; null: before the column existed, `number` is that place. */
    change_number: Generated<number | null>;
    /** Of a CVE id: its EPSS score; null: none is known. */
    epss: Epss | null;
    kev: Kev | null;
  };
  /** The change numbers of each revision, and the time of the first one in microseconds since 1970. */
  change_date: {
    first_number: number;
    last_number: number;
    first_date: number;
    revision: number;
    modified: Generated<number>;
  };
  epss_score: { cve: string; score: number; percentile: number; date: string };
  indicator_summary: {
    type: IndicatorType;
    severity: Severity;
    tlp: Tlp;
    confidence: number;
    for_detection: boolean;
    count: number;
    hash: string;
    expires_next: Generated<boolean>;
  };
  indicator_tag_summary: {
    tag: string;
    type: IndicatorType;
    severity: Severity;
    tlp: Tlp;
    count: number;
    expires_next: Generated<boolean>;
  };
  indicator_summary_expiry: {
    only_row: Generated<boolean>;
    expires_at: Date;
    id: string;
    next_expires_at: Date;
    next_id: string;
  };
  indicator_campaign: { campaign_id: string; indicator_id: string; tlp: Tlp };
  list_segment_state: {
    only_row: Generated<boolean>;
    revision: number;
    counted_at: Date;
    has_grams: boolean;
  };
  first_seen_segment: { first_seen: Date; counts: number[]; counts_with_confidence: Generated<number[]> };
  first_seen_change: { indicator_id: string; revision: number; first_seen: Date };
  list_gram: { gram: string; counts: number[]; numbers: number[] | null; newer_than: Date };
  list_segment: {
    last_seen: Date;
    id: string;
    counts: number[];
    counts_with_confidence: Generated<number[]>;
  };
  list_tag: { tag: string };
  first_seen_segment_tag: {
    tag: string;
    first_seen: Date;
    counts: number[];
    counts_with_confidence: Generated<number[]>;
  };
  first_seen_segment_week: { first_seen: Date; week: number; count: number };
  list_segment_tag: {
    tag: string;
    last_seen: Date;
    id: string;
    counts: number[];
    counts_with_confidence: Generated<number[]>;
  };
  list_source: { source_id: string };
  first_seen_segment_source: {
    source_id: string;
    first_seen: Date;
    counts: number[];
    counts_with_confidence: Generated<number[]>;
  };
  list_segment_source: {
    source_id: string;
    last_seen: Date;
    id: string;
    counts: number[];
    counts_with_confidence: Generated<number[]>;
  };
  statement_change: { indicator_number: number; source_id: string; revision: number; tlp: Tlp | null };
  campaign_summary: { campaign_id: string; tlp: Tlp; count: number; expires_next: Generated<boolean> };
  source_summary: {
    source_id: string;
    type: IndicatorType;
    severity: Severity;
    tlp: Tlp;
    confidence: number;
    count: number;
    expires_next: Generated<boolean>;
  };
  import_run: {
    id: string;
    source: string;
    file_name: string;
    file_bytes: number;
    format: string;
    dry_run: boolean;
    who: string;
    state: 'running' | 'done' | 'failed' | 'stopped';
    started_at: Date;
    ended_at: Date | null;
    heartbeat_at: Date;
    read_bytes: Generated<number>;
    counts: DefaultedJsonb<Record<string, unknown>>;
    hidden: Generated<number>;
    problem: string | null;
    stop_requested_by: string | null;
    rejected: DefaultedJsonb<{ where: string; reason: string }[]>;
    number: Generated<number>;
    keeps_changes: Generated<boolean>;
    undo: 'running' | 'done' | null;
    undone_by: string | null;
    undone_at: Date | null;
  };
  record_withdrawal: {
    source_id: string;
    record_id: string;
    stated_at: Date;
    run: number;
  };
  import_change: {
    object_id: string;
    run: number;
    kind: EntityKind;
    changed: boolean;
    revision: number;
    before: Record<string, unknown> | null;
  };
  import_batch: {
    number: Generated<number>;
    source: string;
    run: number | null;
    kind: EntityKind;
    changed: boolean;
    revision: number;
    object_ids: string[];
  };
  import_relationship_change: {
    from_id: string;
    to_id: string;
    type: RelationshipType;
    run: number;
    source_id: string;
    from_kind: EntityKind;
    to_kind: EntityKind;
    changed: boolean;
    revision: number;
    before: Tlp | null;
  };
  address_rule_version: {
    request: string;
    rules: Jsonb<Record<string, [digest: string, since: number]>>;
    requested_at: Date;
  };
  response_version: { request: string; digest: string; changed_at: Date; requested_at: Date };
  indicator_source: {
    indicator_number: number;
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
    of_certificate: boolean;
    delisted_at: Date | null;
    records: SourceRecord[] | null;
    files: string[] | null;
    kev: Kev | null;
  };
  whitelist_state: {
    only_row: Generated<boolean>;
    edition: string;
    lists_edition: Generated<string>;
    applied: string | null;
    position: string | null;
  };
  whitelist: {
    id: string;
    name: string;
    description: string;
    list_version: string | null;
    shipped: boolean;
    enabled: boolean;
    content: Jsonb<unknown>;
    updated_at: Date;
  };
  whitelist_entry: {
    id: string;
    kind: string;
    entry: string;
    types: string[];
    reason: string;
    added_by: string;
    tlp: Tlp;
    added_at: Date;
  };
  whitelist_hit: { indicator_id: string; list_id: string; entry: string };
  provider: {
    name: string;
    automatic: Generated<boolean>;
    keys: string | null;
    base_url: string | null;
    tlp_ceiling: Generated<Tlp>;
    per_minute: number | null;
    per_day: number | null;
    paused_until: Date | null;
    last_queried_at: Date | null;
    last_error: string | null;
  };
  /** Each revision, with a random token that identifies the history that it is part of. */
  revision_log: { revision: number; token: string; committed_at: Generated<Date> };
  /** States of indicators before their changes, from `from_revision` up to, but not including, `to_revision`. */
  indicator_history: {
    indicator_id: string;
    from_revision: number;
    to_revision: number;
    tlp: Tlp;
    whitelisted: boolean;
    expires_at: Date | null;
    severity: Severity;
    confidence: number;
    for_detection: boolean;
    last_seen: Date;
    tags: string[];
    value: string;
    epss: Epss | null;
    kev: Kev | null;
    whitelisted_parts: string[] | null;
  };
  /** The same of links of indicators to actors and campaigns. */
  link_history: {
    from_id: string;
    to_id: string;
    type: RelationshipType;
    from_kind: EntityKind;
    to_kind: EntityKind;
    tlp: Tlp;
    from_revision: number;
    to_revision: number;
    ended_number: number | null;
  };
  /** The same of actors, campaigns, techniques and software. */
  entity_history: {
    id: string;
    kind: EntityKind;
    from_revision: number;
    to_revision: number;
    state: Jsonb<Record<string, unknown>>;
    ended_number: number | null;
  };
  /** The lengths of the prefixes of networks. */
  network_prefix: { type: IndicatorType; length: number };
  enrichment_request: {
    indicator_id: string;
    provider: string;
    priority: number;
    requested_at: Date;
    claimed_until: Date | null;
    attempts: Generated<number>;
  };
  audit: {
    id: Generated<number>;
    at: Date;
    who: string;
    action: string;
    object_kind: string;
    object_id: string;
    before: NullableJsonb<unknown>;
    after: NullableJsonb<unknown>;
    reason: string | null;
    address: string | null;
  };
  app_user: {
    id: string;
    email: string;
    name: string;
    role: Role;
    password_hash: string | null;
    must_change_password: Generated<boolean>;
    disabled_at: Date | null;
    created_at: Date;
  };
  app_session: {
    id: string;
    user_id: string;
    token_hash: string;
    by_provider: boolean;
    address: string;
    user_agent: string;
    created_at: Date;
    expires_at: Date;
  };
  app_pending_sign_in: { token_hash: string; user_id: string; expires_at: Date };
  app_two_factor: {
    user_id: string;
    secret: string;
    backup_code_hashes: string[];
    confirmed_at: Date | null;
    last_period: number | null;
  };
  app_identity: { issuer: string; subject: string; user_id: string };
  app_role: { name: Role; tlp_ceiling: Tlp };
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
    failure: string | null;
    failed_at: Date | null;
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
    withdrawn: Generated<boolean>;
    change_number: Generated<number>;
    stix_ids: Generated<string[]>;
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
    withdrawn: Generated<boolean>;
    change_number: Generated<number>;
    stix_ids: Generated<string[]>;
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
    withdrawn: Generated<boolean>;
    change_number: Generated<number>;
    stix_ids: Generated<string[]>;
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
    withdrawn: Generated<boolean>;
    change_number: Generated<number>;
    stix_ids: Generated<string[]>;
  };
  report: {
    id: string;
    title: string;
    description: string | null;
    published_at: Date | null;
    tags: string[];
    url: string | null;
    authors: string[] | null;
    links: string[] | null;
    confidence: number;
    tlp: Tlp;
    source_id: string;
    stated_at: Date | null;
    created_at: Date;
    revision: number;
    modified_at: Date | null;
    withdrawn: Generated<boolean>;
  };
  attribute: {
    id: string;
    type: string;
    value: string;
    name: string | null;
    description: string | null;
    category: string | null;
    for_detection: boolean;
    object: NullableJsonb<MispObject>;
    tags: string[];
    expires_at: Date | null;
    kill_chain_phases: NullableJsonb<KillChainPhase[]>;
    confidence: number;
    tlp: Tlp;
    source_id: string;
    stated_at: Date | null;
    created_at: Date;
    revision: number;
    modified_at: Date | null;
    withdrawn: Generated<boolean>;
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
    change_number: Generated<number>;
  };
  external_id: { external_id: string; entity_id: string; entity_kind: EntityKind };
  /** A statement of one source about one object, with the entity that the object belongs to now. */
  entity_source: {
    entity_kind: EntityKind;
    object_id: string;
    source_id: string;
    entity_id: string;
    external_ids: string[];
    stated_at: Date | null;
    tlp: Tlp;
    confidence: number;
    columns: Jsonb<Record<string, unknown>>;
    parts: Jsonb<unknown[]> | null;
    first_imported_at: Date;
  };
  entity_key: { entity_kind: EntityKind; key: string; object_id: string };
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
    owner_id: string | null;
    feeds: Generated<string[]>;
  };
  feed: {
    id: string;
    slug: string;
    name: string;
    description: string;
    format: string;
    query: string;
    tlp_ceiling: Tlp;
    created_at: Date;
    created_by: string;
    changed_at: Date;
    min_entries: number | null;
    min_share: number | null;
    /** The place of the last change of its extent in the order of changes (`ExtentChange`). */
    extent_number: Generated<number | null>;
    extent_date: Generated<number | null>;
    /** What it had before the changes of its extent, the last of them first. */
    former: DefaultedJsonb<{ format: string; query: string }[]>;
  };
  feed_webhook: {
    feed_id: string;
    sealed: string;
    host: string;
    interval_seconds: number;
    tlp_ceiling: Tlp;
    cursor: string;
    next_attempt_at: Date;
    failures: Generated<number>;
    last_attempt_at: Date | null;
    last_success_at: Date | null;
    last_error: string | null;
    gone: Generated<boolean>;
  };
  /** What each client of the CrowdSec API has been sent. */
  crowdsec_position: {
    id: string;
    key_id: string;
    address: string;
    user_agent: string;
    /** JSON; src/crowdsec/positions.queries.ts reads and writes it. */
    state: unknown;
    version: string;
    seen_at: Date;
  };
  crowdsec_deletion: { position_id: string; value: string; decision_id: number; deleted_at: Date };
  feed_day_count: { feed_id: string; day: string; entries: number };
  feed_hold: {
    feed_id: string;
    source_id: string;
    entries: number;
    since: Date;
    as_of: Date;
  };
  source_hold: { source_id: string; last_copy_at: Date | null };
  /** Counts batches of delistings. */
  delisting: { only_row: Generated<boolean>; number: number };
  meta: { name: string; value: string };
}
