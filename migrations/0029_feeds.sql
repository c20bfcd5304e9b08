-- Saved feeds: exports with a name. `query` is the query string of the export, as in GET /api/v1/exports/{format}.
create table feed (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  description text not null,
  format text not null,
  query text not null,
  tlp_ceiling tlp not null,
  created_at timestamptz not null,
  created_by text not null,
  changed_at timestamptz not null
);

-- The feeds to which a key is bound: it can read these and nothing else. Empty: it can read what its scopes allow.
alter table api_key add column feeds uuid[] not null default '{}';
