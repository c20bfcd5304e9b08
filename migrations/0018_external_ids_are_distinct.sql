-- Nearly every external id stands for one object, but a pattern of many values gives one id to each of its indicators. Statistics taken
-- then made the planner expect as many for every id, and walk a whole index for each.
alter table external_id alter column external_id set (n_distinct = -1);
