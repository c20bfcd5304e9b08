with matched as not materialized ((select "indicator"."id", "indicator"."last_seen" from "indicator" where (not "indicator"."whitelisted" and "indicator"."tlp" <= $1::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $2::timestamptz)))), counted as (select (
    (select coalesce(sum(count), 0) from "indicator_tag_summary" where tag = $3 and "indicator_tag_summary"."tlp" <= $4::tlp and true)
    + (select coalesce(sum(n), 0) from (select * from indicator_summary_correction($5::timestamptz) as drifted
    where "drifted"."tlp" <= $6::tlp) as indicator where true and true)
  )::bigint as total), shown as (select * from ((select * from matched as indicator order by indicator.last_seen desc, indicator.id limit case when $7 <= (select total from counted) / 2 then $8 else 0 end offset $9)
    union all
    (select * from matched as indicator order by last_seen, id desc
      limit case when $10 <= (select total from counted) / 2 then 0 else greatest(0, least($11, (select total from counted) - $12)) end
      offset greatest(0, (select total from counted) - $13 - $14))) as indicator limit 500)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join indicator on indicator.id = shown.id left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
