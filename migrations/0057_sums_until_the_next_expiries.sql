-- The sums of indicators in two parts: those that expire up to a second key, the next, and the others. Of a million indicators that expire at
-- one instant, the sums are in a part of their own before it, so that totals leave them out from that instant on without reading them.

-- Writers wait from here on: their changes would be missing from one of the parts.
select from revision for update;

-- The next key. It equals the first one if the part is empty.
alter table indicator_summary_expiry add column next_expires_at timestamptz, add column next_id uuid;
update indicator_summary_expiry set next_expires_at = expires_at, next_id = id;
alter table indicator_summary_expiry
  alter column next_expires_at set not null, alter column next_id set not null,
  add check ((next_expires_at, next_id) >= (expires_at, id));

-- Whether an indicator that the sums contain is in the part up to the next key.
create function expires_next(expires_at timestamptz, id uuid, last indicator_summary_expiry) returns boolean
  language sql immutable parallel safe
  as 'select expires_at is not null and (expires_at, id) <= ((last).next_expires_at, (last).next_id)';

alter table indicator_summary add column expires_next boolean not null default false;
alter table indicator_summary drop constraint indicator_summary_pkey,
  add primary key (type, severity, tlp, confidence, for_detection, expires_next);
create index indicator_summary_next on indicator_summary (type) where expires_next;

alter table indicator_tag_summary add column expires_next boolean not null default false;
alter table indicator_tag_summary drop constraint indicator_tag_summary_pkey,
  add primary key (tag, type, severity, tlp, expires_next);
create index indicator_tag_summary_next on indicator_tag_summary (tag) where expires_next;

alter table campaign_summary add column expires_next boolean not null default false;
alter table campaign_summary drop constraint campaign_summary_pkey, add primary key (campaign_id, tlp, expires_next);
create index campaign_summary_next on campaign_summary (campaign_id) where expires_next;

alter table source_summary add column expires_next boolean not null default false;
alter table source_summary drop constraint source_summary_pkey,
  add primary key (source_id, type, severity, tlp, confidence, expires_next);
create index source_summary_next on source_summary (source_id) where expires_next;

create or replace function add_to_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_summary as s
  select type, severity, tlp, confidence, for_detection, count(*),
    bit_xor(indicator_hash(i.id, version, created_at, modified_at)), expires_next(i.expires_at, i.id, last)
  from added as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
  group by type, severity, tlp, confidence, for_detection, 8
  on conflict (type, severity, tlp, confidence, for_detection, expires_next) do update set count = s.count + excluded.count,
    hash = s.hash # excluded.hash;
  return null;
end $$;

create or replace function take_from_summary() returns trigger language plpgsql as $$
begin
  update indicator_summary as s set count = s.count - gone.count, hash = s.hash # gone.hash
  from (
    select type, severity, tlp, confidence, for_detection, expires_next(i.expires_at, i.id, last) as expires_next, count(*) as count,
      bit_xor(indicator_hash(i.id, version, created_at, modified_at)) as hash
    from removed as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    group by type, severity, tlp, confidence, for_detection, 6
  ) as gone
  where (s.type, s.severity, s.tlp, s.confidence, s.for_detection, s.expires_next)
    = (gone.type, gone.severity, gone.tlp, gone.confidence, gone.for_detection, gone.expires_next);
  return null;
end $$;

create or replace function add_to_tag_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_tag_summary as s
  select tag, type, severity, tlp, count(*), expires_next(i.expires_at, i.id, last)
  from added as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
  where is_summed(whitelisted, i.expires_at, i.id, last)
  group by tag, type, severity, tlp, 6
  on conflict (tag, type, severity, tlp, expires_next) do update set count = s.count + excluded.count;
  return null;
end $$;

create or replace function take_from_tag_summary() returns trigger language plpgsql as $$
begin
  update indicator_tag_summary as s set count = s.count - gone.count
  from (
    select tag, type, severity, tlp, expires_next(i.expires_at, i.id, last) as expires_next, count(*) as count
    from removed as i, indicator_summary_expiry as last, unnest(array_prepend(''::text, tags)) as tag
    where is_summed(whitelisted, i.expires_at, i.id, last)
    group by tag, type, severity, tlp, 5
  ) as gone
  where (s.tag, s.type, s.severity, s.tlp, s.expires_next) = (gone.tag, gone.type, gone.severity, gone.tlp, gone.expires_next);
  delete from indicator_tag_summary where count = 0;
  return null;
