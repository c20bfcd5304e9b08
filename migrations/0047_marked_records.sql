-- The records of a statement that is not for detection say so themselves: it is for detection if one of them is.
alter table indicator_source disable trigger user;
update indicator_source set records = (
  select jsonb_agg(record || '{"forDetection": false}' order by place) from jsonb_array_elements(records) with ordinality as each (record, place))
where not for_detection and records is not null;
alter table indicator_source enable trigger user;
