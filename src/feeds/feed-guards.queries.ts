import { type SqlBool, sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { type Selection, written } from '../exports/selection.queries.ts';
import type { ExportShape } from '../formats/format.ts';
import { matching } from '../indicators/read/indicators.queries.ts';
import { MAX_RECORDS } from '../model/source-record.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { FeedGuard } from './feed.ts';

/** A feed with a bound. Its format may be of a later version. */
export interface GuardedFeed extends FeedGuard {
  id: string;
  slug: string;
  format: string;
  query: string;
  tlpCeiling: Tlp;
}

export async function findGuardedFeeds(db: Db): Promise<GuardedFeed[]> {
  return db
    .selectFrom('feed')
    .select(['id', 'slug', 'format', 'query', 'tlp_ceiling as tlpCeiling'])
    .select(['min_entries as minEntries', 'min_share as minShare'])
    .where(isGuarded)
    .orderBy('slug')
    .execute();
}

const isGuarded = sql<SqlBool>`(feed.min_entries is not null or feed.min_share is not null)`;

/** The entries of a feed: the indicators that its format writes, up to its limit. */
export interface FeedEntries extends Pick<Selection, 'principal' | 'filters'> {
  of: Pick<ExportShape, 'types' | 'detectionOnly'>;
  /** null: none. */
  limit: number | null;
}

const entriesOf = (db: Db, { principal, filters, of }: FeedEntries) =>
  written(matching(db, principal, filters), of);

/**
 * The condition that the source `of` has withdrawn all records of the statement `said`, which expires then: `withdrawnAt` in
 * model/source-record.ts.
 */
const IS_WITHDRAWN = sql`(jsonb_array_length(said.records) between 1 and ${sql.lit(MAX_RECORDS - 1)}
  and said.records #> '{0,statedAt}' is not null
  and not jsonb_path_exists(said.records, '$[*] ? (!exists(@.withdrawn))'))`;

/** The condition that delisting makes the statement `said` of the source `of` expire. */
const EXPIRES_DELISTED = sql`(said.expires_at is null and of.lifetimes ? indicator.type::text
  and ${IS_WITHDRAWN} is not true)`;

/** About 3,000 years: a longer interval may be more than the database can add to a date. */
const LONG_SECONDS = 1e11;

/**
 * Returns the condition that a statement has not expired, and that no delisting of the past makes it expire. When a
 * statement expires is stated by `expiryOf` in model/statement.ts.
 */
const isSustaining = (now: Date) => sql`case
  when ${IS_WITHDRAWN}
    then least(said.expires_at, (said.records #>> '{0,statedAt}')::timestamptz) > ${now}::timestamptz
  when said.expires_at is not null then said.expires_at > ${now}::timestamptz
  when not of.lifetimes ? indicator.type::text then true
  when said.delisted_at is not null then false
  when of.is_snapshot_list then true
  else coalesce(greatest(said.first_seen, said.last_seen), said.imported_at)
    + make_interval(secs => least((of.lifetimes ->> indicator.type::text)::float8, ${sql.lit(LONG_SECONDS)})) > ${now}::timestamptz
  end`;

const statement = sql`from indicator_source as said join source as of on of.id = said.source_id
  where said.indicator_number = indicator.number`;

/** Indicator numbers per statement: counting a feed of any size holds the embedded database's connection only briefly. */
const NUMBERS = 50_000;

/**
 * Returns how many entries a feed has that do not expire because a source delisted them. Others take the place of those
 * that leave a feed with a limit, so that all that match count, up to the limit.
 */
export async function countSustained(db: Db, entries: FeedEntries): Promise<number> {
  const limit = entries.limit ?? Number.POSITIVE_INFINITY;
  const { last } = await db.selectFrom('revision').select('last_number as last').executeTakeFirstOrThrow();
  let count = 0;
  for (let first = 1; first <= last && count < limit; first += NUMBERS) {
    const page = await entriesOf(db, entries)
      .where(sql<SqlBool>`indicator.number between ${first} and ${first + NUMBERS - 1}`)
      .where(sql<SqlBool>`exists (select ${statement} and ${isSustaining(entries.principal.now)})`)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    count += page.count;
  }
  return Math.min(count, limit);
}

/** Returns which of these indicators a feed would lose when a source delists them. */
export async function findLeaving(
  db: Db,
  entries: FeedEntries,
  sourceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await entriesOf(db, entries)
    .where(sql<SqlBool>`indicator.id = any(${ids}::uuid[])`)
    .where(
      sql<SqlBool>`exists (select ${statement} and said.source_id = ${sourceId}::uuid
        and said.delisted_at is null and ${EXPIRES_DELISTED})`,
    )
    .where(
      sql<SqlBool>`not exists (select ${statement} and said.source_id <> ${sourceId}::uuid
        and ${isSustaining(entries.principal.now)})`,
    )
    .select('indicator.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** How many days counts are kept. */
const COUNTED_DAYS = 8;

const dayOf = (now: Date) => sql<string>`${now.toISOString().slice(0, 10)}::date`;

export async function hasDayCount(db: Db, feedId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('feed_day_count')
    .select('entries')
    .where('feed_id', '=', feedId)
    .where('day', '=', dayOf(now))
    .executeTakeFirst();
  return row !== undefined;
}

/** Records the count of a day, unless there is one, and deletes old ones. */
export async function writeDayCount(db: Db, feedId: string, now: Date, entries: number): Promise<void> {
  await db
    .insertInto('feed_day_count')
    .columns(['feed_id', 'day', 'entries'])
    // The feed may have been removed meanwhile.
    .expression((eb) =>
      eb
        .selectFrom('feed')
        .select(['id', dayOf(now).as('day'), sql<number>`${entries}::integer`.as('entries')])
        .where('id', '=', feedId)
        .forKeyShare(),
    )
    .onConflict((conflict) => conflict.columns(['feed_id', 'day']).doNothing())
    .execute();
  await db
    .deleteFrom('feed_day_count')
    .where(sql<SqlBool>`day <= ${dayOf(now)} - ${sql.lit(COUNTED_DAYS)}`)
    .execute();
}

/** Returns the latest count of an earlier day, else that of today; undefined: there is none. */
export async function findReferenceCount(db: Db, feedId: string, now: Date): Promise<number | undefined> {
  const row = await db
    .selectFrom('feed_day_count')
    .select('entries')
    .where('feed_id', '=', feedId)
    .orderBy(sql`day < ${dayOf(now)}`, 'desc')
    .orderBy('day', 'desc')
    .executeTakeFirst();
  return row?.entries;
}

export async function forgetDayCounts(db: Db, feedId: string): Promise<void> {
  await db.deleteFrom('feed_day_count').where('feed_id', '=', feedId).execute();
}

/** Returns the number of batches of delistings so far. */
export async function countDelistings(db: Db): Promise<number> {
  return (await db.selectFrom('delisting').select('number').executeTakeFirstOrThrow()).number;
}

/**
 * Counts a batch of delistings, in its transaction under the lock of the revision.
 * @param before how many there have been, as the caller assumes; null: it does not matter
 * @returns false: there have been others than the caller assumes, and this one is not counted
 */
export async function countDelisting(trx: Transaction<Tables>, before: number | null): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('delisting')
    .set((eb) => ({ number: eb('number', '+', 1) }))
    .$if(before !== null, (query) => query.where('number', '=', before ?? 0))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** What runs of a source hold back in a feed. */
export interface Hold {
  source: string;
  /** Entries that are missing from the source's list and are not delisted. */
  entries: number;
  since: Date;
  /** The last run of the source. */
  asOf: Date;
}

/** Returns the holds of all feeds, by the ids of these. */
export async function findHolds(db: Db): Promise<Map<string, Hold[]>> {
  const rows = await db
    .selectFrom('feed_hold')
    .innerJoin('source', 'source.id', 'feed_hold.source_id')
    .select(['feed_id', 'source.name as source', 'entries', 'since', 'as_of as asOf'])
    .orderBy('source.name')
    .execute();
  const holds = new Map<string, Hold[]>();
  for (const { feed_id, ...hold } of rows) holds.set(feed_id, [...(holds.get(feed_id) ?? []), hold]);
  return holds;
}

/** Returns the last copy of its list that was certain to contain what a source holds back; undefined: it holds nothing back. */
export async function lastCopyBeforeHolds(
  db: Db,
  sourceId: string,
): Promise<{ lastCopyAt: Date | null } | undefined> {
  return db
    .selectFrom('source_hold')
    .select('last_copy_at as lastCopyAt')
    .where('source_id', '=', sourceId)
    .executeTakeFirst();
}

/** Replaces the holds of a source; those that continue have begun when they did. */
export async function writeHolds(
  trx: Transaction<Tables>,
  sourceId: string,
  holds: readonly { feedId: string; entries: number }[],
  now: Date,
  lastCopyAt: Date | null,
): Promise<void> {
  const json = JSON.stringify(holds);
  // A feed that was removed or has no bound any more holds nothing back.
  await sql`
    with held as (
      select feed.id, hold.entries from jsonb_to_recordset(${json}::text::jsonb) as hold ("feedId" uuid, entries integer)
      join feed on feed.id = hold."feedId" where ${isGuarded} for share of feed
    ), ended as (
      delete from feed_hold where source_id = ${sourceId}::uuid and feed_id not in (select id from held)
    )
    insert into feed_hold (feed_id, source_id, entries, since, as_of)
    select id, ${sourceId}::uuid, entries, ${now}::timestamptz, ${now}::timestamptz from held
    on conflict (feed_id, source_id) do update set entries = excluded.entries, as_of = excluded.as_of
  `.execute(trx);
  if (holds.length === 0) await deleteSourceHold(trx, sourceId);
  else
    await trx
      .insertInto('source_hold')
      .values({ source_id: sourceId, last_copy_at: lastCopyAt })
      .onConflict((conflict) => conflict.column('source_id').doNothing())
      .execute();
}

async function deleteSourceHold(db: Db, sourceId: string): Promise<void> {
  await db.deleteFrom('source_hold').where('source_id', '=', sourceId).execute();
}

export async function forgetHolds(db: Db, feedId: string): Promise<void> {
  await db.deleteFrom('feed_hold').where('feed_id', '=', feedId).execute();
}

/** Deletes the holds of a source that is no list any more, or is removed. */
export async function forgetHoldsOfSource(db: Db, sourceId: string): Promise<void> {
  await db.deleteFrom('feed_hold').where('source_id', '=', sourceId).execute();
  await deleteSourceHold(db, sourceId);
}

/** Returns how many entries each feed with a bound holds back. */
export async function countHeldBack(db: Db): Promise<{ feed: string; entries: number }[]> {
  const { rows } = await sql<{ feed: string; entries: number }>`
    select feed.slug as feed, coalesce(sum(feed_hold.entries), 0)::bigint as entries
    from feed left join feed_hold on feed_hold.feed_id = feed.id where ${isGuarded} group by 1 order by 1
  `.execute(db);
  return rows;
}
