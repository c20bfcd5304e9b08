-- The format and filters that a feed had before: what they selected may be with clients of its TAXII collection, which must get its end.
alter table feed add column former jsonb not null default '[]';
