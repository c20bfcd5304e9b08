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
alter table provider rename column waits_until to paused_until;
alter table provider rename column last_asked_at to last_queried_at;

-- Rows that imports replaced are stored with the names of their columns.
update import_change set before = before - 'left_at' || jsonb_build_object('delisted_at', before -> 'left_at')
where before ? 'left_at';
update import_change set before = before - 'heard_at' || jsonb_build_object('first_imported_at', before -> 'heard_at')
where before ? 'heard_at';
