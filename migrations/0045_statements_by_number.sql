-- Statements refer to their indicator by its number instead of its id: numbers only grow, so that new statements are at the end of the
-- index by indicator, and of the part of their source in the other one, instead of at random places.
alter table indicator_source rename to indicator_source_by_id;
create table indicator_source (
  indicator_number bigint not null,
  source_id uuid not null,
  stated_at timestamptz,
  first_seen timestamptz,
  last_seen timestamptz,
  imported_at timestamptz not null,
  expires_at timestamptz,
  confidence smallint,
  severity severity,
  tlp tlp not null,
  tags text[] not null,
  for_detection boolean not null,
  delisted_at timestamptz,
  of_certificate boolean not null default false,
  records jsonb,
  files uuid[],
  kev jsonb
);
insert into indicator_source
select i.number, s.source_id, s.stated_at, s.first_seen, s.last_seen, s.imported_at, s.expires_at, s.confidence, s.severity, s.tlp, s.tags,
  s.for_detection, s.delisted_at, s.of_certificate, s.records, s.files, s.kev
from indicator_source_by_id as s join indicator as i on i.id = s.indicator_id
order by i.number;
-- With its indexes, constraints and triggers.
drop table indicator_source_by_id;
alter table indicator_source add constraint indicator_source_pkey primary key (indicator_number, source_id),
  add constraint indicator_source_confidence_check check (confidence between 0 and 100);
create index indicator_source_source on indicator_source (source_id, indicator_number);
create index indicator_source_files on indicator_source using gin (files) with (fastupdate = off) where files is not null;
analyze indicator_source;

create trigger indicator_source_sources_checked after insert on indicator_source referencing new table as written
  for each statement execute function check_sources();

create or replace function check_indicators() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  if exists (select from written where not exists (select from indicator where indicator.number = written.indicator_number)) then
    raise foreign_key_violation using message = 'a row of indicator_source names an indicator that does not exist';
  end if;
  return null;
end $$;
create trigger indicator_source_indicators_checked after insert on indicator_source referencing new table as written
  for each statement execute function check_indicators();

create or replace function delete_statements() returns trigger language plpgsql as $$
begin
  delete from indicator_source where indicator_number in (select number from removed);
  return null;
end $$;
