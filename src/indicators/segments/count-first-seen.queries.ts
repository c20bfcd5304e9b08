import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { addToWeeks, BY_FIRST_SEEN, changesBy, NEW_COUNTS } from './add-to-counts.queries.ts';
import { countAddedSubsets, countSubsetsOf, type SubsetKeys } from './count-subsets.queries.ts';

/** Leaves one segment, which has not been counted. */
export async function beginFirstSeen(trx: Transaction<Tables>): Promise<void> {
  await sql`delete from first_seen_segment`.execute(trx);
  await sql`insert into first_seen_segment values ('infinity', '{}')`.execute(trx);
}

/** Divides the segments with too many rows of several times, and those that have not been counted. */
export async function divideFirstSeen(
  trx: Transaction<Tables>,
  now: Date,
  size: number,
  atOnce: number,
): Promise<void> {
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
      const next: string | null = await timeAfter(trx, now, from, end, size * atOnce);
      const rows = firstSeenBetween(now, from, next ?? end);
      await countFrom(trx, now, from, next ?? end, size);
      await addToWeeks(trx, sql`(select first_seen, last_seen, 1 as n from ${rows})`);
      await countSubsetsOf(trx, BY_FIRST_SEEN, rows);
      from = next;
    }
  }
}

/** Counts subsets that have become large, some segments at a time. */
export async function countSubsetsByFirstSeen(
  trx: Transaction<Tables>,
  now: Date,
  added: SubsetKeys,
  atOnce: number,
): Promise<void> {
  const { rows } = await sql<{ first: string }>`
    select first_seen::text as first
    from (select first_seen, row_number() over (order by first_seen desc) as number from first_seen_segment) as segment
    where (number - 1) % ${atOnce}::int = 0 order by number`.execute(trx);
  for (const [index, { first }] of rows.entries()) {
    const end = rows[index + 1]?.first ?? '-infinity';
    await countAddedSubsets(trx, BY_FIRST_SEEN, firstSeenBetween(now, first, end), added);
  }
}

/** Returns the visible indicators, of any TLP, from a time of the first sighting, included, to an earlier one. */
const firstSeenBetween = (now: Date, from: string, end: string) =>
  sql`indicator where not whitelisted and (expires_at is null or expires_at > ${now}::timestamptz)
    and first_seen <= ${from}::timestamptz and first_seen > ${end}::timestamptz`;

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
    from ${firstSeenBetween(now, from, end)}
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
      select first_seen, type, severity, confidence, tlp, count(*) as n from ${firstSeenBetween(now, from, end)}
      group by 1, 2, 3, 4, 5
    ), parts as materialized (
      select first_seen, 2 * (before / ${size}::bigint) + (n >= ${size}::bigint)::integer as part
      from (select first_seen, sum(n)::bigint as n, (sum(sum(n)) over (order by first_seen desc) - sum(n))::bigint as before
        from listed group by first_seen) as times
    ), first as (
      select part, case when row_number() over (order by part) = 1 then ${from}::timestamptz else max(first_seen) end as first_seen
      from (select part, first_seen from parts union all select 0, null where not exists (select from parts)) as every group by part
    ), counted as (
      select part, type, severity, confidence, tlp, sum(n) as n from listed join parts using (first_seen) group by 1, 2, 3, 4, 5
    ), ${changesBy(sql`part`)}
    insert into first_seen_segment select first_seen, ${NEW_COUNTS} from first left join added using (part)`.execute(
    trx,
  );
}