end $$;

create or replace function change_tag_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_tag_summary as s
  select tag, type, severity, tlp, sum(n), expires_next
  from (
    -- Rows that leave what they are summed by as it was are left out before their tags are listed.
    select tags, type, severity, tlp, expires_next, sum(n) as n
    from (
      select tags, type, severity, tlp, expires_next(i.expires_at, i.id, last) as expires_next, 1 as n
      from added as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
      union all
      select tags, type, severity, tlp, expires_next(i.expires_at, i.id, last), -1
      from removed as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    ) as side
    group by tags, type, severity, tlp, expires_next having sum(n) <> 0
  ) as changed, unnest(array_prepend(''::text, tags)) as tag
  group by tag, type, severity, tlp, expires_next having sum(n) <> 0
  on conflict (tag, type, severity, tlp, expires_next) do update set count = s.count + excluded.count;
  delete from indicator_tag_summary where count = 0;
  return null;
end $$;

create or replace function sum_pairs() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), count(*) * tg_argv[0]::int, expires_next(i.expires_at, i.id, last)
  from indicator_summary_expiry as last, changed as c join indicator as i on i.id = c.indicator_id
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 4
  on conflict (campaign_id, tlp, expires_next) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

create or replace function sum_linked() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), count(*) * tg_argv[0]::int, expires_next(i.expires_at, i.id, last)
  from indicator_summary_expiry as last, changed as i join indicator_campaign as c on c.indicator_id = i.id
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 4
  on conflict (campaign_id, tlp, expires_next) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

create or replace function sum_changed() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  with changed as materialized (
    select number, id, type, severity, tlp, confidence, expires_next, sum(n) as n
    from (
      select i.number, i.id, type, severity, tlp, confidence, expires_next(i.expires_at, i.id, last) as expires_next, 1 as n
      from added as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
      union all
      select i.number, i.id, type, severity, tlp, confidence, expires_next(i.expires_at, i.id, last), -1
      from removed as i, indicator_summary_expiry as last where is_summed(whitelisted, i.expires_at, i.id, last)
    ) as side
    group by number, id, type, severity, tlp, confidence, expires_next having sum(n) <> 0
  ), of_campaigns as (
    insert into campaign_summary as s
    select c.campaign_id, greatest(c.tlp, i.tlp), sum(i.n), i.expires_next
    from changed as i, lateral (select campaign_id, tlp from indicator_campaign where indicator_id = i.id offset 0) as c
    group by 1, 2, 4 having sum(i.n) <> 0
    on conflict (campaign_id, tlp, expires_next) do update set count = s.count + excluded.count
  )
  insert into source_summary as s
  select c.source_id, i.type, i.severity, greatest(c.tlp, i.tlp), i.confidence, sum(i.n), i.expires_next
  from changed as i, lateral (select source_id, tlp from indicator_source where indicator_number = i.number offset 0) as c
  group by 1, 2, 3, 4, 5, 7 having sum(i.n) <> 0
  on conflict (source_id, type, severity, tlp, confidence, expires_next) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  delete from source_summary where count = 0;
  return null;
end $$;

create or replace function delete_statements() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into source_summary as s
  select c.source_id, i.type, i.severity, greatest(c.tlp, i.tlp), i.confidence, -count(*), expires_next(i.expires_at, i.id, last)
  from indicator_summary_expiry as last, removed as i,
    lateral (select source_id, tlp from indicator_source where indicator_number = i.number offset 0) as c
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5, 7
  on conflict (source_id, type, severity, tlp, confidence, expires_next) do update set count = s.count + excluded.count;
  delete from indicator_source where indicator_number in (select number from removed);
  delete from source_summary where count = 0;
  return null;
end $$;

create or replace function add_to_source_summary() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  counted bigint;
  counted_new bigint;
