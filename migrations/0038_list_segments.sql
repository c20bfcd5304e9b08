-- Counts of consecutive segments of the list of indicators in its order, last_seen desc and id, at one revision and time. A page far
-- back starts at the segment that contains it, and totals by `since` add up whole segments. Writes of indicators leave them alone: a
-- reader corrects the counts by the rows that have changed since, which the history and the indexes of revisions and expiry
-- give, and a job counts them again from time to time.

-- One row; none: the segments have not been counted.
create table list_segment_state (
  only_row boolean primary key default true check (only_row),
  revision bigint not null,
  counted_at timestamptz not null
);

-- A segment reaches from its key, included, to the key of the next one; the first one begins at infinity.
create table list_segment (
  last_seen timestamptz not null,
  id uuid not null,
  -- Of visible indicators, by type, severity, confidence and TLP, at the places of list_segment_places.
  counts integer[] not null,
  primary key (last_seen, id)
) with (fillfactor = 45);
alter table list_segment alter column counts set storage plain;

-- The places in list_segment.counts at which an indicator is counted under its TLP: among all indicators, those of its severity, of its
-- type, of both, of its confidence, and of the ten values of confidence around it.
create function list_segment_places(type indicator_type, severity severity, confidence smallint, tlp tlp) returns setof integer
  language sql stable parallel safe rows 6
  as $$
  select 5 * key + tlp_place
  from (
    select 200 + 6 * array_position(enum_range(null::indicator_type), type) as type_key,
      array_position(enum_range(null::severity), severity) as severity_key,
      array_position(enum_range(null::tlp), tlp) as tlp_place
    offset 0
  ) as place, lateral (
    values (0), (severity_key), (10 + confidence / 10), (50 + confidence), (type_key), (type_key + severity_key)
  ) as counted (key)
$$;

-- Whether the counts of list_segment can be corrected for this time by at most `most` rows that have changed and as many that have
-- expired. They cannot if the history since has been deleted.
create function list_segments_usable(at timestamptz, most integer) returns boolean
  language plpgsql stable parallel restricted set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  counted list_segment_state;
begin
  select * into counted from list_segment_state;
  return found
    and counted.revision <= (select value from revision)
    and counted.revision >= coalesce((select min(revision) from revision_log), 0)
    and (select count(*) from (select from indicator where revision > counted.revision limit most + 1) as changed) <= most
    and (select count(*) from (
      select from indicator where not whitelisted and expires_at > least(at, counted.counted_at)
        and expires_at <= greatest(at, counted.counted_at) limit most + 1) as expired) <= most;
end $$;

-- Deleted rows have no history.
create function discard_list_segments() returns trigger language plpgsql as $$
begin
  delete from list_segment_state;
  return null;
end $$;
create trigger indicator_segments_discarded after delete or truncate on indicator
  for each statement execute function discard_list_segments();
