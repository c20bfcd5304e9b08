-- For each tag what indicator_summary is for all: how many indicators have it that are not whitelisted and that no
-- sweep has marked as expired; those of all tags and of none are under ''. It follows every write.
create table indicator_tag_summary (
  tag text not null,
  type indicator_type not null,
  severity severity not null,
  tlp tlp not null,
  count bigint not null,
  primary key (tag, type, severity, tlp)
);
-- What is left of tags that nothing has any more.
create index indicator_tag_summary_empty on indicator_tag_summary (tag) where count = 0;

create function add_to_tag_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_tag_summary as s
  select tag, type, severity, tlp, count(*)
  from added, unnest(array_prepend(''::text, tags)) as tag where not whitelisted and not expired
  group by tag, type, severity, tlp
  on conflict (tag, type, severity, tlp) do update set count = s.count + excluded.count;
  return null;
end $$;

create function take_from_tag_summary() returns trigger language plpgsql as $$
begin
  update indicator_tag_summary as s set count = s.count - gone.count
  from (
    select tag, type, severity, tlp, count(*) as count
    from removed, unnest(array_prepend(''::text, tags)) as tag where not whitelisted and not expired
    group by tag, type, severity, tlp
  ) as gone
  where (s.tag, s.type, s.severity, s.tlp) = (gone.tag, gone.type, gone.severity, gone.tlp);
  delete from indicator_tag_summary where count = 0;
  return null;
end $$;

-- Most changes leave the tags, and what they are summed by, as they were: nothing is written for those.
create function change_tag_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_tag_summary as s
  select tag, type, severity, tlp, sum(n)
  from (
    select tags, type, severity, tlp, 1 as n from added where not whitelisted and not expired
    union all
    select tags, type, severity, tlp, -1 from removed where not whitelisted and not expired
  ) as changed, unnest(array_prepend(''::text, tags)) as tag
  group by tag, type, severity, tlp having sum(n) <> 0
  on conflict (tag, type, severity, tlp) do update set count = s.count + excluded.count;
  delete from indicator_tag_summary where count = 0;
  return null;
end $$;

create function empty_tag_summary() returns trigger language plpgsql as $$
begin
  truncate indicator_tag_summary;
  return null;
end $$;

create trigger indicator_tags_added after insert on indicator referencing new table as added
  for each statement execute function add_to_tag_summary();
create trigger indicator_tags_removed after delete on indicator referencing old table as removed
  for each statement execute function take_from_tag_summary();
create trigger indicator_tags_changed after update on indicator referencing old table as removed new table as added
  for each statement execute function change_tag_summary();
create trigger indicator_tags_emptied after truncate on indicator
  for each statement execute function empty_tag_summary();

insert into indicator_tag_summary
select tag, type, severity, tlp, count(*)
from indicator, unnest(array_prepend(''::text, tags)) as tag where not whitelisted and not expired
group by tag, type, severity, tlp;

-- What has expired and is not marked yet, and what was marked too early: hardly ever anything. From statistics of the
-- expression the planner knows that; from those of its columns it takes one in twenty to be so.
drop index indicator_sweep;
create index indicator_unswept on indicator ((case when not expired then expires_at end))
  where (case when not expired then expires_at end) is not null;
drop index indicator_swept;
create index indicator_swept on indicator ((case when expired then expires_at end))
  where (case when expired then expires_at end) is not null;
create statistics indicator_unswept_expiry on (case when not expired then expires_at end) from indicator;
create statistics indicator_swept_expiry on (case when expired then expires_at end) from indicator;
analyze indicator;

-- By how much the sums are off at an instant: for each row whose expiry and its mark differ, n tells what to add. The two
-- indexes are the way whatever the instant is; a plan that is made for any instant would not know.
create function indicator_drift(at timestamptz)
  returns table (
    id uuid, version integer, created_at timestamptz, modified_at timestamptz, type indicator_type, severity severity,
    tlp tlp, confidence smallint, for_detection boolean, tags text[], n integer
  )
  language plpgsql stable parallel restricted rows 10 set enable_seqscan = off set plan_cache_mode = force_generic_plan
  as $$
begin
  return query
  select i.id, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, -1
  from indicator as i where not i.whitelisted and (case when not i.expired then i.expires_at end) <= at
  union all
  select i.id, i.version, i.created_at, i.modified_at, i.type, i.severity, i.tlp, i.confidence, i.for_detection, i.tags, 1
  from indicator as i where not i.whitelisted and (case when i.expired then i.expires_at end) > at;
end $$;
