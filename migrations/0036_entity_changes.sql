-- Changes of actors, campaigns, techniques, software and of the relationships between these and indicators, numbered and kept like
-- those of indicators (0027, 0032): TAXII lists them in this order, and their ends.

alter table actor add column change_number bigint not null default nextval('change_number');
alter table campaign add column change_number bigint not null default nextval('change_number');
alter table technique add column change_number bigint not null default nextval('change_number');
alter table software add column change_number bigint not null default nextval('change_number');
create unique index actor_change_number on actor (change_number);
create unique index campaign_change_number on campaign (change_number);
create unique index technique_change_number on technique (change_number);
create unique index software_change_number on software (change_number);
create trigger actor_change_numbered before update of revision on actor
  for each row when (new.revision is distinct from old.revision) execute function assign_change_number();
create trigger campaign_change_numbered before update of revision on campaign
  for each row when (new.revision is distinct from old.revision) execute function assign_change_number();
create trigger technique_change_numbered before update of revision on technique
  for each row when (new.revision is distinct from old.revision) execute function assign_change_number();
create trigger software_change_numbered before update of revision on software
  for each row when (new.revision is distinct from old.revision) execute function assign_change_number();

alter table relationship disable trigger user;
update relationship set change_number = nextval('change_number') where change_number is null;
alter table relationship enable trigger user;
alter table relationship alter column change_number set not null;
create unique index relationship_change_number on relationship (change_number)
  where from_kind in ('indicator', 'actor', 'campaign', 'technique', 'software')
    and to_kind in ('actor', 'campaign', 'technique', 'software');

-- The number of the deletion, where a deletion ended the state.
alter table entity_history add column ended_number bigint;
alter table link_history add column ended_number bigint;
create index entity_history_ended_number on entity_history (ended_number) where ended_number is not null;
create index link_history_ended_number on link_history (ended_number) where ended_number is not null;
-- Until now only links of indicators were kept.
alter table link_history add column type relationship_type not null default 'indicates';
alter table link_history alter column type drop default;

-- The external ids that decide under which id STIX refers to an entity: those of ATT&CK, and those that have its own id. Only those
-- that everybody who can see the entity can see, so that it has one id.
create function stix_ids_of(kind entity_kind, entity uuid, ceiling tlp) returns text[] language sql stable as $$
  select coalesce(array_agg(distinct stated.id collate "C" order by stated.id collate "C"), '{}')
  from entity_source as s, unnest(s.external_ids) as stated (id)
  where s.entity_id = entity and s.entity_kind = kind and s.tlp <= ceiling
    and (stated.id like 'attack:%' or stated.id like '%--' || entity)
$$;
alter table actor add column stix_ids text[] not null default '{}';
alter table campaign add column stix_ids text[] not null default '{}';
alter table technique add column stix_ids text[] not null default '{}';
alter table software add column stix_ids text[] not null default '{}';
alter table actor disable trigger user;
alter table campaign disable trigger user;
update actor set stix_ids = stix_ids_of('actor', id, tlp);
update campaign set stix_ids = stix_ids_of('campaign', id, tlp);
update technique set stix_ids = stix_ids_of('technique', id, tlp);
update software set stix_ids = stix_ids_of('software', id, tlp);
alter table actor enable trigger user;
alter table campaign enable trigger user;

create function read_stix_ids() returns trigger language plpgsql as $$
begin
  new.stix_ids := stix_ids_of(tg_argv[0]::entity_kind, new.id, new.tlp);
  return new;
end $$;
create trigger actor_stix_ids before insert or update of tlp on actor
  for each row execute function read_stix_ids('actor');
create trigger campaign_stix_ids before insert or update of tlp on campaign
  for each row execute function read_stix_ids('campaign');
create trigger technique_stix_ids before insert or update of tlp on technique
  for each row execute function read_stix_ids('technique');
create trigger software_stix_ids before insert or update of tlp on software
  for each row execute function read_stix_ids('software');

-- Statements are written before their entities, in the same revision.
create function renew_stix_ids() returns trigger language plpgsql as $$
declare
  advanced bigint := (select value + 1 from revision);
