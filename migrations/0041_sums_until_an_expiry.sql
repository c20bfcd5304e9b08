-- The sums of indicators contain those that are not whitelisted and whose expiry and id follow a key, instead of those that no
-- sweep has marked as expired: the sums leave out a million expired indicators by a few statements, before each is marked.

-- The expiry and the id, in this order, up to which the sums contain no indicator.
create table indicator_summary_expiry (
  only_row boolean primary key default true check (only_row),
  expires_at timestamptz not null,
  id uuid not null
);
insert into indicator_summary_expiry (expires_at, id)
values (now(), 'ffffffff-ffff-ffff-ffff-ffffffffffff');
-- Triggers keep their plans: these must not expect more than one row.
analyze indicator_summary_expiry;

-- Whether the sums contain an indicator.
create function is_summed(whitelisted boolean, expires_at timestamptz, id uuid, last indicator_summary_expiry) returns boolean
  language sql immutable parallel safe
  as 'select not whitelisted and (expires_at is null or (expires_at, id) > ((last).expires_at, (last).id))';

create or replace function add_to_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_summary as s
  select type, severity, tlp, confidence, for_detection, count(*),
    bit_xor(indicator_hash(i.id, version, created_at, modified_at))
  from added as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
  group by type, severity, tlp, confidence, for_detection
  on conflict (type, severity, tlp, confidence, for_detection) do update set count = s.count + excluded.count,
    hash = s.hash # excluded.hash;
  return null;
end $$;

create or replace function take_from_summary() returns trigger language plpgsql as $$
begin
  update indicator_summary as s set count = s.count - gone.count, hash = s.hash # gone.hash
  from (
    select type, severity, tlp, confidence, for_detection, count(*) as count,
      bit_xor(indicator_hash(i.id, version, created_at, modified_at)) as hash
    from removed as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    group by type, severity, tlp, confidence, for_detection
  ) as gone
  where (s.type, s.severity, s.tlp, s.confidence, s.for_detection)
    = (gone.type, gone.severity, gone.tlp, gone.confidence, gone.for_detection);
  return null;
end $$;

create or replace function add_to_tag_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_tag_summary as s
  select tag, type, severity, tlp, count(*)
  from added as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
  where is_summed(whitelisted, i.expires_at, i.id, last)
  group by tag, type, severity, tlp
  on conflict (tag, type, severity, tlp) do update set count = s.count + excluded.count;
  return null;
end $$;

create or replace function take_from_tag_summary() returns trigger language plpgsql as $$
begin
  update indicator_tag_summary as s set count = s.count - gone.count
  from (
    select tag, type, severity, tlp, count(*) as count
    from removed as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
    where is_summed(whitelisted, i.expires_at, i.id, last)
    group by tag, type, severity, tlp
  ) as gone
  where (s.tag, s.type, s.severity, s.tlp) = (gone.tag, gone.type, gone.severity, gone.tlp);
  delete from indicator_tag_summary where count = 0;
  return null;
end $$;

create or replace function change_tag_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_tag_summary as s
  select tag, type, severity, tlp, sum(n)
  from (
    -- Rows that leave what they are summed by as it was are left out before their tags are listed.
    select tags, type, severity, tlp, sum(n) as n
    from (
      select tags, type, severity, tlp, 1 as n
      from added as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
      union all
      select tags, type, severity, tlp, -1
      from removed as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    ) as side
    group by tags, type, severity, tlp having sum(n) <> 0
  ) as changed, unnest(array_prepend(''::text, tags)) as tag
  group by tag, type, severity, tlp having sum(n) <> 0
  on conflict (tag, type, severity, tlp) do update set count = s.count + excluded.count;
  delete from indicator_tag_summary where count = 0;
  return null;
end $$;

create or replace function sum_pairs() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), count(*) * tg_argv[0]::int
  from indicator_summary_expiry as last, changed as c join indicator as i on i.id = c.indicator_id
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2
  on conflict (campaign_id, tlp) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

create or replace function sum_linked() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), count(*) * tg_argv[0]::int
  from indicator_summary_expiry as last, changed as i join indicator_campaign as c on c.indicator_id = i.id
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2
  on conflict (campaign_id, tlp) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

create or replace function sum_changed() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), sum(i.n)
  from (
    select id, tlp, sum(n) as n
    from (
      select i.id, tlp, 1 as n
      from added as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
      union all
      select i.id, tlp, -1
      from removed as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    ) as side
    group by id, tlp having sum(n) <> 0
  ) as i, lateral (select campaign_id, tlp from indicator_campaign where indicator_id = i.id offset 0) as c
  group by 1, 2 having sum(i.n) <> 0
  on conflict (campaign_id, tlp) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

-- In the order of the key of indicator_summary_expiry, also where a million indicators expire at one time.
drop index indicator_expiry;
create index indicator_expiry on indicator (expires_at, id) include (type, severity, tlp, confidence)
  where not whitelisted and expires_at is not null;

-- The difference between the sums and the indicators that have not expired at a time: rows to subtract (n is -1) and to add (1).
create or replace function indicator_summary_correction(at timestamptz)
  returns table (
    id uuid, version integer, created_at timestamptz, modified_at timestamptz, type indicator_type, severity severity,
    tlp tlp, confidence smallint, for_detection boolean, tags text[], n integer
  )
  language plpgsql stable parallel restricted rows 10 set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  last indicator_summary_expiry;
begin
  select * into last from indicator_summary_expiry;
  return query
  select i.id, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, -1
  from indicator as i
  where not i.whitelisted and (i.expires_at, i.id) > (last.expires_at, last.id) and i.expires_at <= at
  union all
  select i.id, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, 1
  from indicator as i
  where not i.whitelisted and i.expires_at > at and (i.expires_at, i.id) <= (last.expires_at, last.id);
end $$;

-- Takes the next `most` indicators that have expired by a time off the sums. If they are fewer, the key moves on to the time: indicators
-- that are written later with an earlier expiry are never in the sums. It never moves back. Must be called under the lock of the revision.
create function take_expired_from_summaries(at timestamptz, most integer) returns void language plpgsql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  last indicator_summary_expiry;
begin
  select * into last from indicator_summary_expiry;
  with gone as materialized (
    select i.expires_at, i.id, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags
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
end $$;

-- The sums again, by the key instead of the mark.
truncate indicator_summary, indicator_tag_summary, campaign_summary;
insert into indicator_summary
select type, severity, tlp, confidence, for_detection, count(*), bit_xor(indicator_hash(i.id, version, created_at, modified_at))
from indicator as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
group by type, severity, tlp, confidence, for_detection;
insert into indicator_tag_summary
select tag, type, severity, tlp, count(*)
from indicator as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
where is_summed(whitelisted, i.expires_at, i.id, last)
group by tag, type, severity, tlp;
insert into campaign_summary
select c.campaign_id, greatest(c.tlp, i.tlp), count(*)
from indicator_summary_expiry as last, indicator_campaign as c join indicator as i on i.id = c.indicator_id
where is_summed(i.whitelisted, i.expires_at, i.id, last)
group by 1, 2;
