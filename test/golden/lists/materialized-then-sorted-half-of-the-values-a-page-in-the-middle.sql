with matched as materialized ((select "indicator"."id", "indicator"."last_seen" from "indicator" where (not "indicator"."whitelisted" and "indicator"."tlp" <= $1::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $2::timestamptz)) and (coalesce(indicator.search_text, indicator.normalized) like $3) limit $4)), counted as (select count(*)::bigint as total from matched), shown as (select * from matched as indicator order by indicator.last_seen desc, indicator.id limit $5 offset $6)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join lateral (select * from indicator where indicator.id = shown.id offset 0) as indicator on true left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
;
with matched as materialized ((select "indicator"."id", "indicator"."last_seen" from "indicator" where (not "indicator"."whitelisted" and "indicator"."tlp" <= $1::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $2::timestamptz)) and (coalesce(indicator.search_text, indicator.normalized) like $3))), counted as (select count(*)::bigint as total from matched), shown as (select * from matched as indicator order by indicator.last_seen desc, indicator.id limit $4 offset $5)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join lateral (select * from indicator where indicator.id = shown.id offset 0) as indicator on true left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
