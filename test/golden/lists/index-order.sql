with counted as (select (
    (select coalesce(sum(count), 0) from "indicator_tag_summary" where tag = $1 and "indicator_tag_summary"."tlp" <= $2::tlp and true)
    + (select coalesce(sum(n), 0) from (select * from indicator_summary_correction($3::timestamptz) as drifted
    where "drifted"."tlp" <= $4::tlp) as indicator where true and true)
  )::bigint as total), shown as (select * from ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $5::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $6::timestamptz)) order by indicator.last_seen desc, indicator.id limit 500)) as indicator order by indicator.last_seen desc, indicator.id limit $7 offset $8)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join lateral (select * from indicator where indicator.id = shown.id offset 0) as indicator on true left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
