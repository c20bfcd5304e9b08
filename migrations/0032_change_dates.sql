-- The order in which indicators were added or last changed, and the times that TAXII states for that (TAXII 2.1 §3.4).

create sequence change_number as bigint minvalue 0;
select setval('change_number', last_number) from revision;

-- Assigned with each revision of a row; null: not changed since this column exists. The number of an indicator then stands for it,
-- so that no row has to be rewritten.
alter table indicator add column change_number bigint;
alter table indicator alter column change_number set default nextval('change_number');
create unique index indicator_change_number on indicator (coalesce(change_number, number));

-- The same for links: a saved feed may be restricted to the indicators of an actor or campaign. null: before all others.
alter table relationship add column change_number bigint;
alter table relationship alter column change_number set default nextval('change_number');

create function assign_change_number() returns trigger language plpgsql as $$
begin
  new.change_number := nextval('change_number');
  return new;
end $$;
create trigger indicator_change_numbered before update of revision on indicator
  for each row when (new.revision is distinct from old.revision) execute function assign_change_number();
create trigger relationship_change_numbered before update of revision on relationship
  for each row when (new.revision is distinct from old.revision) execute function assign_change_number();
-- Where an actor or campaign becomes visible to others, its links do.
create function renew_links() returns trigger language plpgsql as $$
begin
  update relationship set revision = new.revision where to_id = new.id and from_kind = 'indicator';
  return null;
end $$;
create trigger actor_links_renewed after update of tlp, withdrawn on actor
  for each row when (new.tlp <> old.tlp or new.withdrawn <> old.withdrawn) execute function renew_links();
create trigger campaign_links_renewed after update of tlp, withdrawn on campaign
  for each row when (new.tlp <> old.tlp or new.withdrawn <> old.withdrawn) execute function renew_links();

-- The change numbers of each revision that changed rows, and the time of the first one, in microseconds since 1970. Each change
-- has four microseconds, one for each object that it may become. Times increase with the numbers.
create table change_date (
  first_number bigint primary key,
  last_number bigint not null check (last_number >= first_number),
  first_date bigint not null unique,
  revision bigint not null
);
insert into change_date (first_number, last_number, first_date, revision)
select 0, last_number,
  ceil(extract(epoch from greatest(clock_timestamp(), (select max(coalesce(modified_at, created_at)) from indicator))) * 1000000),
  value
from revision;
