-- Finds what a whitelist entry may hide by index: by the host, not by text that a path may hold as well.

-- The name in a domain, an e-mail address or a URL, reversed, so that all names below one share its beginning.
-- The same host as hostOf() in src/whitelist/matching/names.ts.
create function indicator_host_reversed(type indicator_type, normalized text) returns text
  language sql immutable parallel safe as $$
  select reverse(case type
    when 'DOMAIN' then normalized
    when 'EMAIL' then split_part(normalized, '@', 2)
    when 'URL' then substring(normalized from '^[a-z]+://(?:[^/@]*@)?([^/:@]*[^/:@.])')
  end)
$$;

-- The address that is the host of a URL; null for any other host. The URL standard makes every host that ends in a number
-- a valid IPv4 address or refuses it, so the cast does not fail.
create function indicator_url_address(type indicator_type, normalized text) returns inet
  language sql immutable parallel safe as $$
  select case when type = 'URL' then
    trim(both '[]' from substring(normalized from '^[a-z]+://(?:[^/@]*@)?(\[[0-9a-f:]+\]|[0-9.]+)[:/]'))::inet
  end
$$;

create index indicator_host on indicator (indicator_host_reversed(type, normalized) collate "C")
  where type in ('DOMAIN', 'EMAIL', 'URL');
create index indicator_url_address on indicator (indicator_url_address(type, normalized))
  where indicator_url_address(type, normalized) is not null;

-- Whitelisted ones too: an entry may hide what another entry hides already.
drop index indicator_address;
create index indicator_address on indicator ((value::inet)) where type in ('IPV4', 'IPV6');

-- What one entry hides, page by page.
drop index whitelist_hit_list;
create index whitelist_hit_list on whitelist_hit (list_id, indicator_id);

-- Changes with the lists alone: a change of one entry need not read them again.
alter table whitelist_state add column lists_edition uuid not null default gen_random_uuid();
