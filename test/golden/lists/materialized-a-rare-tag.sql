select (
    (select coalesce(sum(count), 0) from "indicator_tag_summary" where tag = $1 and ("indicator_tag_summary"."tlp" <= $2::tlp and (not "indicator_tag_summary"."expires_next"
      or (select next_expires_at from indicator_summary_expiry) > $3::timestamptz)) and true)
    + (select coalesce(sum(n), 0) from (select * from indicator_summary_correction($4::timestamptz) as drifted
    where "drifted"."tlp" <= $5::tlp) as indicator where tags @> array[$6]::text[] and true)
  )::bigint as total
;
with counted as (select (
    (select coalesce(sum(count), 0) from "indicator_tag_summary" where tag = $1 and ("indicator_tag_summary"."tlp" <= $2::tlp and (not "indicator_tag_summary"."expires_next"
      or (select next_expires_at from indicator_summary_expiry) > $3::timestamptz)) and true)
    + (select coalesce(sum(n), 0) from (select * from indicator_summary_correction($4::timestamptz) as drifted
    where "drifted"."tlp" <= $5::tlp) as indicator where tags @> array[$6]::text[] and true)
  )::bigint as total), matched as materialized ((select "indicator"."id", "indicator"."last_seen" from "indicator" where (not "indicator"."whitelisted" and "indicator"."tlp" <= $7::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $8::timestamptz)) and indicator.tags @> array[$9]::text[] and (select total from counted) <= $10)), shown as (select * from (select * from matched as indicator order by indicator.last_seen desc, indicator.id limit 500) as indicator order by indicator.last_seen desc, indicator.id limit $11 offset $12)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join lateral (select * from indicator where indicator.id = shown.id offset 0) as indicator on true left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
