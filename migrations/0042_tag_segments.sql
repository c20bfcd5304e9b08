-- Counts of the segments of the list for each tag of many indicators: a page far back of its list, its totals by `since` and by a minimum
-- confidence.

-- The tags that are counted.
create table list_tag (
  tag text primary key
);

-- The visible indicators of a segment with a tag; no row: there are none.
create table list_segment_tag (
  tag text not null references list_tag on delete cascade,
  last_seen timestamptz not null,
  id uuid not null,
  -- By severity, by ten values of confidence, and by TLP, at the first places of list_segment_places.
  counts integer[] not null,
  primary key (tag, last_seen, id),
  foreign key (last_seen, id) references list_segment on delete cascade
);
create index list_segment_tag_segment on list_segment_tag (last_seen, id);

-- With the tags, and as before.
drop function list_changes(timestamptz, integer);
create function list_changes(at timestamptz, most integer)
  returns table (
    last_seen timestamptz, id uuid, type indicator_type, severity severity, confidence smallint, tlp tlp, tags text[], number bigint,
    text text, first_seen timestamptz, n integer
  )
  language plpgsql stable parallel restricted rows 10 set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  counted list_segment_state;
begin
  select * into counted from list_segment_state;
  return query
  with changed as materialized (
    select i.id, i.type, i.severity, i.confidence, i.tlp, i.tags, i.last_seen, i.whitelisted, i.expires_at, i.number, i.first_seen,
      coalesce(i.search_text, i.normalized) as text
    from indicator as i where i.revision > counted.revision limit most
  )
  select c.last_seen, c.id, c.type, c.severity, c.confidence, c.tlp, c.tags, c.number, c.text, c.first_seen, 1
  from changed as c where not c.whitelisted and (c.expires_at is null or c.expires_at > at)
  union all
  select was.last_seen, c.id, c.type, was.severity, was.confidence, was.tlp, was.tags, c.number, c.text,
    coalesce(
      (select f.first_seen from first_seen_change as f where f.indicator_id = c.id and f.revision > counted.revision
        order by f.revision limit 1), c.first_seen),
    -1
  from changed as c, lateral (
    select * from indicator_history as h
    where h.indicator_id = c.id and h.from_revision <= counted.revision order by h.from_revision desc limit 1) as was
  where was.to_revision > counted.revision
    and not was.whitelisted and (was.expires_at is null or was.expires_at > counted.counted_at)
  union all
  select e.last_seen, e.id, e.type, e.severity, e.confidence, e.tlp, e.tags, e.number, e.text,
    e.first_seen, case when e.expires_at <= at then -1 else 1 end
  from (
    select i.last_seen, i.id, i.type, i.severity, i.confidence, i.tlp, i.tags, i.expires_at, i.revision, i.number, i.first_seen,
      coalesce(i.search_text, i.normalized) as text
    from indicator as i
    where not i.whitelisted and i.expires_at > least(at, counted.counted_at)
      and i.expires_at <= greatest(at, counted.counted_at) limit most
  ) as e where e.revision <= counted.revision;
end $$;

-- So that the tags are counted.
delete from list_segment_state;
