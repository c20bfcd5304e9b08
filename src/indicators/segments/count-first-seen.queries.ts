import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** Rows of first_seen_segment that a statement counts, in some seconds. */
const SEGMENTS_AT_ONCE = 100;

/** Leaves one segment, which has not been counted. */
export async function beginFirstSeen(trx: Transaction<Tables>): Promise<void> {
  await sql`delete from first_seen_segment`.execute(trx);
  await sql`insert into first_seen_segment values ('infinity', '{}')`.execute(trx);
}

/** Applies the changes since the segments were counted. */
export async function applyToFirstSeen(trx: Transaction<Tables>, now: Date, most: number): Promise<void> {
  await sql`
    with changed as materialized (
      select segment.first_seen, c.type, c.severity, c.confidence, c.tlp, sum(c.n) as n
      from list_changes(${now}::timestamptz, ${most}) as c, lateral (
        select s.first_seen from first_seen_segment as s where s.first_seen >= c.first_seen order by s.first_seen limit 1
      ) as segment
      group by 1, 2, 3, 4, 5 having sum(c.n) <> 0
    ), placed as materialized (
      select first_seen, place, sum(n) as n
      from changed, lateral list_segment_places(type, severity, confidence, tlp) as place group by 1, 2
    ), whole as (
      select first_seen, array_agg(coalesce(n, 0) order by place) as counts
      from (select first_seen, generate_series(1, max(place)) as place from placed group by first_seen) as every
        left join placed using (first_seen, place)
      group by first_seen
    )
    update first_seen_segment as s set counts = array(
      select (coalesce(counted, 0) + coalesce(change, 0))::integer
      from unnest(s.counts, whole.counts) with ordinality as both_of (counted, change, place) order by place)
    from whole where s.first_seen = whole.first_seen`.execute(trx);
}

/** Divides the segments with too many rows of several times, and those that have not been counted. */
export async function divideFirstSeen(trx: Transaction<Tables>, now: Date, size: number): Promise<void> {
  const { rows } = await sql<{ first: string; end: string }>`
    select first_seen::text as first, before::text as end
    from (
      select first_seen, counts, lead(first_seen, 1, '-infinity') over (order by first_seen desc) as before from first_seen_segment
    ) as segment
    where coalesce(counts[1] + counts[2] + counts[3] + counts[4] + counts[5], ${2 * size}) >= ${2 * size}
      and (counts = '{}' or (select min(first_seen) <> max(first_seen) from indicator
        where not whitelisted and first_seen <= segment.first_seen and first_seen > before))`.execute(trx);
  for (const { first, end } of rows) {
    await sql`delete from first_seen_segment where first_seen = ${first}::timestamptz`.execute(trx);
    for (let from: string | null = first; from !== null; ) {
      const next: string | null = await timeAfter(trx, now, from, end, size * SEGMENTS_AT_ONCE);
      await countFrom(trx, now, from, next ?? end, size);
      from = next;
    }
  }
}

const visibleAt = (now: Date) =>
  sql`not whitelisted and (expires_at is null or expires_at > ${now}::timestamptz)`;

/** Returns a time so many rows before another, or the next earlier one if so many rows have one time; null: the end is nearer. */
async function timeAfter(
  trx: Transaction<Tables>,
  now: Date,
  from: string,
  end: string,
  count: number,
): Promise<string | null> {
  const { rows } = await sql<{ next: string | null }>`
    select (case
      when first_seen < ${from}::timestamptz then first_seen
      else (select max(first_seen) from indicator where not whitelisted and first_seen < ${from}::timestamptz
        and first_seen > ${end}::timestamptz)
    end)::text as next
    from indicator where ${visibleAt(now)} and first_seen <= ${from}::timestamptz and first_seen > ${end}::timestamptz
    order by indicator.first_seen desc offset ${count}::bigint limit 1`.execute(trx);
  return rows[0]?.next ?? null;
}

/** Counts the segments from a time up to an earlier one. A time with as many rows as a segment has one of its own. */
async function countFrom(
  trx: Transaction<Tables>,
  now: Date,
  from: string,
  end: string,
  size: number,
): Promise<void> {
  await sql`
    with listed as materialized (
      select first_seen, type, severity, confidence, tlp, count(*) as n from indicator
      where ${visibleAt(now)} and first_seen <= ${from}::timestamptz and first_seen > ${end}::timestamptz
      group by 1, 2, 3, 4, 5
    ), parts as materialized (
      select first_seen, 2 * (before / ${size}::bigint) + (n >= ${size}::bigint)::integer as part
      from (select first_seen, sum(n)::bigint as n, (sum(sum(n)) over (order by first_seen desc) - sum(n))::bigint as before
        from listed group by first_seen) as times
    ), first as (
      select part, case when row_number() over (order by part) = 1 then ${from}::timestamptz else max(first_seen) end as first_seen
      from (select part, first_seen from parts union all select 0, null where not exists (select from parts)) as every group by part
    ), placed as (
      select part, place, sum(n) as n
      from (
        select part, type, severity, confidence, tlp, sum(n) as n from listed join parts using (first_seen) group by 1, 2, 3, 4, 5
      ) as counted, lateral list_segment_places(type, severity, confidence, tlp) as place
      group by 1, 2
    )
    insert into first_seen_segment
    select first.first_seen, array_agg(coalesce(placed.n, 0)::integer order by place)
    from first cross join generate_series(1, (select greatest(5, max(place)) from placed)) as place
      left join placed using (part, place)
    group by first.first_seen`.execute(trx);
}
