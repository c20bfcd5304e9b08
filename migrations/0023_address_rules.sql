-- When each rule for the addresses of an export last changed: `{"SID": ["DIGEST", UNIX SECONDS]}`. Only the exports that
-- were requested last have a row.
create table address_rule_version (
  request text primary key,
  rules jsonb not null,
  requested_at timestamptz not null
);
create index address_rule_version_requested on address_rule_version (requested_at);
