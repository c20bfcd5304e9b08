-- Imports of files: those that go on, and what became of the others.
create table import_run (
  id uuid primary key,
  source text not null,
  file_name text not null,
  file_bytes bigint not null,
  format text not null,
  dry_run boolean not null,
  who text not null,
  state text not null check (state in ('running', 'done', 'failed', 'stopped')),
  started_at timestamptz not null,
  ended_at timestamptz,
  -- The last sign of life of whoever runs it.
  heard_at timestamptz not null,
  read_bytes bigint not null default 0,
  -- By kind of object: read, new, updated, unchanged, rejected, reasons.
  counts jsonb not null default '{}',
  -- Of the new and updated indicators: hidden by the whitelist.
  hidden bigint not null default 0,
  -- Why it is not done.
  problem text,
  -- Who wants it to end; whoever runs it looks every half second.
  stop_wanted_by text,
  -- The first rejected records: where, reason.
  rejected jsonb not null default '[]'
);
create index import_run_started on import_run (started_at desc, id);

-- What is new since yesterday.
create index indicator_created on indicator (created_at);

-- Few of many, for analysts, in the list's order.
create index indicator_pinned on indicator (last_seen desc, id) where pinned_confidence is not null;
create index indicator_whitelisted on indicator (last_seen desc, id) where whitelisted;

-- What was done to the whitelist entry of a value.
create index audit_whitelist on audit ((coalesce(after->>'entry', before->>'entry'))) where object_kind = 'whitelist';
