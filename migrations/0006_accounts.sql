-- Who signs in to the application. The tables are better-auth's (its core schema and its two-factor plugin's), under
-- our names; role and disabled_at are ours.
create table app_user (
  id uuid primary key,
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  name text not null,
  image text,
  role text not null check (role in ('viewer', 'analyst', 'administrator')),
  two_factor_enabled boolean not null default false,
  -- Set: nobody signs in with it.
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table app_session (
  id uuid primary key,
  user_id uuid not null references app_user (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index app_session_user on app_session (user_id);

-- How somebody signs in: a password, or an account at an OpenID provider.
create table app_credential (
  id uuid primary key,
  user_id uuid not null references app_user (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  -- scrypt, with its salt.
  password text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (provider_id, account_id)
);
create index app_credential_user on app_credential (user_id);

create table app_verification (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index app_verification_identifier on app_verification (identifier);

create table app_two_factor (
  id uuid primary key,
  user_id uuid not null unique references app_user (id) on delete cascade,
  -- Encrypted under TIPLINE_SECRET.
  secret text not null,
  backup_codes text not null,
  verified boolean
);

-- What each role may see at most.
create table app_role (
  name text primary key check (name in ('viewer', 'analyst', 'administrator')),
  tlp_ceiling tlp not null
);
insert into app_role values ('viewer', 'AMBER'), ('analyst', 'AMBER_STRICT'), ('administrator', 'RED');

-- Where a change came from: an address, or null for a command on the machine itself.
alter table audit add column address text;
create index audit_at on audit (at);

-- Who made a key in the application; null: it was made by a command.
alter table api_key add column owner_id uuid references app_user (id);
create index api_key_owner on api_key (owner_id);
