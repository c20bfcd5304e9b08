with usable as materialized (
      select list_segments_usable($1::timestamptz, $2::integer) as usable), changed as materialized (
      select last_seen, id, n from (select * from list_changes($3::timestamptz, $4::integer) as list_change
    where "list_change"."tlp" <= $5::tlp) as indicator where (select usable from usable) and true), segment as materialized (
      select last_seen, id, n, coalesce(sum(n) over (order by last_seen desc, id rows between unbounded preceding and 1 preceding), 0) as before
      from (
        select last_seen, id, coalesce(n, 0) as n from (
    select "last_seen", "id", (0 + coalesce(counts[$6::integer], 0) + coalesce(counts[$7::integer], 0) + coalesce(counts[$8::integer], 0) + coalesce(counts[$9::integer], 0) + coalesce(counts[$10::integer], 0)) as n from (
    select "last_seen", "id", "counts" as counts
    from "list_segment" where true offset 0
  ) as segment_counts offset 0
  ) as segment_count
      ) as counted_segment), counted as materialized (
      select case when usable and total >= 0 then total else -1 end::bigint as total
      from usable left join lateral (select (select (
    (select coalesce(sum(count), 0) from "indicator_tag_summary" where tag = $11 and ("indicator_tag_summary"."tlp" <= $12::tlp and (not "indicator_tag_summary"."expires_next"
      or (select next_expires_at from indicator_summary_expiry) > $13::timestamptz)) and true)
    + (select coalesce(sum(n), 0) from (select * from indicator_summary_correction($14::timestamptz) as drifted
    where "drifted"."tlp" <= $15::tlp) as indicator where true and true)
  )::bigint as total) as total) as of_all on usable), start as materialized (
      select last_seen, id, before + (
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= "segment"."last_seen"
      and (c.last_seen > "segment"."last_seen" or c.id < "segment"."id")) as before from segment
      where last_seen = 'infinity' or before + (select count(*) from changed where n > 0) <= $16
      order by last_seen, id desc limit 1), stop as materialized (
      select last_seen, id from (
        (select last_seen, id from (
          select last_seen, id, before from segment
          where before + (select count(*) from changed where n > 0) >= least($17::bigint, (select total from counted)) order by last_seen desc, id offset 0
        ) as candidate where before + (
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= "candidate"."last_seen"
      and (c.last_seen > "candidate"."last_seen" or c.id < "candidate"."id")) >= least($18::bigint, (select total from counted)) limit 1)
        union all select '-infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ) as after order by last_seen desc, id limit 1), shown as (select * from (select * from (
    ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $19::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $20::timestamptz)) and last_seen = (select last_seen from "start") and id >= (select id from "start")
        and id <= case when (select last_seen from "stop") = (select last_seen from "start") then (select id from "stop") else 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid end order by id limit (select $21 - before from start) + case when (select total from counted) >= 0 then $22 else 0 end))
    union all
    ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $23::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $24::timestamptz)) and last_seen < (select last_seen from "start") and last_seen > (select last_seen from "stop") order by last_seen desc, id limit (select $25 - before from start) + case when (select total from counted) >= 0 then $26 else 0 end))
    union all
    ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $27::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $28::timestamptz)) and last_seen < (select last_seen from "start") and last_seen = (select last_seen from "stop") and id <= (select id from "stop") order by id limit (select $29 - before from start) + case when (select total from counted) >= 0 then $30 else 0 end))
  ) as indicator limit case when (select total from counted) >= 0 then $31 else 0 end offset (select $32 - before from start)) as indicator limit 500)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join lateral (select * from indicator where indicator.id = shown.id offset 0) as indicator on true left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
