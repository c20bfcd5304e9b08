-- The sums hold what no sweep has marked as expired: what a query must still take off them is what has expired since
-- the last sweep, and what it must add is what a sweep with a faster clock has marked too early.

create or replace function add_to_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_summary as s
  select type, severity, tlp, confidence, for_detection, count(*),
    bit_xor(indicator_hash(id, version, created_at, modified_at))
  from added where not whitelisted and not expired
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
      bit_xor(indicator_hash(id, version, created_at, modified_at)) as hash
    from removed where not whitelisted and not expired
    group by type, severity, tlp, confidence, for_detection
  ) as gone
  where (s.type, s.severity, s.tlp, s.confidence, s.for_detection)
    = (gone.type, gone.severity, gone.tlp, gone.confidence, gone.for_detection);
  return null;
end $$;

truncate indicator_summary;
insert into indicator_summary
select type, severity, tlp, confidence, for_detection, count(*),
  bit_xor(indicator_hash(id, version, created_at, modified_at))
from indicator where not whitelisted and not expired
group by type, severity, tlp, confidence, for_detection;

-- What a sweep has marked; what it has not is in indicator_sweep.
create index indicator_swept on indicator (expires_at) where expired;

-- When the next of some indicators expires.
drop index indicator_expiry;
create index indicator_expiry on indicator (expires_at) include (type, severity, tlp, confidence)
  where not whitelisted and expires_at is not null;
