-- The last indicator of the source that has been recomputed with its changed settings: an interrupted recomputation goes on after it.
alter table source add column recompute_position uuid;
