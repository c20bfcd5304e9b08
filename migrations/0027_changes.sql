-- The state of indicators, of their links to actors and campaigns, and of these, before each change: the change feed
-- compares the state at a client's cursor with the present one. Rows are kept for 30 days.

-- Each revision, when it was committed, and a random token: a cursor with another token for its revision belongs to
-- another history, such as that of a server that was lost with its last commits.
create table revision_log (
  revision bigint primary key,
  token uuid not null default gen_random_uuid(),
  committed_at timestamptz not null default clock_timestamp()
);
insert into revision_log (revision) select value from revision;

-- The columns that decide whether a caller sees an indicator and whether a filter matches it, as they were from one
-- revision up to, but not including, another.
create table indicator_history (
  indicator_id uuid not null,
  from_revision bigint not null,
  to_revision bigint not null,
  tlp tlp not null,
  whitelisted boolean not null,
  expires_at timestamptz,
  severity severity not null,
  confidence smallint not null,
  for_detection boolean not null,
  last_seen timestamptz not null,
  tags text[] not null,
  -- As it was shown: a spelling of another source may be hidden.
  value text not null,
  primary key (indicator_id, from_revision)
);
create index indicator_history_position on indicator_history (from_revision, indicator_id) include (to_revision);
create index indicator_history_end on indicator_history (to_revision);

create function keep_indicator_history() returns trigger language plpgsql as $$
begin
  -- The writer holds the lock of the revision, and has not advanced it yet.
  insert into indicator_history
  select was.id, was.revision, latest.value + 1, was.tlp, was.whitelisted, was.expires_at, was.severity, was.confidence,
    was.for_detection, was.last_seen, was.tags, was.value
  from was, revision as latest
  where was.revision <= latest.value
  on conflict (indicator_id, from_revision) do update set to_revision = excluded.to_revision;
  return null;
end $$;
create trigger indicator_history_kept after update on indicator referencing old table as was
  for each statement execute function keep_indicator_history();

-- The same for links of indicators to actors and campaigns.
create table link_history (
  from_id uuid not null,
  to_id uuid not null,
  from_kind entity_kind not null,
  to_kind entity_kind not null,
  tlp tlp not null,
  from_revision bigint not null,
  to_revision bigint not null
);
create index link_history_entity on link_history (to_id, from_id);
create index link_history_end on link_history (to_revision);

create function keep_link_history() returns trigger language plpgsql as $$
begin
  insert into link_history
  select was.from_id, was.to_id, was.from_kind, was.to_kind, was.tlp, was.revision, latest.value + 1
  from was, revision as latest
  where was.from_kind = 'indicator' and was.to_kind in ('actor', 'campaign') and was.revision <= latest.value;
  return null;
end $$;
create trigger link_history_kept_of_changed after update on relationship referencing old table as was
  for each statement execute function keep_link_history();
create trigger link_history_kept_of_removed after delete on relationship referencing old table as was
  for each statement execute function keep_link_history();
create index relationship_revision on relationship (revision) where from_kind = 'indicator';

-- The same for actors and campaigns, as JSON of the whole row: there are few.
create table entity_history (
  id uuid not null,
  kind entity_kind not null,
  from_revision bigint not null,
  to_revision bigint not null,
  state jsonb not null,
  primary key (id, from_revision)
);
create index entity_history_end on entity_history (to_revision);

create function keep_entity_history() returns trigger language plpgsql as $$
begin
  insert into entity_history
  select was.id, tg_argv[0]::entity_kind, was.revision, latest.value + 1, to_jsonb(was)
  from was, revision as latest
  where was.revision <= latest.value
  on conflict (id, from_revision) do update set to_revision = excluded.to_revision;
  return null;
end $$;
create trigger actor_history_kept_of_changed after update on actor referencing old table as was
  for each statement execute function keep_entity_history('actor');
create trigger actor_history_kept_of_removed after delete on actor referencing old table as was
  for each statement execute function keep_entity_history('actor');
create trigger campaign_history_kept_of_changed after update on campaign referencing old table as was
  for each statement execute function keep_entity_history('campaign');
create trigger campaign_history_kept_of_removed after delete on campaign referencing old table as was
  for each statement execute function keep_entity_history('campaign');
create index actor_revision on actor (revision);
create index campaign_revision on campaign (revision);
