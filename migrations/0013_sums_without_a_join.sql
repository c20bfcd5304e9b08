-- Without a join of what rows are with what they were: a session keeps the plan of its first change, which may be of one row,
-- and would go on to compare each of two thousand with each.
create or replace function sum_changed() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into campaign_summary as s
  select c.campaign_id, greatest(c.tlp, i.tlp), sum(i.n)
  from (
    select id, tlp, sum(n) as n
    from (
      select id, tlp, 1 as n from added where not whitelisted and not expired
      union all
      select id, tlp, -1 from removed where not whitelisted and not expired
    ) as side
    group by id, tlp having sum(n) <> 0
  ) as i, lateral (select campaign_id, tlp from indicator_campaign where indicator_id = i.id offset 0) as c
  group by 1, 2 having sum(i.n) <> 0
  on conflict (campaign_id, tlp) do update set count = s.count + excluded.count;
  delete from campaign_summary where count = 0;
  return null;
end $$;
