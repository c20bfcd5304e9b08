with counted as (select (
    (select coalesce(sum(count), 0) from "indicator_tag_summary" where tag = $1 and "indicator_tag_summary"."tlp" <= $2::tlp and true and type = $3)
    + (select coalesce(sum(n), 0) from (select * from indicator_summary_correction($4::timestamptz) as drifted
    where "drifted"."tlp" <= $5::tlp) as indicator where true and true and type = $6)
  )::bigint as total), shown as (select * from (select * from ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $7::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $8::timestamptz)) and indicator.type = $9 and indicator.severity = 'INFO' order by indicator.last_seen desc, indicator.id limit 500) union all (select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $10::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $11::timestamptz)) and indicator.type = $12 and indicator.severity = 'LOW' order by indicator.last_seen desc, indicator.id limit 500) union all (select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $13::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $14::timestamptz)) and indicator.type = $15 and indicator.severity = 'MEDIUM' order by indicator.last_seen desc, indicator.id limit 500) union all (select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $16::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $17::timestamptz)) and indicator.type = $18 and indicator.severity = 'HIGH' order by indicator.last_seen desc, indicator.id limit 500) union all (select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $19::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $20::timestamptz)) and indicator.type = $21 and indicator.severity = 'CRITICAL' order by indicator.last_seen desc, indicator.id limit 500)) as indicator order by indicator.last_seen desc, indicator.id limit 500) as indicator order by indicator.last_seen desc, indicator.id limit $22 offset $23)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join lateral (select * from indicator where indicator.id = shown.id offset 0) as indicator on true left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
