-- Bounds of saved feeds: delisting by a source must not take a feed under them.
alter table feed
  add column min_entries integer check (min_entries >= 1),
  -- In percent of the number of entries on an earlier day.
  add column min_share smallint check (min_share between 1 and 100);

-- The number of entries of each feed with a bound, as of the first run of a snapshot list on a day (UTC).
create table feed_day_count (
  feed_id uuid not null references feed (id) on delete cascade,
  day date not null,
  entries integer not null check (entries > 0),
  primary key (feed_id, day)
);

-- The feeds for which the last run of a source did not delist entries that are missing from its list.
create table feed_hold (
  feed_id uuid not null references feed (id) on delete cascade,
  source_id uuid not null references source (id) on delete cascade,
  entries integer not null,
  since timestamptz not null,
  as_of timestamptz not null,
  primary key (feed_id, source_id)
);
create index feed_hold_source on feed_hold (source_id);

-- The sources whose last run held something back, whatever has become of the feeds since, and the last good copy of their list that is
-- certain to have contained it; null: there was none.
create table source_hold (
  source_id uuid primary key references source (id) on delete cascade,
  last_copy_at timestamptz
);

-- Counts the batches of delistings: a run whose bounds were evaluated before a batch of another run evaluates them again.
create table delisting (
  only_row boolean primary key default true check (only_row),
  number bigint not null
);
insert into delisting (number) values (0);
