-- All indicators of a rare confidence, where the list is sorted by it. Equal keys share an entry.
create index indicator_of_confidence on indicator (confidence);

-- For each text of one or two characters: the visible indicators that contain it, by TLP, counted together with the segments of the
-- list. The trigram index finds no text that short.
create table list_gram (
  gram text collate "C" primary key,
  counts integer[] not null,
  -- The numbers of those among them that were seen after a time, and of some that are no longer visible; null: not listed, as there
  -- are many.
  numbers bigint[],
  newer_than timestamptz not null
);
alter table list_segment_state add column has_grams boolean not null default false;

-- The same segments in the order of first_seen: from one time, included, to an earlier one.
create table first_seen_segment (
  first_seen timestamptz primary key,
  counts integer[] not null
) with (fillfactor = 45);
alter table first_seen_segment alter counts set storage plain;
create index indicator_first_seen on indicator (first_seen) where not whitelisted;

-- Earlier values of first_seen since the segments were counted: the history of indicators has no column for them.
create table first_seen_change (
  indicator_id uuid not null,
  -- Of the change that ended it.
  revision bigint not null,
  first_seen timestamptz not null,
  primary key (indicator_id, revision)
);
create function keep_first_seen() returns trigger language plpgsql as $$
begin
  insert into first_seen_change values (old.id, new.revision, old.first_seen) on conflict do nothing;
  return null;
end $$;
create trigger indicator_first_seen_kept after update of first_seen on indicator for each row
  when (new.first_seen <> old.first_seen) execute function keep_first_seen();

-- The difference between the counts of segments and grams and the indicators that are visible at a time, except for the ceiling: rows to
-- subtract (n is -1) and to add (1), with the text that is searched. At most `most` rows have changed, and as many have expired.
create function list_changes(at timestamptz, most integer)
  returns table (
    last_seen timestamptz, id uuid, type indicator_type, severity severity, confidence smallint, tlp tlp, number bigint, text text,
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
    select i.id, i.type, i.severity, i.confidence, i.tlp, i.last_seen, i.whitelisted, i.expires_at, i.number, i.first_seen,
      coalesce(i.search_text, i.normalized) as text
    from indicator as i where i.revision > counted.revision limit most
  )
  select c.last_seen, c.id, c.type, c.severity, c.confidence, c.tlp, c.number, c.text, c.first_seen, 1
  from changed as c where not c.whitelisted and (c.expires_at is null or c.expires_at > at)
  union all
  select was.last_seen, c.id, c.type, was.severity, was.confidence, was.tlp, c.number, c.text,
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
  select e.last_seen, e.id, e.type, e.severity, e.confidence, e.tlp, e.number, e.text,
    e.first_seen, case when e.expires_at <= at then -1 else 1 end
  from (
    select i.last_seen, i.id, i.type, i.severity, i.confidence, i.tlp, i.expires_at, i.revision, i.number, i.first_seen,
      coalesce(i.search_text, i.normalized) as text
    from indicator as i
    where not i.whitelisted and i.expires_at > least(at, counted.counted_at)
      and i.expires_at <= greatest(at, counted.counted_at) limit most
  ) as e where e.revision <= counted.revision;
end $$;
