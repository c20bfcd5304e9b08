-- Records that a source has withdrawn although no indicator holds them: an older version that is imported later is withdrawn, too.
create table record_withdrawal (
  source_id uuid not null references source,
  record_id text not null,
  stated_at timestamptz not null,
  -- The number of the import of files that read it, with which it is undone; 0: the run of a feed.
  run integer not null,
  primary key (source_id, record_id, run)
);
