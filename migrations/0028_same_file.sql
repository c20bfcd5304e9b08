-- The files that a source says a hash is of, as the ids of the strongest hash of each; null: it says of none.
alter table indicator_source add column files uuid[];
-- Without a pending list, which each look-up would read.
create index indicator_source_files on indicator_source using gin (files) with (fastupdate = off) where files is not null;
