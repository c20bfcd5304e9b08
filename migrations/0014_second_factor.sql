-- better-auth 1.6.34 counts failed codes of an account, and locks its second factor for a while.
alter table app_two_factor
  add column failed_verification_count integer not null default 0,
  add column locked_until timestamptz;

-- A code of a second factor that was accepted once (RFC 6238 section 5.2): no node accepts it again.
create table app_used_code (
  user_id uuid not null references app_user (id) on delete cascade,
  code_hash text not null,
  used_at timestamptz not null,
  primary key (user_id, code_hash)
);
