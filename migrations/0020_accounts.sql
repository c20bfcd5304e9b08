-- Sessions, second factors and identities in tables of the product's own shape. Sessions and second factors from before
-- cannot be read any more: users sign in again, and set up their second factor again.
alter table app_user
  add column password_hash text,
  drop column email_verified,
  drop column image,
  drop column two_factor_enabled,
  drop column updated_at;
update app_user set password_hash = c.password from app_credential as c
where c.user_id = app_user.id and c.provider_id = 'credential';
drop table app_credential, app_verification, app_two_factor, app_used_code, app_session;

create table app_session (
  id uuid primary key,
  user_id uuid not null references app_user (id) on delete cascade,
  -- SHA-256 of the token in the cookie.
  token_hash text not null unique,
  -- An identity provider opened it, without a password.
  by_provider boolean not null,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index app_session_user on app_session (user_id);

-- Sign-ins whose password was verified and whose second factor is awaited.
create table app_pending_sign_in (
  -- SHA-256 of the token in the cookie.
  token_hash text primary key,
  user_id uuid not null references app_user (id) on delete cascade,
  expires_at timestamptz not null
);
create index app_pending_sign_in_user on app_pending_sign_in (user_id);

create table app_two_factor (
  user_id uuid primary key references app_user (id) on delete cascade,
  -- Encrypted under TIPLINE_SECRET.
  secret text not null,
  -- HMAC-SHA256 under TIPLINE_SECRET.
  backup_code_hashes text[] not null,
  -- null: it is not in use until a code confirms it.
  confirmed_at timestamptz,
  -- The period of the last accepted code: no code is accepted twice, on any node (RFC 6238 section 5.2).
  last_period bigint
);

-- Accounts at the OpenID provider.
create table app_identity (
  issuer text not null,
  subject text not null,
  user_id uuid not null references app_user (id) on delete cascade,
  primary key (issuer, subject)
);
create index app_identity_user on app_identity (user_id);
