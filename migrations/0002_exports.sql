-- What exports need to say of a row: how often it has changed, and when.

-- From 1; rises with every change. The `rev` of its rules.
alter table indicator add column version integer not null default 1;
-- null: not changed since it was created.
alter table indicator add column modified_at timestamptz;
alter table actor add column modified_at timestamptz;
alter table campaign add column modified_at timestamptz;
alter table technique add column modified_at timestamptz;
alter table software add column modified_at timestamptz;

-- Addresses in their own order, for lists that collapse neighbours into networks.
create index indicator_address on indicator ((value::inet)) where type in ('IPV4', 'IPV6') and not whitelisted;

-- Tells this installation's MISP feed from others'.
insert into meta (name, value) values ('installation', gen_random_uuid()::text);

-- What a caller got under a question, and when it was last found to be another. A serial or a timestamp must rise when
-- something leaves, which what is left does not tell; and from all rows it would tell of hidden ones.
create table answer_state (
  question text primary key,
  digest text not null,
  changed_at timestamptz not null,
  asked_at timestamptz not null
);
create index answer_state_asked on answer_state (asked_at);

-- What is not whitelisted, in sums that follow every write: how much there is of each kind, and a hash over it in any
-- order. Only an export's question for what has expired since has to look at rows.
create table indicator_summary (
  type indicator_type not null,
  severity severity not null,
  tlp tlp not null,
  confidence smallint not null,
  for_detection boolean not null,
  count bigint not null,
  hash bigint not null,
  primary key (type, severity, tlp, confidence, for_detection)
);

-- Everything of a row follows from who it is and when and how often it has changed.
create function indicator_hash(id uuid, version integer, created_at timestamptz, modified_at timestamptz) returns bigint
  language sql immutable parallel safe
  return uuid_hash_extended(id, timestamp_hash_extended(coalesce(modified_at, created_at) at time zone 'UTC', version));

create function add_to_summary() returns trigger language plpgsql as $$
begin
  insert into indicator_summary as s
  select type, severity, tlp, confidence, for_detection, count(*),
    bit_xor(indicator_hash(id, version, created_at, modified_at))
  from added where not whitelisted
  group by type, severity, tlp, confidence, for_detection
  on conflict (type, severity, tlp, confidence, for_detection) do update set count = s.count + excluded.count,
    hash = s.hash # excluded.hash;
  return null;
end $$;

create function take_from_summary() returns trigger language plpgsql as $$
begin
  update indicator_summary as s set count = s.count - gone.count, hash = s.hash # gone.hash
  from (
    select type, severity, tlp, confidence, for_detection, count(*) as count,
      bit_xor(indicator_hash(id, version, created_at, modified_at)) as hash
    from removed where not whitelisted
    group by type, severity, tlp, confidence, for_detection
  ) as gone
  where (s.type, s.severity, s.tlp, s.confidence, s.for_detection)
    = (gone.type, gone.severity, gone.tlp, gone.confidence, gone.for_detection);
  return null;
end $$;

create function empty_summary() returns trigger language plpgsql as $$
begin
  truncate indicator_summary;
  return null;
end $$;

create trigger indicator_added after insert on indicator referencing new table as added
  for each statement execute function add_to_summary();
create trigger indicator_removed after delete on indicator referencing old table as removed
  for each statement execute function take_from_summary();
-- Taken away as they were, then added as they are.
create trigger indicator_changed_from after update on indicator referencing old table as removed
  for each statement execute function take_from_summary();
create trigger indicator_changed_to after update on indicator referencing new table as added
  for each statement execute function add_to_summary();
create trigger indicator_emptied after truncate on indicator for each statement execute function empty_summary();

insert into indicator_summary
select type, severity, tlp, confidence, for_detection, count(*),
  bit_xor(indicator_hash(id, version, created_at, modified_at))
from indicator where not whitelisted
group by type, severity, tlp, confidence, for_detection;

-- What has expired, and what will next.
create index indicator_expiry on indicator (expires_at)
  include (type, severity, tlp, confidence, for_detection, id, version, created_at, modified_at)
  where not whitelisted and expires_at is not null;
