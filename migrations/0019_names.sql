-- Names in the words of the field.
alter table source rename column every_seconds to interval_seconds;
alter table source rename column membership to is_snapshot_list;
alter table source rename column reckoned to recomputed;
alter table indicator_source rename column left_at to delisted_at;
alter table entity_source rename column heard_at to first_imported_at;
alter table import_run rename column heard_at to heartbeat_at;
alter table import_run rename column stop_wanted_by to stop_requested_by;
alter table answer_state rename to response_version;
alter table response_version rename column question to request;
alter table response_version rename column asked_at to requested_at;
alter index answer_state_asked rename to response_version_requested;
alter index answer_state_pkey rename to response_version_pkey;
alter function indicator_drift(timestamptz) rename to indicator_summary_correction;
