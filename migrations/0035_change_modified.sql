-- The latest time of change that the rows of a revision state, in microseconds since 1970. It is before the dates of the revision, by as
-- much as the transaction took: a client that asks with the time of change of an object has that object, and not its date.
alter table change_date add column modified bigint not null default 0;
update change_date set modified = first_date;
create index change_date_modified on change_date (modified desc, revision desc);
