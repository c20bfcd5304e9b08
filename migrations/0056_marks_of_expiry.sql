-- The revisions after `marks_from` up to `marks_to` have only marked expired indicators, which no list of indicators depends on.
alter table revision add column marks_from bigint, add column marks_to bigint;
