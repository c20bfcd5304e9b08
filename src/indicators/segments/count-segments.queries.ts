import { sql, type Transaction } from 'kysely';
import { type Db, liftTimeLimit } from '../../db/database.ts';
import { hasOneConnection } from '../../db/readers.ts';
import type { Tables } from '../../db/tables.ts';
import { SEGMENT_SIZE } from '../read/segment-counts.queries.ts';
import {
  addToCounts,
  addToWeeks,
  BY_FIRST_SEEN,
  BY_LAST_SEEN,
  changesBy,
  NEW_COUNTS,
} from './add-to-counts.queries.ts';
import { beginFirstSeen, countSubsetsByFirstSeen, divideFirstSeen } from './count-first-seen.queries.ts';
import { applyToGrams, countAllGrams, KEPT } from './count-grams.queries.ts';
import {
  applyToSubsets,
  chooseSubsets,
  countAddedSubsets,
  countSubsetsOf,
  FEWEST,
  type SubsetKeys,
} from './count-subsets.queries.ts';

/** Segments that a statement counts, in about a second. */
const SEGMENTS_AT_ONCE = 25;
/** The indicators in a segment of any TLP; null: not counted. */
const COUNT = sql`(counts[1] + counts[2] + counts[3] + counts[4] + counts[5])`;
/** With more changes than this, all rows are counted again. */
const MAX_CHANGES = 2_000_000;
/** The key before all others. */
const FIRST = sql`'infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid`;

/**
 * Counts the segments of the list as of the latest revision and `now`. It applies the changes since they were last counted; if
 * the history does not reach back, or much has changed, it counts all rows.
 * @param options `size` of a segment, segments that a statement counts `atOnce`, how many indicators are `kept` for a gram, and the
 * `fewest` of a tag or source that is counted
 * @returns whether anything had changed and was counted
 */
export async function countSegments(
  db: Db,
  now: Date,
  { size = SEGMENT_SIZE, atOnce = SEGMENTS_AT_ONCE, kept = KEPT, fewest = FEWEST } = {},
): Promise<boolean> {
  // Readers of the embedded database would wait for the grams, tags and sources of all indicators, which it scans in a moment.
  const hasGrams = !(await hasOneConnection(db));
  await analyzeNewHistory(db);
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await liftTimeLimit(trx);
      if (!(await lockCounts(trx))) return false;
      const { rows } = await sql<{ changed: boolean; usable: boolean; grams: boolean }>`
        select exists (select from list_changes(${now}::timestamptz, 1)) or state.revision is distinct from revision.value as changed,
          list_segments_usable(${now}::timestamptz, ${MAX_CHANGES}) as usable,
          coalesce(state.has_grams, false) as grams
        from revision left join list_segment_state as state on true`.execute(trx);
      if (rows[0]?.usable && !rows[0].changed && (rows[0].grams || !hasGrams)) return false;
      const of = { usable: rows[0]?.usable ?? false, grams: rows[0]?.grams ?? false };
      if (of.usable) {
        if (hasGrams) await applyToSubsets(trx, now, MAX_CHANGES);
        const changes = sql`list_changes(${now}::timestamptz, ${MAX_CHANGES})`;
        for (const segments of [BY_LAST_SEEN, BY_FIRST_SEEN]) await addToCounts(trx, segments, changes);
        await addToWeeks(trx, changes);
        await sql`delete from list_segment where ${COUNT} = 0 and last_seen <> 'infinity'`.execute(trx);
      } else {
        await beginAgain(trx);
        await beginFirstSeen(trx);
      }
      await divideFirstSeen(trx, now, size, atOnce);
      if ((await divideLarge(trx, now, size, atOnce)) > 0)
        await sql`analyze list_segment, first_seen_segment`.execute(trx);
      if (hasGrams) {
        await countNewSubsets(trx, now, await chooseSubsets(trx, fewest), atOnce);
        await (of.usable && of.grams
          ? applyToGrams(trx, now, MAX_CHANGES, kept)
          : countAllGrams(trx, now, kept));
      }
      await sql`
        insert into list_segment_state (revision, counted_at, has_grams) select value, ${now}::timestamptz, ${hasGrams} from revision
        on conflict (only_row) do update set revision = excluded.revision, counted_at = excluded.counted_at,
          has_grams = excluded.has_grams`.execute(trx);
      for (const table of ['first_seen_change', 'statement_change'])
        await sql`delete from ${sql.table(table)} where revision <= (select revision from list_segment_state)`.execute(
          trx,
        );
      return true;
    });
}

/** Key of the advisory lock: any number that nothing else in the database locks. */
const COUNTING = 7_231_945;

/** Takes the lock of the counts. @returns false: another worker counts, for longer than its job may take */
async function lockCounts(trx: Transaction<Tables>): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`
    select pg_try_advisory_xact_lock(${COUNTING}::bigint) as "isLocked"`.execute(trx);
  return rows[0]?.isLocked ?? false;
}

/**
 * Analyzes the history of indicators once it has its first rows, which autovacuum does up to a minute later: without statistics plans look
 * for the state of each changed indicator among the changes of all.
 */
async function analyzeNewHistory(db: Db): Promise<void> {
  const { rows } = await sql`
    select from pg_class where oid = 'indicator_history'::regclass and reltuples <= 0 and pg_relation_size(oid) > 0`.execute(
    db,
  );
  if (rows.length > 0) await sql`analyze indicator_history`.execute(db);
}

/** With more changed rows than this since the previous call, a large import is running. */
const BUSY = 20_000;

/**
 * Returns a function that counts the segments, except while so much changes between its calls that readers could not use the counts: it
 * leaves the processor to the import.
 */
