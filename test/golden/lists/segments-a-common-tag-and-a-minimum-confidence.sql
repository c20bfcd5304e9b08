with usable as materialized (
      select exists (select from "list_tag" where "tag" = $1) and list_segments_usable($2::timestamptz, $3::integer) as usable), changed as materialized (
      select last_seen, id, n from (select * from list_changes($4::timestamptz, $5::integer) as list_change
    where "list_change"."tlp" <= $6::tlp) as indicator where (select usable from usable) and true and (indicator.confidence >= $7 and $8 = any (indicator.tags)) is true), segment as materialized (
      select last_seen, id, n, coalesce(sum(n) over (order by last_seen desc, id rows between unbounded preceding and 1 preceding), 0) as before
      from (
        select last_seen, id, coalesce(n, 0) as n from (select "last_seen", "id" from "list_segment" where true) as every left join (
    select "last_seen", "id", (0 + coalesce(counts[$9::integer], 0) + coalesce(counts[$10::integer], 0) + coalesce(counts[$11::integer], 0) + coalesce(counts[$12::integer], 0) + coalesce(counts[$13::integer], 0) + coalesce(counts[$14::integer], 0) + coalesce(counts[$15::integer], 0) + coalesce(counts[$16::integer], 0) + coalesce(counts[$17::integer], 0) + coalesce(counts[$18::integer], 0) + coalesce(counts[$19::integer], 0) + coalesce(counts[$20::integer], 0) + coalesce(counts[$21::integer], 0) + coalesce(counts[$22::integer], 0) + coalesce(counts[$23::integer], 0) + coalesce(counts[$24::integer], 0) + coalesce(counts[$25::integer], 0) + coalesce(counts[$26::integer], 0) + coalesce(counts[$27::integer], 0) + coalesce(counts[$28::integer], 0) + coalesce(counts[$29::integer], 0) + coalesce(counts[$30::integer], 0) + coalesce(counts[$31::integer], 0) + coalesce(counts[$32::integer], 0) + coalesce(counts[$33::integer], 0) + coalesce(counts[$34::integer], 0) + coalesce(counts[$35::integer], 0) + coalesce(counts[$36::integer], 0) + coalesce(counts[$37::integer], 0) + coalesce(counts[$38::integer], 0)) as n from (
    select "last_seen", "id", "counts" || '{}' as counts
    from "list_segment_tag" where true and "tag" = $39 offset 0
  ) as segment_counts offset 0
  ) as segment_count using ("last_seen", "id")
      ) as counted_segment), counted as materialized (
      select case when usable and total >= least($40::bigint, (select count(*) from segment) * 80) then total else -1 end::bigint as total
      from usable left join lateral (select (select coalesce(sum(n), 0) from segment) + (select coalesce(sum(n), 0) from changed) as total) as of_all on usable), start as materialized (
      select last_seen, id, before + (
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= "segment"."last_seen"
      and (c.last_seen > "segment"."last_seen" or c.id < "segment"."id")) as before from segment
      where last_seen = 'infinity' or before + (select count(*) from changed where n > 0) <= $41
      order by last_seen, id desc limit 1), stop as materialized (
      select last_seen, id from (
        (select last_seen, id from (
          select last_seen, id, before from segment
          where before + (select count(*) from changed where n > 0) >= least($42::bigint, (select total from counted)) order by last_seen desc, id offset 0
        ) as candidate where before + (
    select coalesce(sum(n), 0) from changed as c
    where c.last_seen >= "candidate"."last_seen"
      and (c.last_seen > "candidate"."last_seen" or c.id < "candidate"."id")) >= least($43::bigint, (select total from counted)) limit 1)
        union all select '-infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ) as after order by last_seen desc, id limit 1), shown as (select * from (select * from (
    ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $44::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $45::timestamptz)) and (indicator.confidence >= $46 and $47 = any (indicator.tags)) is true and last_seen = (select last_seen from "start") and id >= (select id from "start")
        and id <= case when (select last_seen from "stop") = (select last_seen from "start") then (select id from "stop") else 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid end order by id limit (select $48 - before from start) + case when (select total from counted) >= 0 then $49 else 0 end))
    union all
    ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $50::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $51::timestamptz)) and (indicator.confidence >= $52 and $53 = any (indicator.tags)) is true and last_seen < (select last_seen from "start") and last_seen > (select last_seen from "stop") order by last_seen desc, id limit (select $54 - before from start) + case when (select total from counted) >= 0 then $55 else 0 end))
    union all
    ((select id, last_seen from indicator where (not "indicator"."whitelisted" and "indicator"."tlp" <= $56::tlp
    and ("indicator"."expires_at" is null or "indicator"."expires_at" > $57::timestamptz)) and (indicator.confidence >= $58 and $59 = any (indicator.tags)) is true and last_seen < (select last_seen from "start") and last_seen = (select last_seen from "stop") and id <= (select id from "stop") order by id limit (select $60 - before from start) + case when (select total from counted) >= 0 then $61 else 0 end))
  ) as indicator limit case when (select total from counted) >= 0 then $62 else 0 end offset (select $63 - before from start)) as indicator limit 500)
    select counted.total, indicator.id, indicator.type, indicator.value, indicator.confidence, indicator.severity, indicator.tlp,
  indicator.tags, source.name as source, indicator.first_seen, indicator.last_seen, indicator.expires_at,
  indicator.for_detection, indicator.epss, indicator.kev, 1 as one
    from counted left join shown on true
      left join lateral (select * from indicator where indicator.id = shown.id offset 0) as indicator on true left join source on source.id = indicator.source_id
    order by indicator.last_seen desc, indicator.id
