-- The statements of a source's records about an indicator besides dates and markings: names, comments, original ids.
alter table indicator_source add column records jsonb;
-- Whether any of its sources has such records: exports look for them only then.
alter table indicator add column has_records boolean not null default false;

alter table report add column authors text[];
alter table report add column links text[];
update report set authors = '{}', links = '{}';
update entity_source set columns = '{"authors": [], "links": []}'::jsonb || columns, parts = (
  select jsonb_agg(jsonb_set(part, '{columns}', '{"authors": [], "links": []}'::jsonb || (part -> 'columns')) order by place)
  from jsonb_array_elements(parts) with ordinality as each (part, place))
where entity_kind = 'report';
-- By it, exports of reports detect a change.
alter table report add column modified_at timestamptz;

-- Parts of reports and files that are no indicators: YARA rules, import hashes, texts, patterns.
alter type entity_kind add value 'attribute';
create table attribute (
  id uuid primary key,
  type text not null,
  value text not null,
  name text,
  description text,
  category text,
  for_detection boolean not null,
  -- The MISP object that it is part of.
  object jsonb,
  tags text[] not null,
  -- Of a rule: when it is no longer valid.
  expires_at timestamptz,
  confidence smallint not null,
  tlp tlp not null,
  source_id uuid not null references source (id),
  stated_at timestamptz,
  created_at timestamptz not null,
  revision bigint not null,
  modified_at timestamptz,
  withdrawn boolean not null default false
);
create index attribute_object on attribute ((object ->> 'id')) where object is not null;
create trigger attribute_gone after delete on attribute referencing old table as gone
  for each statement execute function forget_entities('attribute');
create trigger attribute_emptied after truncate on attribute
  for each statement execute function forget_all_entities('attribute');
