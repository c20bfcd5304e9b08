-- What each source says of actors, campaigns, techniques, software and reports, and which of their objects are one.
-- The rows of those tables are what is shown: computed from here.

-- What one source says of one object. An object is what an id elsewhere stands for; those found to be one share an
-- entity, whose id is that of one of them. They part again when what joined them proves to be no sign.
create table entity_source (
  entity_kind entity_kind not null,
  object_id uuid not null,
  source_id uuid not null references source (id),
  entity_id uuid not null,
  external_ids text[] not null,
  stated_at timestamptz,
  tlp tlp not null,
  confidence smallint not null check (confidence between 0 and 100),
  -- As in the table of the kind; dates as ISO 8601.
  columns jsonb not null,
  -- Where it said things to several audiences or at several times: what to whom, and when. null: all of it as above.
  parts jsonb,
  heard_at timestamptz not null,
  primary key (entity_kind, object_id, source_id)
);
create index entity_source_entity on entity_source (entity_id);

-- What objects are known by: `id:` an id elsewhere, `attack:` an id in ATT&CK, `name:` a name as names are compared.
create table entity_key (
  entity_kind entity_kind not null,
  key text not null,
  object_id uuid not null,
  primary key (entity_kind, key, object_id)
);

-- Which of two groups has an id of ATT&CK is settled before rows are written, and told by tests; a claim that cannot
-- be settled must not stop an import.
alter table technique drop constraint technique_attack_id_key;
alter table software drop constraint software_attack_id_key;
create index technique_attack_id on technique (attack_id);
create index software_attack_id on software (attack_id);

-- What has been imported so far: each row is the statement of its source.
create function pg_temp.iso(moment timestamptz) returns text language sql as
  $$ select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

with stored as (
  select 'actor' as kind, id, source_id, stated_at, tlp, confidence, created_at, jsonb_build_object('name', name,
    'aliases', aliases, 'attack_group_id', attack_group_id, 'description', description, 'country', country,
    'motivation', motivation, 'sophistication', sophistication, 'retired', retired,
    'first_seen', pg_temp.iso(first_seen), 'last_seen', pg_temp.iso(last_seen),
    'target_sectors', target_sectors, 'target_countries', target_countries) as columns from actor
  union all select 'campaign', id, source_id, stated_at, tlp, confidence, created_at, jsonb_build_object('name', name,
    'aliases', aliases, 'description', description, 'start_date', pg_temp.iso(start_date),
    'end_date', pg_temp.iso(end_date), 'target_sectors', target_sectors, 'target_countries', target_countries)
    from campaign
  union all select 'technique', id, source_id, stated_at, tlp, confidence, created_at, jsonb_build_object('name', name,
    'attack_id', attack_id, 'description', description, 'tactics', tactics, 'retired', retired) from technique
  union all select 'software', id, source_id, stated_at, tlp, confidence, created_at, jsonb_build_object('name', name,
    'software_type', software_type, 'attack_id', attack_id, 'aliases', aliases, 'description', description,
    'retired', retired) from software
  union all select 'report', id, source_id, stated_at, tlp, confidence, created_at, jsonb_build_object('title', title,
    'description', description, 'published_at', pg_temp.iso(published_at), 'tags', tags, 'url', url) from report
)
insert into entity_source (entity_kind, object_id, source_id, entity_id, external_ids, stated_at, tlp, confidence,
  columns, heard_at)
select kind::entity_kind, id, source_id, id, coalesce((select array_agg(e.external_id order by e.external_id collate "C")
  from external_id as e where e.entity_id = stored.id), '{}'), stated_at, tlp, confidence, columns, created_at
from stored;

-- As nameKey() in src/model/text.ts.
create function pg_temp.name_key(name text) returns text language sql as $$
  select translate(regexp_replace(regexp_replace(lower(normalize(btrim(name), NFKC)),
    '(\d)[\s_\-\u2010-\u2015\u2212]+(?=\d)', E'\\1\x01', 'g'), '[\s_\-\u2010-\u2015\u2212]+', '', 'g'), E'\x01', '-')
$$;

insert into entity_key (entity_kind, key, object_id)
select entity_kind, 'id:' || id, object_id from entity_source, unnest(external_ids) as id
union select entity_kind, 'attack:' || id, object_id
from entity_source, coalesce(columns ->> 'attack_id', columns ->> 'attack_group_id') as id where id is not null
union select entity_kind, 'name:' || key, object_id from entity_source,
  lateral (select columns ->> 'name' union select coalesce(alias ->> 'alias', alias #>> '{}')
    from jsonb_array_elements(coalesce(columns -> 'aliases', '[]')) as alias) as names (name),
  pg_temp.name_key(name) as key
where entity_kind <> 'report' and length(key) between 1 and 200;

-- What stands in no foreign key, the table being one of several: statements go with what they are of.
create function forget_entities() returns trigger language plpgsql as $$
begin
  delete from entity_key as k using gone join entity_source as s on s.entity_id = gone.id
    where s.entity_kind = tg_argv[0]::entity_kind and k.entity_kind = s.entity_kind and k.object_id = s.object_id;
  delete from entity_source as s using gone
    where s.entity_id = gone.id and s.entity_kind = tg_argv[0]::entity_kind;
  return null;
end $$;

create function forget_all_entities() returns trigger language plpgsql as $$
begin
  delete from entity_key where entity_kind = tg_argv[0]::entity_kind;
  delete from entity_source where entity_kind = tg_argv[0]::entity_kind;
  return null;
end $$;

create trigger actor_gone after delete on actor referencing old table as gone
  for each statement execute function forget_entities('actor');
create trigger campaign_gone after delete on campaign referencing old table as gone
  for each statement execute function forget_entities('campaign');
create trigger technique_gone after delete on technique referencing old table as gone
  for each statement execute function forget_entities('technique');
create trigger software_gone after delete on software referencing old table as gone
  for each statement execute function forget_entities('software');
create trigger report_gone after delete on report referencing old table as gone
  for each statement execute function forget_entities('report');
create trigger actor_emptied after truncate on actor for each statement execute function forget_all_entities('actor');
create trigger campaign_emptied after truncate on campaign
  for each statement execute function forget_all_entities('campaign');
create trigger technique_emptied after truncate on technique
  for each statement execute function forget_all_entities('technique');
create trigger software_emptied after truncate on software
  for each statement execute function forget_all_entities('software');
create trigger report_emptied after truncate on report
  for each statement execute function forget_all_entities('report');
