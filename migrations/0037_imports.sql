-- Cheaper inserts of indicators and of the statements of their sources.

-- One index instead of two with the same key.
alter table indicator_source drop constraint indicator_source_indicator_id_fkey;
alter table enrichment drop constraint enrichment_indicator_id_fkey;
alter table whitelist_hit drop constraint whitelist_hit_indicator_id_fkey;
alter table enrichment_request drop constraint enrichment_request_indicator_id_fkey;
alter table indicator drop constraint indicator_pkey;
drop index indicator_visible;
alter table indicator add constraint indicator_pkey primary key (id) include (tlp, expires_at, last_seen, whitelisted);
alter table enrichment add constraint enrichment_indicator_id_fkey foreign key (indicator_id) references indicator on delete cascade;
alter table whitelist_hit add constraint whitelist_hit_indicator_id_fkey foreign key (indicator_id) references indicator on delete cascade;
alter table enrichment_request add constraint enrichment_request_indicator_id_fkey
  foreign key (indicator_id) references indicator on delete cascade;

-- The references of indicators and of their statements, checked once for each statement instead of for each row. All writers of these
-- tables and those that delete sources hold the lock of the revision.
alter table indicator drop constraint indicator_source_id_fkey;
alter table indicator_source drop constraint indicator_source_source_id_fkey;

create function check_sources() returns trigger language plpgsql as $$
begin
  if exists (
    select from (select distinct source_id from written) as named
    where not exists (select from source where source.id = named.source_id)
  ) then
    raise foreign_key_violation using message = format('a row of %I names a source that does not exist', tg_table_name);
  end if;
  return null;
end $$;
create trigger indicator_sources_checked after insert on indicator referencing new table as written
  for each statement execute function check_sources();
create trigger indicator_sources_checked_again after update on indicator referencing new table as written
  for each statement execute function check_sources();
create trigger indicator_source_sources_checked after insert on indicator_source referencing new table as written
  for each statement execute function check_sources();

create function check_indicators() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
begin
  if exists (select from written where not exists (select from indicator where indicator.id = written.indicator_id)) then
    raise foreign_key_violation using message = 'a row of indicator_source names an indicator that does not exist';
  end if;
  return null;
end $$;
create trigger indicator_source_indicators_checked after insert on indicator_source referencing new table as written
  for each statement execute function check_indicators();

create function delete_statements() returns trigger language plpgsql as $$
begin
  delete from indicator_source where indicator_id in (select id from removed);
  return null;
end $$;
create trigger indicator_statements_removed after delete on indicator referencing old table as removed
  for each statement execute function delete_statements();

create function check_unused_source() returns trigger language plpgsql as $$
begin
  if exists (select from indicator_source where source_id = old.id) or exists (select from indicator where source_id = old.id) then
    raise foreign_key_violation using message = format('indicators refer to the source %L', old.name);
  end if;
  return old;
end $$;
create trigger source_unused before delete on source for each row execute function check_unused_source();

-- Links name indicators that exist, so that an indicator without a row has none.
drop trigger indicator_linked_added on indicator;

-- The objects of each batch of an import of files whose undo data are the same for all of them: those about which its source said
-- nothing before (changed), and those that it has stated again. They become rows of import_change before these are read. A batch of a
-- feed (run is null) ends the undo data of its objects.
create table import_batch (
  number bigint generated always as identity primary key,
  source text not null,
  run integer,
  kind entity_kind not null,
  changed boolean not null,
  revision bigint not null,
  object_ids uuid[] not null
);
alter table import_batch alter column object_ids set storage external;
create index import_batch_source on import_batch (source, number);

-- The relationships of changed indicators are numbered anew once for each statement instead of for each row. An expiry that stays in the
-- future changes nothing. Grouped instead of joined: a session keeps the plan of its first change, which may be of one row.
drop trigger indicator_links_renewed on indicator;
create function renew_links_of_indicators() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
declare
  ids uuid[] := array(
    select id from (
      select id, tlp, whitelisted, for_detection, expires_at, coalesce(modified_at, created_at) as changed_at from added
      union all
      select id, tlp, whitelisted, for_detection, expires_at, coalesce(modified_at, created_at) from removed
    ) as state
    group by id
    having min(tlp) <> max(tlp) or bool_and(whitelisted) <> bool_or(whitelisted) or bool_and(for_detection) <> bool_or(for_detection)
      or ((min(expires_at) <> max(expires_at) or count(expires_at) = 1) and min(expires_at) <= max(changed_at))
  );
begin
  if exists (select from relationship where from_id = any(ids)) then
    update relationship set change_number = nextval('change_number') where from_id = any(ids);
  end if;
  return null;
end $$;
create trigger indicator_links_renewed after update on indicator referencing old table as removed new table as added
  for each statement execute function renew_links_of_indicators();
