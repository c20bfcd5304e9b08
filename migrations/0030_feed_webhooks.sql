-- URLs that are called when a saved feed changes.
create table feed_webhook (
  feed_id uuid primary key references feed on delete cascade,
  -- The URL and the key of the signatures, encrypted: a URL may have a token in its path.
  sealed text not null,
  -- The host and port of the URL, to be shown.
  host text not null,
  interval_seconds integer not null,
  -- The ceiling of the feed when the webhook was set: a later, higher one is not sent outside without being set anew.
  tlp_ceiling tlp not null,
  -- The point of the feed up to which the changes have been delivered.
  cursor text not null,
  next_attempt_at timestamptz not null,
  -- Attempts that have failed since the last success.
  failures integer not null default 0,
  last_attempt_at timestamptz,
  last_success_at timestamptz,
  last_error text,
  -- The receiver answered that it is gone: there are no more attempts.
  gone boolean not null default false
);
