-- For each source how many indicators it has statements about, as indicator_tag_summary counts those of a tag: they are not whitelisted and
-- expire after the key of indicator_summary_expiry. The TLP is the greater of the statement's and the indicator's. Triggers on both tables
-- update it; none follows inserts of indicators: statements are written after their indicator, so that a new one has none.

-- Writers wait from here on: those that have not committed would be missing from the sums.
select from revision for update;

create table source_summary (
  source_id uuid not null,
  type indicator_type not null,
  severity severity not null,
  tlp tlp not null,
  confidence smallint not null,
  count bigint not null,
  primary key (source_id, type, severity, tlp, confidence)
);

create index source_summary_empty on source_summary (source_id) where count = 0;

insert into source_summary
select s.source_id, i.type, i.severity, greatest(s.tlp, i.tlp), i.confidence, count(*)
from indicator_summary_expiry as last, indicator_source as s join indicator as i on i.number = s.indicator_number
where is_summed(i.whitelisted, i.expires_at, i.id, last)
group by 1, 2, 3, 4, 5;
analyze source_summary;

-- Checks that the indicators of new statements exist, and adds these statements to the sums: both read the same indicators.
drop trigger indicator_source_indicators_checked on indicator_source;
drop function check_indicators();
create function add_to_source_summary() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  is_complete boolean;
begin
  with stated as materialized (
    select w.source_id, i.type, i.severity, greatest(w.tlp, i.tlp) as tlp, i.confidence,
      is_summed(i.whitelisted, i.expires_at, i.id, last) as summed, count(*) as count
    from indicator_summary_expiry as last, written as w,
      lateral (select * from indicator where number = w.indicator_number offset 0) as i
    group by 1, 2, 3, 4, 5, 6
  ), summed as (
    insert into source_summary as s
    select source_id, type, severity, tlp, confidence, count from stated where summed
    on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count
  )
  select (select coalesce(sum(count), 0) from stated) = (select count(*) from written) into is_complete;
  if not is_complete then
    raise foreign_key_violation using message = 'a row of indicator_source names an indicator that does not exist';
  end if;
  return null;
end $$;

create function take_from_source_summary() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into source_summary as s
  select r.source_id, i.type, i.severity, greatest(r.tlp, i.tlp), i.confidence, -count(*)
  from indicator_summary_expiry as last, removed as r,
    lateral (select * from indicator where number = r.indicator_number offset 0) as i
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5
  on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count;
  delete from source_summary where count = 0;
  return null;
end $$;

-- Most updates leave the TLP of the statements as it was: nothing is looked up for those.
create function change_source_summary() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into source_summary as s
  select changed.source_id, i.type, i.severity, greatest(changed.tlp, i.tlp), i.confidence, sum(changed.n)
  from indicator_summary_expiry as last, (
    select indicator_number, source_id, tlp, sum(n) as n
    from (
      select indicator_number, source_id, tlp, 1 as n from added
      union all
      select indicator_number, source_id, tlp, -1 from removed
    ) as side
    group by indicator_number, source_id, tlp having sum(n) <> 0
  ) as changed, lateral (select * from indicator where number = changed.indicator_number offset 0) as i
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5 having sum(changed.n) <> 0
  on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count;
  delete from source_summary where count = 0;
  return null;
end $$;

create function empty_source_summary() returns trigger language plpgsql as $$
begin
  truncate source_summary;
  return null;
end $$;

create trigger indicator_source_added_to_summary after insert on indicator_source referencing new table as written
  for each statement execute function add_to_source_summary();
create trigger indicator_source_taken_from_summary after delete on indicator_source referencing old table as removed
  for each statement execute function take_from_source_summary();
create trigger indicator_source_changed_in_summary after update on indicator_source
  referencing old table as removed new table as added
  for each statement execute function change_source_summary();
create trigger indicator_source_emptied after truncate on indicator_source
  for each statement execute function empty_source_summary();
create trigger indicator_stated_emptied after truncate on indicator
  for each statement execute function empty_source_summary();

