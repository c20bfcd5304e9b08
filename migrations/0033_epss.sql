-- Scores of vulnerabilities by EPSS (FIRST), of all CVE ids, whether or not an indicator has them.
create table epss_score (
  cve text primary key,
  score double precision not null check (score between 0 and 1),
  percentile double precision not null check (percentile between 0 and 1),
  -- The first day of the published scores on which both had these values.
  date date not null
);

-- Of an indicator of the type CVE: its row of epss_score, as JSON, and what CISA's catalogue of known exploited
-- vulnerabilities states about it.
alter table indicator add column epss jsonb, add column kev jsonb;
alter table indicator_source add column kev jsonb;
create index indicator_epss on indicator (((epss ->> 'score')::double precision) desc nulls last, last_seen desc, id)
  include (tlp, expires_at, severity, confidence, for_detection) where type = 'CVE' and not whitelisted;
create index indicator_exploited on indicator (last_seen desc, id) where kev is not null and not whitelisted;

-- Filters of the change feed read both.
alter table indicator_history add column epss jsonb, add column kev jsonb;
create or replace function keep_indicator_history() returns trigger language plpgsql as $$
begin
  -- The writer holds the lock of the revision, and has not advanced it yet.
  insert into indicator_history (indicator_id, from_revision, to_revision, tlp, whitelisted, expires_at, severity, confidence,
    for_detection, last_seen, tags, value, epss, kev)
  select was.id, was.revision, latest.value + 1, was.tlp, was.whitelisted, was.expires_at, was.severity, was.confidence,
    was.for_detection, was.last_seen, was.tags, was.value, was.epss, was.kev
  from was, revision as latest
  where was.revision <= latest.value
  on conflict (indicator_id, from_revision) do update set to_revision = excluded.to_revision;
  return null;
end $$;

-- The lists of an actor's or a campaign's indicators read links from the index alone.
drop index relationship_to;
create index relationship_to on relationship (to_id, from_kind, from_id) include (tlp, to_kind);
