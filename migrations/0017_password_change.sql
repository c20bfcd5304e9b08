-- A password that an administrator has set opens nothing but its own change.
alter table app_user
  add column must_change_password boolean not null default false;

-- Sessions that an identity provider opened ask for no password, and for no change of one.
alter table app_session
  add column by_provider boolean not null default false;
