-- A bouncer holds a network in pieces, without its whitelisted parts: the pieces that it was sent follow from the earlier state.
alter table indicator_history add column whitelisted_parts text[];

create or replace function keep_indicator_history() returns trigger language plpgsql as $$
begin
  -- The writer holds the lock of the revision, and has not advanced it yet.
  insert into indicator_history (indicator_id, from_revision, to_revision, tlp, whitelisted, expires_at, severity, confidence,
    for_detection, last_seen, tags, value, epss, kev, whitelisted_parts)
  select was.id, was.revision, latest.value + 1, was.tlp, was.whitelisted, was.expires_at, was.severity, was.confidence,
    was.for_detection, was.last_seen, was.tags, was.value, was.epss, was.kev, was.whitelisted_parts
  from was, revision as latest
  where was.revision <= latest.value
  on conflict (indicator_id, from_revision) do update set to_revision = excluded.to_revision;
  return null;
end $$;

-- What each client of the CrowdSec API has been sent, as the points of the saved feeds up to which it has their changes.
create table crowdsec_position (
  id uuid primary key,
  key_id uuid not null,
  address text not null,
  user_agent text not null,
  -- The cursors of the feeds, the filter of the request, and the instant up to which decisions have been renewed.
  state jsonb not null,
  -- Changes with each write, so that of two responses that began from the same state one is stored.
  version uuid not null,
  seen_at timestamptz not null,
  unique (key_id, address, user_agent)
);
create index crowdsec_position_seen on crowdsec_position (seen_at);

-- Deletions that a client has been sent and that are repeated for some minutes.
create table crowdsec_deletion (
  position_id uuid not null references crowdsec_position (id) on delete cascade,
  value text not null,
  decision_id bigint not null,
  deleted_at timestamptz not null,
  primary key (position_id, value)
);
