-- A list of one type and severity in its order, whatever else is asked of it. Totals come from sums: the index that they
-- were once counted by only tempted the planner to gather all of a type and severity and sort them.
create index indicator_type_severity_list on indicator (type, severity, last_seen desc, id)
  include (tlp, expires_at, confidence) where not whitelisted;
drop index indicator_count;
