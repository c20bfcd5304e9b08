-- Trigram index for substring search (q). Trusted since PostgreSQL 13: the database's owner may create it.
create extension if not exists pg_trgm;

create type tlp as enum ('CLEAR', 'GREEN', 'AMBER', 'AMBER_STRICT', 'RED');
create type severity as enum ('INFO', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL');
create type indicator_type as enum ('IPV4', 'IPV6', 'DOMAIN', 'URL', 'MD5', 'SHA1', 'SHA256', 'EMAIL', 'CVE',
  'BTC_ADDRESS', 'REGISTRY_KEY', 'MUTEX', 'FILENAME', 'USER_AGENT', 'ASN');
create type entity_kind as enum ('indicator', 'actor', 'campaign', 'technique', 'software', 'report');
create type relationship_type as enum ('indicates', 'attributed-to', 'uses', 'refers-to');
create type verdict as enum ('UNKNOWN', 'BENIGN', 'SUSPICIOUS', 'MALICIOUS');
create type campaign_status as enum ('SUSPECTED', 'ACTIVE', 'DORMANT', 'CONCLUDED');

-- One row. `value` is the revision; `last_number` the last indicator number given out. Both are taken under this
-- row's lock, so they have no gaps and follow the order of commits.
create table revision (
  only_row boolean primary key default true check (only_row),
  value bigint not null,
  last_number bigint not null
);
insert into revision (value, last_number) values (0, 0);

create table source (
  id uuid primary key,
  name text not null unique,
  kind text not null,
  default_tlp tlp not null,
  default_confidence smallint not null check (default_confidence between 0 and 100),
  default_severity severity not null,
  created_at timestamptz not null
);

-- What is shown: computed by model/ from what each source says, the enrichments and the pin.
create table indicator (
  id uuid primary key,
  number bigint not null unique,
  type indicator_type not null,
  value text not null,
  normalized text not null,
  -- normalized in lower case, what `q` searches; null where that is the same. Lowered by us: the database's own
  -- lower() depends on its locale.
  search_text text,
  confidence smallint not null check (confidence between 0 and 100),
  pinned_confidence smallint check (pinned_confidence between 0 and 100),
  severity severity not null,
  tlp tlp not null,
  tags text[] not null,
  source_id uuid not null references source (id),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  expires_at timestamptz,
  for_detection boolean not null,
  whitelisted boolean not null default false,
  created_at timestamptz not null,
  revision bigint not null
);
-- The list in its order; what the visibility rule and the cheap filters look at is included, so that a page
-- far back and a total are read from the index alone.
create index indicator_list on indicator (last_seen desc, id)
  include (tlp, expires_at, type, severity, confidence) where not whitelisted;
create index indicator_type_list on indicator (type, last_seen desc, id)
  include (tlp, expires_at, severity, confidence) where not whitelisted;
create index indicator_severity_list on indicator (severity, last_seen desc, id)
  include (tlp, expires_at, type, confidence) where not whitelisted;
-- For totals. Nothing is included, so that equal keys share an entry: a quarter of a list's size.
create index indicator_count on indicator (type, severity, tlp, expires_at, confidence) where not whitelisted;
-- For what is linked: whether it is visible and where it stands in the list, without its row.
create index indicator_visible on indicator (id) include (tlp, expires_at, last_seen) where not whitelisted;
-- Lists and totals are read from indexes alone as long as the visibility map is fresh: a bulk import of 2 % is enough
-- to have it made anew (PostgreSQL waits for 20 % otherwise).
alter table indicator set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index indicator_tags on indicator using gin (tags);
create index indicator_search on indicator using gin (coalesce(search_text, normalized) gin_trgm_ops);
create index indicator_revision on indicator (revision);

-- What one source says of one indicator.
create table indicator_source (
  indicator_id uuid not null references indicator (id) on delete cascade,
  source_id uuid not null references source (id),
  -- When the source last stated this; the latest statement decides confidence, severity and expiry.
  stated_at timestamptz,
  -- null: the source gives no dates; then the first import stands for them.
  first_seen timestamptz,
  last_seen timestamptz,
  imported_at timestamptz not null,
  expires_at timestamptz,
  -- null: not stated; the source's default applies.
  confidence smallint check (confidence between 0 and 100),
  severity severity,
  tlp tlp not null,
  tags text[] not null,
  for_detection boolean not null,
  primary key (indicator_id, source_id)
);
create index indicator_source_source on indicator_source (source_id);

create table enrichment (
  indicator_id uuid not null references indicator (id) on delete cascade,
  provider text not null,
  verdict verdict not null,
  score smallint check (score between 0 and 100),
  fetched_at timestamptz not null,
  expires_at timestamptz not null,
  error text,
  -- The provider's answer as it came. text, not jsonb: jsonb refuses \u0000, drops duplicate keys and reorders.
  raw text not null,
  revision bigint not null,
  primary key (indicator_id, provider)
);

create table actor (
  id uuid primary key,
  name text not null,
  aliases jsonb not null,
  attack_group_id text,
  description text,
  country text,
  motivation text not null,
  sophistication text,
  retired boolean not null,
  first_seen timestamptz,
  last_seen timestamptz,
  target_sectors text[] not null,
  target_countries text[] not null,
  confidence smallint not null check (confidence between 0 and 100),
  tlp tlp not null,
  source_id uuid not null references source (id),
  stated_at timestamptz,
  created_at timestamptz not null,
  revision bigint not null
);
-- Order is by code point of the name, lower-cased in ASCII alone: the same whatever the database's locale.
create index actor_list on actor (lower(name collate "C"), id);
create index actor_attack_group on actor (attack_group_id);

create table campaign (
  id uuid primary key,
  name text not null,
  aliases text[] not null,
  description text,
  pinned_status campaign_status,
  start_date timestamptz,
  end_date timestamptz,
  target_sectors text[] not null,
  target_countries text[] not null,
  confidence smallint not null check (confidence between 0 and 100),
  tlp tlp not null,
  source_id uuid not null references source (id),
  stated_at timestamptz,
  created_at timestamptz not null,
  revision bigint not null
);
create index campaign_list on campaign (start_date desc nulls last, id);

create table technique (
  id uuid primary key,
  attack_id text unique,
  name text not null,
  description text,
  tactics text[] not null,
  retired boolean not null,
  confidence smallint not null,
  tlp tlp not null,
  source_id uuid not null references source (id),
  stated_at timestamptz,
  created_at timestamptz not null,
  revision bigint not null
);

create table software (
  id uuid primary key,
  software_type text not null check (software_type in ('malware', 'tool')),
  attack_id text unique,
  name text not null,
  aliases text[] not null,
  description text,
  retired boolean not null,
  confidence smallint not null,
  tlp tlp not null,
  source_id uuid not null references source (id),
  stated_at timestamptz,
  created_at timestamptz not null,
  revision bigint not null
);

create table report (
  id uuid primary key,
  title text not null,
  description text,
  published_at timestamptz,
  tags text[] not null,
  url text,
  confidence smallint not null,
  tlp tlp not null,
  source_id uuid not null references source (id),
  stated_at timestamptz,
  created_at timestamptz not null,
  revision bigint not null
);

-- The joins between the above, as STIX relationships, by the source that says so: each under its own marking. A join
-- is visible where both its ends are and one of its sources says it to the one who asks.
create table relationship (
  from_id uuid not null,
  to_id uuid not null,
  type relationship_type not null,
  from_kind entity_kind not null,
  to_kind entity_kind not null,
  tlp tlp not null,
  source_id uuid not null references source (id),
  revision bigint not null,
  primary key (from_id, to_id, type, source_id)
);
create index relationship_to on relationship (to_id, from_kind, from_id) include (tlp);
create index relationship_from on relationship (from_id, to_kind, to_id) include (tlp);

-- Ids that our objects have elsewhere. One may name several indicators (a pattern with OR).
create table external_id (
  external_id text not null,
  entity_id uuid not null,
  entity_kind entity_kind not null,
  primary key (external_id, entity_id)
);
create index external_id_entity on external_id (entity_id);

create table api_key (
  id uuid primary key,
  name text not null,
  -- The four characters after tip_, to tell keys apart in lists; not enough to use.
  prefix text not null,
  -- SHA-256 in hex. A fast hash is right here: the key itself has 256 random bits.
  hash text not null unique,
  scopes text[] not null,
  tlp_ceiling tlp not null,
  networks text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

-- What the product remembers of itself.
create table meta (
  name text primary key,
  value text not null
);