begin
  update actor as t set stix_ids = stix_ids_of('actor', t.id, t.tlp), revision = advanced,
    modified_at = coalesce(t.modified_at, t.created_at) + interval '1 millisecond'
  where t.id = any(array(select distinct entity_id from changed where entity_kind = 'actor'))
    and t.stix_ids <> stix_ids_of('actor', t.id, t.tlp);
  update campaign as t set stix_ids = stix_ids_of('campaign', t.id, t.tlp), revision = advanced,
    modified_at = coalesce(t.modified_at, t.created_at) + interval '1 millisecond'
  where t.id = any(array(select distinct entity_id from changed where entity_kind = 'campaign'))
    and t.stix_ids <> stix_ids_of('campaign', t.id, t.tlp);
  update technique as t set stix_ids = stix_ids_of('technique', t.id, t.tlp), revision = advanced,
    modified_at = coalesce(t.modified_at, t.created_at) + interval '1 millisecond'
  where t.id = any(array(select distinct entity_id from changed where entity_kind = 'technique'))
    and t.stix_ids <> stix_ids_of('technique', t.id, t.tlp);
  update software as t set stix_ids = stix_ids_of('software', t.id, t.tlp), revision = advanced,
    modified_at = coalesce(t.modified_at, t.created_at) + interval '1 millisecond'
  where t.id = any(array(select distinct entity_id from changed where entity_kind = 'software'))
    and t.stix_ids <> stix_ids_of('software', t.id, t.tlp);
  return null;
end $$;
create trigger stix_ids_added after insert on entity_source referencing new table as changed
  for each statement execute function renew_stix_ids();
create trigger stix_ids_removed after delete on entity_source referencing old table as changed
  for each statement execute function renew_stix_ids();
create trigger stix_ids_were after update on entity_source referencing old table as changed
  for each statement execute function renew_stix_ids();
create trigger stix_ids_are after update on entity_source referencing new table as changed
  for each statement execute function renew_stix_ids();

create or replace function keep_entity_history() returns trigger language plpgsql as $$
declare
  advanced bigint := (select value + 1 from revision);
begin
  insert into entity_history (id, kind, from_revision, to_revision, state, ended_number)
  select was.id, tg_argv[0]::entity_kind, was.revision, advanced, to_jsonb(was),
    case when tg_op = 'DELETE' then nextval('change_number') end
  from was where was.revision < advanced
  on conflict (id, from_revision) do update set to_revision = excluded.to_revision, ended_number = excluded.ended_number;
  -- Changed and deleted in one revision.
  if tg_op = 'DELETE' then
    update entity_history as h set ended_number = nextval('change_number')
    from was where was.revision = advanced and h.id = was.id and h.to_revision = advanced;
  end if;
  return null;
end $$;
create trigger technique_history_kept_of_changed after update on technique referencing old table as was
  for each statement execute function keep_entity_history('technique');
create trigger technique_history_kept_of_removed after delete on technique referencing old table as was
  for each statement execute function keep_entity_history('technique');
create trigger software_history_kept_of_changed after update on software referencing old table as was
  for each statement execute function keep_entity_history('software');
create trigger software_history_kept_of_removed after delete on software referencing old table as was
  for each statement execute function keep_entity_history('software');

-- A new number alone is no change of a link: the revision stays. A session keeps the plans of these statements, also where the tables
-- were empty when they were made.
create or replace function keep_link_history() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
declare
  advanced bigint := (select value + 1 from revision);
begin
  if tg_op = 'DELETE' then
    insert into link_history (from_id, to_id, type, from_kind, to_kind, tlp, from_revision, to_revision, ended_number)
    select was.from_id, was.to_id, was.type, was.from_kind, was.to_kind, was.tlp, was.revision, advanced, nextval('change_number')
    from was where was.revision < advanced
      and was.from_kind in ('indicator', 'actor', 'campaign', 'technique', 'software')
      and was.to_kind in ('actor', 'campaign', 'technique', 'software');
    -- Changed and deleted in one revision.
    update link_history as h set ended_number = nextval('change_number')
    from was where was.revision = advanced and h.to_id = was.to_id and h.from_id = was.from_id and h.type = was.type
      and h.to_revision = advanced and h.ended_number is null;
  else
    insert into link_history (from_id, to_id, type, from_kind, to_kind, tlp, from_revision, to_revision)
    select was.from_id, was.to_id, was.type, was.from_kind, was.to_kind, was.tlp, was.revision, advanced
    from was join relationship as r on r.from_id = was.from_id and r.to_id = was.to_id and r.type = was.type
      and r.source_id = was.source_id
    where was.revision < advanced and r.revision > was.revision
      and was.from_kind in ('indicator', 'actor', 'campaign', 'technique', 'software')
      and was.to_kind in ('actor', 'campaign', 'technique', 'software');
  end if;
  -- The marking of a relationship is that of its least restricted statement: without that one, that of the others changes.
  if exists (
    select from was left join relationship as r on r.from_id = was.from_id and r.to_id = was.to_id and r.type = was.type
      and r.source_id = was.source_id
    where (r.tlp is null or r.tlp > was.tlp) and exists (
      select from relationship as other where other.from_id = was.from_id and other.from_kind = was.from_kind
        and other.to_id = was.to_id and other.tlp > was.tlp)
  ) then
    update relationship as other set change_number = nextval('change_number')
    from was left join relationship as r on r.from_id = was.from_id and r.to_id = was.to_id and r.type = was.type
      and r.source_id = was.source_id
    where (r.tlp is null or r.tlp > was.tlp)
      and other.from_id = was.from_id and other.from_kind = was.from_kind and other.to_id = was.to_id and other.tlp > was.tlp;
  end if;
  return null;
