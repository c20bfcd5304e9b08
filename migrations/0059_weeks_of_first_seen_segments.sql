-- The indicators of each segment by the week of their last sighting, in weeks since 1970-01-01: the list in the order of the first
-- sighting begins, since a time, at the first segment that has some.
create table first_seen_segment_week (
  first_seen timestamptz not null references first_seen_segment on delete cascade,
  week integer not null,
  count integer not null,
  primary key (first_seen, week)
);

-- So that they are counted.
delete from list_segment_state;
