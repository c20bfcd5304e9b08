-- The whitelisted addresses and CIDR blocks within a listed network, which lists leave out; null: none.
alter table indicator add column whitelisted_parts text[];

-- The lengths of the prefixes of all networks that were ever listed: a look-up of an address tries only these.
create table network_prefix (
  type indicator_type not null,
  length smallint not null,
  primary key (type, length)
);
