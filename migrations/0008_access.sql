-- Counts every change of who may read what: of keys, of the accounts that own them, of the roles of those. Whoever looked
-- a key up may go by it while this stands still.
create table access_revision (
  only_row boolean primary key default true check (only_row),
  value bigint not null
);
insert into access_revision values (true, 0);

create function count_access_change() returns trigger language plpgsql as $$
begin
  update access_revision set value = value + 1;
  return null;
end $$;

create trigger api_key_changed
  after delete or update of hash, scopes, tlp_ceiling, networks, expires_at, revoked_at, owner_id on api_key
  for each statement execute function count_access_change();
create trigger api_key_emptied after truncate on api_key for each statement execute function count_access_change();
create trigger app_user_changed after delete or update of role, disabled_at on app_user
  for each statement execute function count_access_change();
create trigger app_role_changed after insert or delete or update on app_role
  for each statement execute function count_access_change();
