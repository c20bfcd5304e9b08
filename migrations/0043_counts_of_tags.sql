-- Counts of common tags also by type and single values of confidence, and in the order of the first sighting: lists of a tag by
-- confidence, in the middle by the first sighting, and totals by type and time.

-- Counts of the segments with changes added at some places; the arrays grow as needed.
create function list_counts_plus(counts integer[], places integer[], changes integer[]) returns integer[]
  language plpgsql immutable parallel safe
  as $$
declare
  missing integer := (select max(place) from unnest(places) as place) - cardinality(counts);
begin
  if missing > 0 then
    counts := counts || array_fill(0, array[missing]);
  end if;
  for i in 1 .. cardinality(places) loop
    counts[places[i]] := counts[places[i]] + changes[i];
  end loop;
  return counts;
end $$;

-- The same in the order of the first sighting. Both tables have counts at all places of list_segment_places.
create table first_seen_segment_tag (
  tag text not null references list_tag on delete cascade,
  first_seen timestamptz not null references first_seen_segment on delete cascade,
  counts integer[] not null,
  primary key (tag, first_seen)
);
create index first_seen_segment_tag_segment on first_seen_segment_tag (first_seen);

-- So that the tags are counted.
delete from list_segment_state;
