-- Identifies the history to which the revisions belong. A restored backup goes on with another one: caches and positions of the history
-- that was lost must not match revisions of the same number.
alter table revision add column epoch uuid not null default gen_random_uuid();

-- For each restore the times of TAXII that the lost history may have stated (change_date.first_date), in microseconds since 1970: the
-- first one excluded, the last one included.
create table lost_period (
  after_date bigint primary key,
  last_date bigint not null
);
