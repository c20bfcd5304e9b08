-- When the filters or the ceiling of a saved feed were last changed, in the order of changes: the number of the last change before, and
-- the first of the times at which TAXII dates the objects of these changes in the feed (microseconds since 1970). null: never.
alter table feed
  add column extent_number bigint,
  add column extent_date bigint,
  add check ((extent_number is null) = (extent_date is null));