begin
  with stated as materialized (
    select w.source_id, i.type, i.severity, greatest(w.tlp, i.tlp) as tlp, i.confidence,
      is_summed(i.whitelisted, i.expires_at, i.id, last) as summed, expires_next(i.expires_at, i.id, last) as expires_next,
      i.version = 1 and i.revision > revision.value as is_new, count(*) as count
    from indicator_summary_expiry as last, revision, written as w,
      lateral (select * from indicator where number = w.indicator_number offset 0) as i
    group by 1, 2, 3, 4, 5, 6, 7, 8
  ), summed as (
    insert into source_summary as s
    select source_id, type, severity, tlp, confidence, sum(count), expires_next from stated where summed group by 1, 2, 3, 4, 5, 7
    on conflict (source_id, type, severity, tlp, confidence, expires_next) do update set count = s.count + excluded.count
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
  select r.source_id, i.type, i.severity, greatest(r.tlp, i.tlp), i.confidence, -count(*), expires_next(i.expires_at, i.id, last)
  from indicator_summary_expiry as last, removed as r,
    lateral (select * from indicator where number = r.indicator_number offset 0) as i
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5, 7
  on conflict (source_id, type, severity, tlp, confidence, expires_next) do update set count = s.count + excluded.count;
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
  select c.source_id, i.type, i.severity, greatest(c.tlp, i.tlp), i.confidence, sum(c.n), expires_next(i.expires_at, i.id, last)
  from indicator_summary_expiry as last, changed as c,
    lateral (select * from indicator where number = c.indicator_number offset 0) as i
  where is_summed(i.whitelisted, i.expires_at, i.id, last)
  group by 1, 2, 3, 4, 5, 7 having sum(c.n) <> 0
  on conflict (source_id, type, severity, tlp, confidence, expires_next) do update set count = s.count + excluded.count;
  delete from source_summary where count = 0;
  return null;
end $$;

-- The difference between the sums and the indicators that have not expired at a time: rows to subtract (n is -1) and to add (1). From the
-- expiry of the next key on, the sums are those without the part up to it.
create or replace function indicator_summary_correction(at timestamptz)
  returns table (
    id uuid, number bigint, version integer, created_at timestamptz, modified_at timestamptz, type indicator_type, severity severity,
    tlp tlp, confidence smallint, for_detection boolean, tags text[], n integer
  )
  language plpgsql stable parallel restricted rows 10 set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  last indicator_summary_expiry;
  key_expires_at timestamptz;
  key_id uuid;
begin
  select * into last from indicator_summary_expiry;
  if at >= last.next_expires_at then
    key_expires_at := last.next_expires_at;
    key_id := last.next_id;
  else
    key_expires_at := last.expires_at;
    key_id := last.id;
  end if;
  return query
  select i.id, i.number, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, -1
  from indicator as i
  where not i.whitelisted and (i.expires_at, i.id) > (key_expires_at, key_id) and i.expires_at <= at
  union all
  select i.id, i.number, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, 1
  from indicator as i
  where not i.whitelisted and i.expires_at > at and (i.expires_at, i.id) <= (key_expires_at, key_id);
end $$;

-- Takes indicators off one part of the sums and adds them to the other, or to none: those whose expiry and id follow a key, and that expire by
-- a time, in this order, `most` of them. Returns how many they are, and the key of the last.
create function move_in_summaries(
  after_expires_at timestamptz, after_id uuid, until timestamptz, most integer, from_next boolean, to_next boolean,
  out moved integer, out last_expires_at timestamptz, out last_id uuid
)
  language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
begin
  with expiring as materialized (
    select i.expires_at, i.id, i.number, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection,
      i.tags
    from indicator as i
    where not i.whitelisted and (i.expires_at, i.id) > (after_expires_at, after_id) and i.expires_at <= until
    order by i.expires_at, i.id limit most
  ), part as (
    select from_next as expires_next, -1 as n
    union all
    select to_next, 1 where to_next is not null
  ), in_all as (
    insert into indicator_summary as s
    select type, severity, tlp, confidence, for_detection, n * count, hash, expires_next
    from part, (
      select type, severity, tlp, confidence, for_detection, count(*) as count,
        bit_xor(indicator_hash(id, version, created_at, modified_at)) as hash
      from expiring group by type, severity, tlp, confidence, for_detection
    ) as counted
    on conflict (type, severity, tlp, confidence, for_detection, expires_next) do update set count = s.count + excluded.count,
      hash = s.hash # excluded.hash
  ), in_tags as (
    insert into indicator_tag_summary as s
    select tag, type, severity, tlp, n * count, expires_next
    from part, (
      select tag, type, severity, tlp, count(*) as count from expiring, unnest(array_prepend(''::text, tags)) as tag
      group by tag, type, severity, tlp
    ) as counted
    on conflict (tag, type, severity, tlp, expires_next) do update set count = s.count + excluded.count
  ), in_campaigns as (
    insert into campaign_summary as s
    select campaign_id, tlp, n * count, expires_next
    from part, (
      select c.campaign_id, greatest(c.tlp, i.tlp) as tlp, count(*) as count
      from expiring as i, lateral (select campaign_id, tlp from indicator_campaign where indicator_id = i.id offset 0) as c
      group by 1, 2
    ) as counted
    on conflict (campaign_id, tlp, expires_next) do update set count = s.count + excluded.count
  ), in_sources as (
    insert into source_summary as s
    select source_id, type, severity, tlp, confidence, n * count, expires_next
    from part, (
      select c.source_id, i.type, i.severity, greatest(c.tlp, i.tlp) as tlp, i.confidence, count(*) as count
      from expiring as i, lateral (select source_id, tlp from indicator_source where indicator_number = i.number offset 0) as c
      group by 1, 2, 3, 4, 5
    ) as counted
    on conflict (source_id, type, severity, tlp, confidence, expires_next) do update set count = s.count + excluded.count
  )
  select count(*), (array_agg(i.expires_at order by i.expires_at desc, i.id desc))[1],
    (array_agg(i.id order by i.expires_at desc, i.id desc))[1]
  into moved, last_expires_at, last_id from expiring as i;
  delete from indicator_tag_summary where count = 0;
  delete from campaign_summary where count = 0;
  delete from source_summary where count = 0;
end $$;

-- Takes indicators that have expired by a time off the sums: the part up to the next key, if its expiry is not later, else the first `most`
-- indicators after the key. If these are fewer, the key moves on to the time: indicators that are written later with an earlier expiry are
-- never in the sums. The key never moves back. Must be called under the lock of the revision.
create or replace function take_expired_from_summaries(at timestamptz, most integer) returns void language plpgsql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
declare
  last indicator_summary_expiry;
  has_next boolean;
  gone record;
begin
  select * into last from indicator_summary_expiry;
  has_next := (last.next_expires_at, last.next_id) > (last.expires_at, last.id);
  if has_next and last.next_expires_at <= at then
    delete from indicator_summary where expires_next;
    delete from indicator_tag_summary where expires_next;
    delete from campaign_summary where expires_next;
    delete from source_summary where expires_next;
    update indicator_summary_expiry set expires_at = next_expires_at, id = next_id;
    return;
  end if;
  select * into gone from move_in_summaries(last.expires_at, last.id, at, most, has_next, null);
  if gone.moved < most and at >= last.expires_at then
    gone.last_expires_at := at;
    gone.last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end if;
  if gone.last_expires_at is not null then
    update indicator_summary_expiry set expires_at = gone.last_expires_at, id = gone.last_id,
      next_expires_at = case when has_next then next_expires_at else gone.last_expires_at end,
      next_id = case when has_next then next_id else gone.last_id end;
  end if;
end $$;

-- Moves the first `most` indicators after the next key that expire by a time to the part up to that key. If they are fewer, the key moves on to
-- the time: indicators that are written later with an earlier expiry are added to that part. The key never moves back. Must be called under the
-- lock of the revision.
create function sum_next_expiries(until timestamptz, most integer) returns void language plpgsql as $$
declare
  last indicator_summary_expiry;
  coming record;
begin
  select * into last from indicator_summary_expiry;
  select * into coming from move_in_summaries(last.next_expires_at, last.next_id, until, most, false, true);
  if coming.moved < most and until >= last.next_expires_at then
    coming.last_expires_at := until;
    coming.last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end if;
  if coming.last_expires_at is not null then
    update indicator_summary_expiry set next_expires_at = coming.last_expires_at, next_id = coming.last_id;
  end if;
end $$;
