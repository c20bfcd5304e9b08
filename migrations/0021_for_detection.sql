-- The filter forDetection reads lists and pages far back from the indexes alone, as the other filters do.
drop index indicator_list;
create index indicator_list on indicator (last_seen desc, id)
  include (tlp, expires_at, type, severity, confidence, for_detection) where not whitelisted;
drop index indicator_type_list;
create index indicator_type_list on indicator (type, last_seen desc, id)
  include (tlp, expires_at, severity, confidence, for_detection) where not whitelisted;
drop index indicator_severity_list;
create index indicator_severity_list on indicator (severity, last_seen desc, id)
  include (tlp, expires_at, type, confidence, for_detection) where not whitelisted;
drop index indicator_type_severity_list;
create index indicator_type_severity_list on indicator (type, severity, last_seen desc, id)
  include (tlp, expires_at, confidence, for_detection) where not whitelisted;
-- Context only: often few of many.
create index indicator_context_list on indicator (last_seen desc, id)
  include (tlp, expires_at, type, severity, confidence) where not whitelisted and not for_detection;
