-- Sources that send only what has changed are no complete lists: their indicators have lifetimes.
update source set is_snapshot_list = false, recomputed = false
where kind in ('misp', 'otx', 'taxii') and is_snapshot_list;

-- By which key another one was replaced.
create index audit_rotation on audit ((before->>'id')) where action = 'key.rotate';
