-- Counts of the segments by severity and confidence, and by type and confidence: lists of a type or severity by confidence, and a page
-- far back of them. They are many and mostly zero, so that they are compressed, apart from the counts that most pages read.
alter table list_segment add column counts_with_confidence integer[] not null default '{}';
alter table list_segment_tag add column counts_with_confidence integer[] not null default '{}';
alter table list_segment_source add column counts_with_confidence integer[] not null default '{}';
alter table first_seen_segment add column counts_with_confidence integer[] not null default '{}';
alter table first_seen_segment_tag add column counts_with_confidence integer[] not null default '{}';
alter table first_seen_segment_source add column counts_with_confidence integer[] not null default '{}';

-- The places at which an indicator is counted under its TLP: in `counts` among all indicators, those of its severity, of its type, of both,
-- of its confidence, and of the ten values of confidence around it; in `counts_with_confidence` among those of its confidence that have
-- its severity, and those that have its type.
drop function list_segment_places(indicator_type, severity, smallint, tlp);
create function list_segment_places(type indicator_type, severity severity, confidence smallint, tlp tlp)
  returns table (place integer, with_confidence boolean)
  language sql stable parallel safe rows 8
  as $$
  select 5 * key + tlp_place, counted.with_confidence
  from (
    select array_position(enum_range(null::indicator_type), type) as type_number,
      array_position(enum_range(null::severity), severity) as severity_number,
      array_position(enum_range(null::tlp), tlp) as tlp_place
    offset 0
  ) as number, lateral (
    values (0, false), (severity_number, false), (10 + confidence / 10, false), (50 + confidence, false),
      (200 + 6 * type_number, false), (200 + 6 * type_number + severity_number, false),
      (101 * (severity_number - 1) + confidence, true), (505 + 101 * (type_number - 1) + confidence, true)
  ) as counted (key, with_confidence)
$$;

-- So that they are counted.
delete from list_segment_state;
