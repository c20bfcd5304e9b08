-- Which campaigns an indicator is linked to, each once, under the lowest of the markings of what says so. It follows every
-- write of relationships.
create table indicator_campaign (
  campaign_id uuid not null,
  indicator_id uuid not null,
  tlp tlp not null,
  primary key (campaign_id, indicator_id)
);

-- For each campaign how many indicators are linked to it that are not whitelisted and that no sweep has marked as expired, by
-- the marking that shows both the link and the indicator. It follows every write of either.
create table campaign_summary (
  campaign_id uuid not null,
  tlp tlp not null,
  count bigint not null,
  primary key (campaign_id, tlp)
);

insert into indicator_campaign
select to_id, from_id, min(tlp) from relationship where from_kind = 'indicator' and to_kind = 'campaign'
group by to_id, from_id;
create index indicator_campaign_indicator on indicator_campaign (indicator_id) include (campaign_id, tlp);
analyze indicator_campaign;

insert into campaign_summary
select c.campaign_id, greatest(c.tlp, i.tlp), count(*)
from indicator_campaign as c join indicator as i on i.id = c.indicator_id where not i.whitelisted and not i.expired
group by 1, 2;

-- Of these functions' statements a session keeps plans: indexes have to lead from what has changed to the rest, also where
-- that was empty when they were made.

-- What relationships say of a pair now, whatever they said before: in one statement some are new and some others.
create function keep_campaigns() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  if not exists (select from changed where from_kind = 'indicator' and to_kind = 'campaign') then
    return null;
  end if;
  delete from indicator_campaign as c using changed
  where c.campaign_id = changed.to_id and c.indicator_id = changed.from_id
    and changed.from_kind = 'indicator' and changed.to_kind = 'campaign' and not exists (
      select from relationship as r
      where r.from_id = changed.from_id and r.to_id = changed.to_id and r.from_kind = 'indicator' and r.to_kind = 'campaign'
    );
  insert into indicator_campaign as c
  select r.to_id, r.from_id, min(r.tlp)
  from (select distinct from_id, to_id from changed where from_kind = 'indicator' and to_kind = 'campaign') as pair
    join relationship as r on r.from_id = pair.from_id and r.to_id = pair.to_id
      and r.from_kind = 'indicator' and r.to_kind = 'campaign'
  group by r.to_id, r.from_id
  on conflict (campaign_id, indicator_id) do update set tlp = excluded.tlp where c.tlp <> excluded.tlp;
  return null;
end $$;

create function empty_campaigns() returns trigger language plpgsql as $$
begin
  truncate indicator_campaign;
  truncate campaign_summary;
  return null;
end $$;

create trigger campaigns_added after insert on relationship referencing new table as changed
  for each statement execute function keep_campaigns();
create trigger campaigns_removed after delete on relationship referencing old table as changed
  for each statement execute function keep_campaigns();
create trigger campaigns_were after update on relationship referencing old table as changed
  for each statement execute function keep_campaigns();
create trigger campaigns_are after update on relationship referencing new table as changed
  for each statement execute function keep_campaigns();
create trigger campaigns_emptied after truncate on relationship
  for each statement execute function empty_campaigns();

-- Adds pairs to the sums, or takes them off: the argument tells, 1 or -1.
create function sum_pairs() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), count(*) * tg_argv[0]::int
  from changed as c join indicator as i on i.id = c.indicator_id where not i.whitelisted and not i.expired
  group by 1, 2
  on conflict (campaign_id, tlp) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

create trigger pairs_added after insert on indicator_campaign referencing new table as changed
  for each statement execute function sum_pairs('1');
create trigger pairs_removed after delete on indicator_campaign referencing old table as changed
  for each statement execute function sum_pairs('-1');
create trigger pairs_were after update on indicator_campaign referencing old table as changed
  for each statement execute function sum_pairs('-1');
create trigger pairs_are after update on indicator_campaign referencing new table as changed
  for each statement execute function sum_pairs('1');

-- The same for indicators that came or went.
create function sum_linked() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), count(*) * tg_argv[0]::int
  from changed as i join indicator_campaign as c on c.indicator_id = i.id where not i.whitelisted and not i.expired
  group by 1, 2
  on conflict (campaign_id, tlp) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

-- Most changes leave what they are summed by as it was: nothing is looked up for those.
create function sum_changed() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), sum(i.n)
  from (
    select a.id, side.tlp, side.n
    from added as a join removed as r on r.id = a.id,
      lateral (values (a.tlp, a.whitelisted or a.expired, 1), (r.tlp, r.whitelisted or r.expired, -1)) as side (tlp, hidden, n)
    where (a.tlp, a.whitelisted or a.expired) <> (r.tlp, r.whitelisted or r.expired) and not side.hidden
  ) as i, lateral (select campaign_id, tlp from indicator_campaign where indicator_id = i.id offset 0) as c
  group by 1, 2 having sum(i.n) <> 0
  on conflict (campaign_id, tlp) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;

create function empty_campaign_summary() returns trigger language plpgsql as $$
begin
  truncate campaign_summary;
  return null;
end $$;

create trigger indicator_linked_added after insert on indicator referencing new table as changed
  for each statement execute function sum_linked('1');
create trigger indicator_linked_removed after delete on indicator referencing old table as changed
  for each statement execute function sum_linked('-1');
create trigger indicator_linked_changed after update on indicator referencing old table as removed new table as added
  for each statement execute function sum_changed();
create trigger indicator_linked_emptied after truncate on indicator
  for each statement execute function empty_campaign_summary();
