-- Whitelisted names below a domain are parts of it, as whitelisted addresses are parts of a network: all indicators are evaluated
-- again.
update whitelist_state set edition = gen_random_uuid(), position = null;
