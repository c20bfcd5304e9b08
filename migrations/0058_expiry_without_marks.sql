-- Each query compares the expiry with the time of its request, so that an expiry is no change of a row.
drop statistics indicator_unswept_expiry, indicator_swept_expiry;
drop index indicator_unswept, indicator_swept;
alter table indicator drop column expired;
alter table revision drop column marks_from, drop column marks_to;
