-- What comes in: sources that are fetched, how long what they say holds, the whitelist, providers, and who changed what.

alter table source
  -- Where it is fetched from; null: it is imported by hand.
  add column address text,
  -- What its kind needs beyond that: a column map, a collection, …
  add column options jsonb not null default '{}',
  -- null: only when asked.
  add column every_seconds integer check (every_seconds >= 60),
  add column enabled boolean not null default true,
  -- How long an indicator of a type is kept after it was last seen, in seconds, by type. A type that is missing stays.
  add column lifetimes jsonb not null default '{}',
  -- A list without dates: to stand in its last good copy is to be seen.
  add column membership boolean not null default false,
  -- Encrypted under TIPLINE_SECRET.
  add column credentials text,
  -- What the next run needs of the last: validators, a cursor. Empty: from the start.
  add column memory jsonb not null default '{}',
  add column next_run_at timestamptz,
  add column last_run_at timestamptz,
  add column last_success_at timestamptz,
  add column last_error text,
  add column errors_in_a_row integer not null default 0,
  -- Of the last good run: read, new, updated, unchanged, rejected, and why.
  add column last_counts jsonb,
  -- What it sets has changed, and not all it speaks of has been reckoned anew.
  add column reckoned boolean not null default true,
  -- Rises with every change of what is set.
  add column settings_version integer not null default 0,
  -- Of the run that is under way; whoever has lost it writes nothing more.
  add column run_token uuid,
  add column running_until timestamptz;
create index source_due on source (next_run_at) where enabled and next_run_at is not null;

-- When it was found missing in a list that it had stood in; null: it stands there, or that means nothing.
alter table indicator_source add column left_at timestamptz;
-- All that a source speaks of, in the order in which it is gone through.
drop index indicator_source_source;
create index indicator_source_source on indicator_source (source_id, indicator_id);

-- Set by the sweep, which gives an expiry its revision. Nothing asks it whether a row is visible: time does that.
alter table indicator add column expired boolean not null default false;
create index indicator_sweep on indicator (expires_at) where not expired and expires_at is not null;

-- Lists of what is harmless. Every change of them makes an edition; `applied` is the one that all indicators have been
-- held against, and `position` how far that has come for a newer one, in the order of ids.
create table whitelist_state (
  only_row boolean primary key default true check (only_row),
  edition uuid not null,
  applied uuid,
  position uuid
);
insert into whitelist_state (edition) values (gen_random_uuid());

create table whitelist (
  id uuid primary key,
  name text not null unique,
  description text not null,
  -- MISP's own number of it; null for the operator's entries.
  list_version text,
  -- Shipped with the product, or loaded by the operator.
  shipped boolean not null,
  enabled boolean not null,
  -- The list as MISP has it.
  content jsonb not null,
  updated_at timestamptz not null
);

-- The operator's own entries; they go before the lists.
create table whitelist_entry (
  id uuid primary key,
  kind text not null,
  entry text not null,
  -- The types of indicators that it may hide.
  types text[] not null,
  reason text not null,
  added_by text not null,
  added_at timestamptz not null,
  unique (kind, entry, types)
);

-- Which entry hides an indicator: of a list, or the operator's own.
create table whitelist_hit (
  indicator_id uuid primary key references indicator (id) on delete cascade,
  list_id uuid not null,
  entry text not null
);
create index whitelist_hit_list on whitelist_hit (list_id);

-- Providers that have been set up. The others are not asked.
create table provider (
  name text primary key,
  -- Asked about new indicators, and about those that playbooks look at, without anybody asking for it.
  automatic boolean not null default false,
  -- Encrypted under TIPLINE_SECRET, a JSON list.
  keys text,
  base_url text,
  -- What is more restricted is not told to it.
  tlp_ceiling tlp not null default 'AMBER',
  per_minute integer check (per_minute > 0),
  per_day integer check (per_day > 0),
  -- Until then it is left alone.
  waits_until timestamptz,
  last_asked_at timestamptz,
  last_error text
);

-- A failure does not put out what the provider said before; it stands beside it.
alter table enrichment
  add column failure text,
  add column failed_at timestamptz;

-- What waits to be asked. A row goes in the transaction that keeps the answer.
create table enrichment_request (
  indicator_id uuid not null references indicator (id) on delete cascade,
  provider text not null,
  -- 1: new by policy; 2: a playbook looked at it; 3: somebody asked.
  priority smallint not null,
  requested_at timestamptz not null,
  -- A worker has it until then; or, after a failure, it rests so long.
  claimed_until timestamptz,
  -- How often it has failed.
  attempts smallint not null default 0,
  primary key (indicator_id, provider)
);
create index enrichment_request_next on enrichment_request (provider, priority desc, requested_at desc, indicator_id);

-- Who changed what, in the transaction of the change.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  who text not null,
  action text not null,
  object_kind text not null,
  object_id text not null,
  before jsonb,
  after jsonb,
  reason text
);
create index audit_object on audit (object_id, id);