end $$;

-- The object of a relationship depends on the ids, the markings and the visibility of its ends.
create or replace function renew_links() returns trigger language plpgsql as $$
declare
  entity uuid := case when tg_op = 'DELETE' then old.id else new.id end;
begin
  if exists (select from relationship where to_id = entity) then
    update relationship set change_number = nextval('change_number') where to_id = entity
      and from_kind in ('indicator', 'actor', 'campaign', 'technique', 'software');
  end if;
  if exists (select from relationship where from_id = entity) then
    update relationship set change_number = nextval('change_number') where from_id = entity;
  end if;
  return null;
end $$;
create trigger actor_links_renewed_with_it after insert or delete on actor for each row execute function renew_links();
create trigger campaign_links_renewed_with_it after insert or delete on campaign for each row execute function renew_links();
create trigger technique_links_renewed_with_it after insert or delete on technique for each row execute function renew_links();
create trigger software_links_renewed_with_it after insert or delete on software for each row execute function renew_links();
drop trigger actor_links_renewed on actor;
drop trigger campaign_links_renewed on campaign;
create trigger actor_links_renewed after update on actor for each row
  when (new.tlp <> old.tlp or new.withdrawn <> old.withdrawn or new.stix_ids <> old.stix_ids
    or (new.attack_group_id is null) <> (old.attack_group_id is null)) execute function renew_links();
create trigger campaign_links_renewed after update on campaign for each row
  when (new.tlp <> old.tlp or new.withdrawn <> old.withdrawn or new.stix_ids <> old.stix_ids) execute function renew_links();
create trigger technique_links_renewed after update on technique for each row
  when (new.tlp <> old.tlp or new.withdrawn <> old.withdrawn or new.stix_ids <> old.stix_ids) execute function renew_links();
create trigger software_links_renewed after update on software for each row
  when (new.tlp <> old.tlp or new.withdrawn <> old.withdrawn or new.stix_ids <> old.stix_ids
    or new.software_type <> old.software_type) execute function renew_links();

-- An expiry that stays in the future changes nothing.
create trigger indicator_links_renewed after update of tlp, whitelisted, for_detection, expires_at on indicator for each row
  when (new.tlp <> old.tlp or new.whitelisted <> old.whitelisted or new.for_detection <> old.for_detection
    or (new.expires_at is distinct from old.expires_at
      and least(new.expires_at, old.expires_at) <= coalesce(new.modified_at, new.created_at)))
  execute function renew_links();

-- A revision without indicators had no time; its relationships state the millisecond in which it begins.
update change_date set modified = first_date / 1000 * 1000 where modified = 0;

-- When the rows that were there were added: now.
insert into change_date (first_number, last_number, first_date, revision, modified)
select first_number, last_number, first_date, revision, first_date / 1000 * 1000
from (
  select latest.last_number + 1 as first_number, numbered.last_value as last_number, revision.value as revision,
    greatest((latest.first_date + 4 * (latest.last_number - latest.first_number + 1) + 999) / 1000 * 1000,
      ceil(extract(epoch from greatest(clock_timestamp(),
        (select max(coalesce(modified_at, created_at)) from actor), (select max(coalesce(modified_at, created_at)) from campaign),
        (select max(coalesce(modified_at, created_at)) from technique), (select max(coalesce(modified_at, created_at)) from software)
      )) * 1000000)::bigint) as first_date
  from (select * from change_date order by first_number desc limit 1) as latest, change_number as numbered, revision
  where numbered.last_value > latest.last_number
) as added;
