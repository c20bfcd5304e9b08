-- An entry that was made of an indicator's value tells as much as the indicator: it has a marking, too. The same entry may
-- stand there under two, for whoever does not see the other must not learn of it.
alter table whitelist_entry add column tlp tlp not null default 'CLEAR';
update whitelist_entry as entry set tlp = hidden.tlp
from (
  select hit.list_id, max(indicator.tlp) as tlp
  from whitelist_hit as hit join indicator on indicator.id = hit.indicator_id
  group by hit.list_id
) as hidden
where hidden.list_id = entry.id;
alter table whitelist_entry alter column tlp drop default;
alter table whitelist_entry drop constraint whitelist_entry_kind_entry_types_key;
alter table whitelist_entry add unique (kind, entry, types, tlp);