-- The sums of campaigns and of sources follow the same changes of indicators.
create or replace function sum_changed() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  with changed as materialized (
    select number, id, type, severity, tlp, confidence, sum(n) as n
    from (
      select i.number, i.id, type, severity, tlp, confidence, 1 as n
      from added as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
      union all
      select i.number, i.id, type, severity, tlp, confidence, -1
      from removed as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    ) as side
    group by number, id, type, severity, tlp, confidence having sum(n) <> 0
  ), of_campaigns as (
    insert into campaign_summary as s
    select c.campaign_id, greatest(c.tlp, i.tlp), sum(i.n)
    from changed as i, lateral (select campaign_id, tlp from indicator_campaign where indicator_id = i.id offset 0) as c
    group by 1, 2 having sum(i.n) <> 0
    on conflict (campaign_id, tlp) do update set count = s.count + excluded.count
  )
  insert into source_summary as s
  select c.source_id, i.type, i.severity, greatest(c.tlp, i.tlp), i.confidence, sum(i.n)
  from changed as i, lateral (select source_id, tlp from indicator_source where indicator_number = i.number offset 0) as c
  group by 1, 2, 3, 4, 5 having sum(i.n) <> 0
  on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  delete from source_summary where count = 0;
  return null;
end $$;

-- The sums of deleted indicators, whose statements are deleted after them: the trigger of these finds no indicator.
create or replace function delete_statements() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into source_summary as s
  select c.source_id, i.type, i.severity, greatest(c.tlp, i.tlp), i.confidence, -count(*)
  from indicator_summary_expiry as last, removed as i,
    lateral (select source_id, tlp from indicator_source where indicator_number = i.number offset 0) as c
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5
  on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count;
  delete from indicator_source where indicator_number in (select number from removed);
  delete from source_summary where count = 0;
  return null;
end $$;

-- With the number, by which statements are found.
drop function indicator_summary_correction(timestamptz);
create function indicator_summary_correction(at timestamptz)
  returns table (
    id uuid, number bigint, version integer, created_at timestamptz, modified_at timestamptz, type indicator_type, severity severity,
    tlp tlp, confidence smallint, for_detection boolean, tags text[], n integer
  )
  language plpgsql stable parallel restricted rows 10 set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  last indicator_summary_expiry;
begin
  select * into last from indicator_summary_expiry;
  return query
  select i.id, i.number, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, -1
  from indicator as i
  where not i.whitelisted and (i.expires_at, i.id) > (last.expires_at, last.id) and i.expires_at <= at
  union all
  select i.id, i.number, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, 1
  from indicator as i
  where not i.whitelisted and i.expires_at > at and (i.expires_at, i.id) <= (last.expires_at, last.id);
end $$;

create or replace function take_expired_from_summaries(at timestamptz, most integer) returns void language plpgsql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  last indicator_summary_expiry;
begin
  select * into last from indicator_summary_expiry;
  with gone as materialized (
    select i.expires_at, i.id, i.number, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection,
      i.tags
    from indicator as i
    where not i.whitelisted and (i.expires_at, i.id) > (last.expires_at, last.id) and i.expires_at <= at
    order by i.expires_at, i.id limit most
  ), from_all as (
    insert into indicator_summary as s
    select type, severity, tlp, confidence, for_detection, -count(*),
      bit_xor(indicator_hash(id, version, created_at, modified_at))
    from gone group by type, severity, tlp, confidence, for_detection
    on conflict (type, severity, tlp, confidence, for_detection) do update set count = s.count + excluded.count,
      hash = s.hash # excluded.hash
  ), from_tags as (
    insert into indicator_tag_summary as s
    select tag, type, severity, tlp, -count(*) from gone, unnest(array_prepend(''::text, tags)) as tag
    group by tag, type, severity, tlp
    on conflict (tag, type, severity, tlp) do update set count = s.count + excluded.count
  ), from_campaigns as (
    insert into campaign_summary as s
    select c.campaign_id, greatest(c.tlp, gone.tlp), -count(*)
    from gone, lateral (select campaign_id, tlp from indicator_campaign where indicator_id = gone.id offset 0) as c
    group by 1, 2
    on conflict (campaign_id, tlp) do update set count = s.count + excluded.count
  ), from_sources as (
    insert into source_summary as s
    select c.source_id, gone.type, gone.severity, greatest(c.tlp, gone.tlp), gone.confidence, -count(*)
    from gone, lateral (select source_id, tlp from indicator_source where indicator_number = gone.number offset 0) as c
    group by 1, 2, 3, 4, 5
    on conflict (source_id, type, severity, tlp, confidence) do update set count = s.count + excluded.count
  )
  update indicator_summary_expiry as e set expires_at = reached.expires_at, id = reached.id
  from (
    select expires_at, id from gone
    union all
    select at, 'ffffffff-ffff-ffff-ffff-ffffffffffff' where at >= last.expires_at and (select count(*) from gone) < most
    order by expires_at desc, id desc limit 1
  ) as reached;
  delete from indicator_tag_summary where count = 0;
  delete from campaign_summary where count = 0;
  delete from source_summary where count = 0;
end $$;