export function createSegmentCounter(
  db: Db,
  { busy = BUSY, ...sizes }: { busy?: number } & Parameters<typeof countSegments>[2] = {},
) {
  let previous = -1;
  return async (now: Date): Promise<boolean> => {
    const { rows } = await sql<{ revision: number; changes: number }>`
      select value as revision,
        (select count(*) from (select from indicator where revision > ${previous} limit ${busy + 1}) as changed)
        + (select count(*) from (select from statement_change where revision > ${previous} limit ${busy + 1}) as changed) as changes
      from revision`.execute(db);
    previous = rows[0]?.revision ?? previous;
    return (rows[0]?.changes ?? 0) <= busy && countSegments(db, now, sizes);
  };
}

/** Leaves one segment, which has not been counted. */
async function beginAgain(trx: Transaction<Tables>): Promise<void> {
  await sql`delete from list_tag`.execute(trx);
  await sql`delete from list_source`.execute(trx);
  await sql`delete from list_segment`.execute(trx);
  await sql`insert into list_segment values (${FIRST}, '{}')`.execute(trx);
}

/** A key of the list; the time as text, which has its microseconds. */
interface Key {
  lastSeen: string;
  id: string;
}

/** Divides the segments with too many rows, and those that have not been counted. @returns their number */
async function divideLarge(
  trx: Transaction<Tables>,
  now: Date,
  size: number,
  atOnce: number,
): Promise<number> {
  const { rows } = await sql<Key & { nextSeen: string | null; nextId: string }>`
    select last_seen::text as "lastSeen", id, next_seen::text as "nextSeen", next_id as "nextId"
    from (
      select last_seen, id, counts, lead(last_seen) over list as next_seen, lead(id) over list as next_id
      from list_segment window list as (order by last_seen desc, id)
    ) as segment
    where coalesce(${COUNT}, ${2 * size}) >= ${2 * size}`.execute(trx);
  for (const { nextSeen, nextId, ...segment } of rows) {
    const end = nextSeen === null ? null : { lastSeen: nextSeen, id: nextId };
    await sql`delete from list_segment where (last_seen, id) = (${segment.lastSeen}::timestamptz, ${segment.id}::uuid)`.execute(
      trx,
    );
    for (let from: Key | null = segment; from !== null; ) {
      const next: Key | null = await keyAfter(trx, now, from, end, size * atOnce);
      await countFrom(trx, now, from, next ?? end, size);
      await countSubsetsOf(trx, BY_LAST_SEEN, visibleBetween(now, from, next ?? end));
      from = next;
    }
  }
  return rows.length;
}

/** Counts the subsets that have become large, some segments at a time. */
async function countNewSubsets(
  trx: Transaction<Tables>,
  now: Date,
  added: SubsetKeys,
  atOnce: number,
): Promise<void> {
  if (Object.values(added).every((keys) => keys.length === 0)) return;
  const { rows } = await sql<Key>`
    select last_seen::text as "lastSeen", id
    from (select last_seen, id, row_number() over (order by last_seen desc, id) as number from list_segment) as segment
    where (number - 1) % ${atOnce}::int = 0 order by number`.execute(trx);
  for (const [index, from] of rows.entries())
    await countAddedSubsets(trx, BY_LAST_SEEN, visibleBetween(now, from, rows[index + 1] ?? null), added);
  await countSubsetsByFirstSeen(trx, now, added, atOnce);
  await sql`analyze list_segment_tag, first_seen_segment_tag, list_segment_source, first_seen_segment_source`.execute(
    trx,
  );
}

/** Returns the visible indicators, of any TLP, from a key of the list up to another. */
function visibleBetween(now: Date, from: Key, end: Key | null) {
  const [first, last] = [sql`${from.lastSeen}::timestamptz`, sql`${end?.lastSeen ?? null}::timestamptz`];
  const isBeforeEnd = sql`last_seen >= ${last} and (last_seen > ${last} or id < ${end?.id ?? null}::uuid)`;
  return sql`indicator where not whitelisted and (expires_at is null or expires_at > ${now}::timestamptz)
    and last_seen <= ${first} and (last_seen < ${first} or id >= ${from.id}::uuid) and ${end ? isBeforeEnd : sql`true`}`;
}

/** Returns the key of the indicator that is so many after the first one; null: there is none before the end. */
async function keyAfter(
  trx: Transaction<Tables>,
  now: Date,
  from: Key,
  end: Key | null,
  count: number,
): Promise<Key | null> {
  const { rows } = await sql<Key>`
    select last_seen::text as "lastSeen", id from ${visibleBetween(now, from, end)}
    order by indicator.last_seen desc, indicator.id offset ${count}::bigint limit 1`.execute(trx);
  return rows[0] ?? null;
}

/** Counts the segments from a key up to another. */
async function countFrom(
  trx: Transaction<Tables>,
  now: Date,
  from: Key,
  end: Key | null,
  size: number,
): Promise<void> {
  await sql`
    with listed as materialized (
      select last_seen, id, type, severity, confidence, tlp, row_number() over (order by last_seen desc, id) - 1 as number
      from ${visibleBetween(now, from, end)}
    ), first as (
      select number / ${size}::int as part, last_seen, id from listed where number % ${size}::int = 0 and number > 0
      union all select 0, ${from.lastSeen}::timestamptz, ${from.id}::uuid
    ), counted as (
      select number / ${size}::int as part, type, severity, confidence, tlp, count(*) as n from listed group by 1, 2, 3, 4, 5
    ), ${changesBy(sql`part`)}
    insert into list_segment select last_seen, id, ${NEW_COUNTS} from first left join added using (part)`.execute(
    trx,
  );
}
