-- What imports of files have replaced, so that they can be undone; and sources that are removed.

alter table import_run
  add column number integer generated always as identity unique,
  -- What it replaces is kept.
  add column keeps_changes boolean not null default false,
  add column undo text check (undo in ('running', 'done')),
  add column undone_by text,
  add column undone_at timestamptz;
create index import_run_source on import_run (source) where keeps_changes;

-- What an import has changed of what its source says of one object, or has said again after an earlier import that can
-- be undone. Narrow, and without references: a row is written for each object that an import brings.
create table import_change (
  -- Of an indicator its id; else the object of entity_source.
  object_id uuid not null,
  -- Its number.
  run integer not null,
  kind entity_kind not null,
  -- false: it said again what was there.
  changed boolean not null,
  -- The revision at which it spoke of it: later ones have said it again.
  revision bigint not null,
  -- The row of indicator_source or entity_source that it replaced; null: there was none, or it changed nothing.
  before jsonb,
  primary key (object_id, run)
);

-- The same of relationships.
create table import_relationship_change (
  from_id uuid not null,
  to_id uuid not null,
  type relationship_type not null,
  run integer not null,
  source_id uuid not null,
  from_kind entity_kind not null,
  to_kind entity_kind not null,
  changed boolean not null,
  revision bigint not null,
  -- The marking before; null: there was no such relationship, or it changed nothing.
  before tlp,
  primary key (from_id, to_id, type, run)
);
create index import_relationship_change_to on import_relationship_change (to_id);
create index import_relationship_change_run on import_relationship_change (run);

-- 'running': what it said is being withdrawn; 'done': it is, and rows that it gave its name to are all that is left.
alter table source add column removal text check (removal in ('running', 'done'));

-- No source speaks of it any more. Its id, and what analysts have set, stay for when one does again.
alter table actor add column withdrawn boolean not null default false;
alter table campaign add column withdrawn boolean not null default false;
alter table technique add column withdrawn boolean not null default false;
alter table software add column withdrawn boolean not null default false;
alter table report add column withdrawn boolean not null default false;
