-- Counts of the segments of the list for each source of many indicators, as for common tags: a page far back of its list.

-- Writers wait from here on: the changes of statements that have not been committed would be missing.
select from revision for update;

-- The sources that are counted.
create table list_source (
  source_id uuid primary key references source on delete cascade
);

-- The visible indicators of a segment that the source has a statement about, by the greater TLP of both; no row: there are none.
create table list_segment_source (
  source_id uuid not null references list_source on delete cascade,
  last_seen timestamptz not null,
  id uuid not null,
  -- At the places of list_segment_places.
  counts integer[] not null,
  primary key (source_id, last_seen, id),
  foreign key (last_seen, id) references list_segment on delete cascade
);
create index list_segment_source_segment on list_segment_source (last_seen, id);

-- The same in the order of the first sighting.
create table first_seen_segment_source (
  source_id uuid not null references list_source on delete cascade,
  first_seen timestamptz not null references first_seen_segment on delete cascade,
  counts integer[] not null,
  primary key (source_id, first_seen)
);
create index first_seen_segment_source_segment on first_seen_segment_source (first_seen);

-- Statements before they were added, deleted or marked otherwise since the segments were counted, except for those of new indicators.
create table statement_change (
  indicator_number bigint not null,
  source_id uuid not null,
  -- Of the change.
  revision bigint not null,
  -- Null: there was no statement.
  tlp tlp,
  primary key (indicator_number, source_id, revision)
);
create index statement_change_revision on statement_change (revision);

create or replace function add_to_source_summary() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  counted bigint;
  counted_new bigint;
begin
  with stated as materialized (
    select w.source_id, i.type, i.severity, greatest(w.tlp, i.tlp) as tlp, i.confidence,
      is_summed(i.whitelisted, i.expires_at, i.id, last) as summed, i.version = 1 and i.revision > revision.value as is_new,
      count(*) as count
    from indicator_summary_expiry as last, revision, written as w,
      lateral (select * from indicator where number = w.indicator_number offset 0) as i
    group by 1, 2, 3, 4, 5, 6, 7
  ), summed as (
    insert into source_summary as s
    select source_id, type, severity, tlp, confidence, sum(count) from stated where summed group by 1, 2, 3, 4, 5
    on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count
  )
  select coalesce(sum(count), 0), coalesce(sum(count) filter (where is_new), 0) into counted, counted_new from stated;
  if counted <> (select count(*) from written) then
    raise foreign_key_violation using message = 'a row of indicator_source names an indicator that does not exist';
  end if;
  if counted > counted_new then
    insert into statement_change
    select w.indicator_number, w.source_id, revision.value + 1, null
    from revision, written as w, lateral (select * from indicator where number = w.indicator_number offset 0) as i
    where i.version > 1 or i.revision <= revision.value
    on conflict do nothing;
  end if;
  return null;
end $$;

create or replace function take_from_source_summary() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into source_summary as s
  select r.source_id, i.type, i.severity, greatest(r.tlp, i.tlp), i.confidence, -count(*)
  from indicator_summary_expiry as last, removed as r,
    lateral (select * from indicator where number = r.indicator_number offset 0) as i
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5
  on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count;
  delete from source_summary where count = 0;
  insert into statement_change
  select r.indicator_number, r.source_id, revision.value + 1, r.tlp from revision, removed as r on conflict do nothing;
  return null;
end $$;

create or replace function change_source_summary() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  with changed as materialized (
    select indicator_number, source_id, tlp, sum(n) as n
    from (
      select indicator_number, source_id, tlp, 1 as n from added
      union all
      select indicator_number, source_id, tlp, -1 from removed
    ) as side
    group by indicator_number, source_id, tlp having sum(n) <> 0
  ), kept as (
    insert into statement_change
    select c.indicator_number, c.source_id, revision.value + 1, c.tlp from revision, changed as c where n < 0 on conflict do nothing
  )
  insert into source_summary as s
  select c.source_id, i.type, i.severity, greatest(c.tlp, i.tlp), i.confidence, sum(c.n)
  from indicator_summary_expiry as last, changed as c,
    lateral (select * from indicator where number = c.indicator_number offset 0) as i
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5 having sum(c.n) <> 0
  on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count;
  delete from source_summary where count = 0;
  return null;
end $$;

-- The difference between the counts of segments of sources and the indicators of each that are visible at a time, as list_changes
-- returns it for all. At most `most` indicators have changed, as many have expired, and as many statements have changed.
create function list_changes_of_sources(at timestamptz, most integer, wanted uuid default null)
  returns table (
    source_id uuid, last_seen timestamptz, id uuid, type indicator_type, severity severity, confidence smallint, tlp tlp,
    first_seen timestamptz, n integer
  )
  language plpgsql stable parallel restricted rows 10 set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  counted list_segment_state;
begin
  select * into counted from list_segment_state;
  return query
  with changed as materialized (
    select i.*
    from (
      (select number from indicator where revision > counted.revision limit most)
      union
      (select number from indicator
        where not whitelisted and expires_at > least(at, counted.counted_at) and expires_at <= greatest(at, counted.counted_at) limit most)
      union
      (select c.indicator_number from statement_change as c
        where c.revision > counted.revision and (wanted is null or c.source_id = wanted) limit most)
    ) as change, lateral (select * from indicator where indicator.number = change.number offset 0) as i
  )
  select s.source_id, i.last_seen, i.id, i.type, i.severity, i.confidence, greatest(s.tlp, i.tlp), i.first_seen, 1
  from changed as i, lateral (
    select s.source_id, s.tlp from indicator_source as s
    where s.indicator_number = i.number and (wanted is null or s.source_id = wanted) offset 0
  ) as s
  where not i.whitelisted and (i.expires_at is null or i.expires_at > at)
  union all
  select s.source_id, was.last_seen, i.id, i.type, was.severity, was.confidence, greatest(s.tlp, was.tlp),
    coalesce(
      (select f.first_seen from first_seen_change as f where f.indicator_id = i.id and f.revision > counted.revision
        order by f.revision limit 1), i.first_seen),
    -1
  from changed as i, lateral (
    (
      select h.last_seen, h.severity, h.confidence, h.tlp, h.whitelisted, h.expires_at
      from (
        select * from indicator_history
        where i.revision > counted.revision and indicator_id = i.id and from_revision <= counted.revision
        order by from_revision desc limit 1
      ) as h
      where h.to_revision > counted.revision
    )
    union all
    select i.last_seen, i.severity, i.confidence, i.tlp, i.whitelisted, i.expires_at where i.revision <= counted.revision
  ) as was, lateral (
    select distinct on (every.source_id) every.source_id, every.tlp
    from (
      select c.source_id, c.tlp, c.revision from statement_change as c
      where c.indicator_number = i.number and c.revision > counted.revision and (wanted is null or c.source_id = wanted)
      union all
      select s.source_id, s.tlp, null from indicator_source as s
      where s.indicator_number = i.number and (wanted is null or s.source_id = wanted)
    ) as every
    order by every.source_id, every.revision
  ) as s
  where s.tlp is not null and not was.whitelisted and (was.expires_at is null or was.expires_at > counted.counted_at);
end $$;

-- So that the sources are counted.
delete from list_segment_state;
