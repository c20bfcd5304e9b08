import { type Selectable, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ExtentChange } from '../db/revision/change-dates.ts';
import type { Tables } from '../db/tables.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { type Feed, formatNamed, slugProblem } from './feed.ts';

function toFeed(row: Selectable<Tables['feed']>): Feed {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    format: formatNamed(row.format),
    query: row.query,
    tlpCeiling: row.tlp_ceiling,
    createdAt: row.created_at,
    createdBy: row.created_by,
    changedAt: row.changed_at,
    minEntries: row.min_entries,
    minShare: row.min_share,
  };
}

/** What a feed had before a change of its extent. */
type FormerFeed = Pick<Feed, 'format' | 'query'>;

export interface FollowedFeed extends Feed {
  /** The last change of its extent; null: there was none. */
  extentChange: ExtentChange | null;
  /** What it had before, the last first. */
  former: FormerFeed[];
}

function toFollowedFeed(row: Selectable<Tables['feed']>): FollowedFeed {
  const { extent_number: number, extent_date: date } = row;
  return {
    ...toFeed(row),
    extentChange: number === null || date === null ? null : { number, date },
    former: row.former.map(({ format, query }) => ({ format: formatNamed(format), query })),
  };
}

/** @param slug any text */
export async function findFeed(db: Db, slug: string): Promise<Feed | undefined> {
  if (slugProblem(slug) !== null) return undefined;
  const row = await db.selectFrom('feed').selectAll().where('slug', '=', slug).executeTakeFirst();
  return row && toFeed(row);
}

/** Returns the feed and locks it until the end of the transaction. */
export async function lockFeed(db: Db, slug: string): Promise<Feed | undefined> {
  const row = await db.selectFrom('feed').selectAll().where('slug', '=', slug).forUpdate().executeTakeFirst();
  return row && toFeed(row);
}

/** Returns the feeds whose TLP ceiling is not above this one, by slug: their filters may be as restricted as their content. */
export async function listFeeds(db: Db, tlpCeiling: Tlp): Promise<FollowedFeed[]> {
  const rows = await db
    .selectFrom('feed')
    .selectAll()
    .where(sql<boolean>`tlp_ceiling <= ${tlpCeiling}::tlp`)
    .orderBy('slug')
    .execute();
  return rows.map(toFollowedFeed);
}

/** Returns the feeds with these ids, by slug. */
export async function findFeeds(db: Db, ids: readonly string[]): Promise<FollowedFeed[]> {
  const rows = await db
    .selectFrom('feed')
    .selectAll()
    .where(sql<boolean>`id = any(${[...ids]}::text[]::uuid[])`)
    .orderBy('slug')
    .execute();
  return rows.map(toFollowedFeed);
}

/** @returns whether it was inserted: no other feed has its slug */
export async function insertFeed(db: Db, feed: Feed): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('feed')
    .values({
      id: feed.id,
      slug: feed.slug,
      name: feed.name,
      description: feed.description,
      format: feed.format,
      query: feed.query,
      tlp_ceiling: feed.tlpCeiling,
      created_at: feed.createdAt,
      created_by: feed.createdBy,
      changed_at: feed.changedAt,
      min_entries: feed.minEntries,
      min_share: feed.minShare,
    })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function updateFeed(db: Db, feed: Feed): Promise<void> {
  const { name, description, format, query, tlpCeiling, changedAt, minEntries, minShare } = feed;
  await db
    .updateTable('feed')
    .set({ name, description, format, query, tlp_ceiling: tlpCeiling, changed_at: changedAt })
    .set({ min_entries: minEntries, min_share: minShare })
    .where('id', '=', feed.id)
    .execute();
}

/** How many former extents are kept. */
const MAX_FORMER = 20;

/** @param before the feed as it was */
export async function setExtentChange(
  db: Db,
  { id, format, query }: Feed,
  { number, date }: ExtentChange,
): Promise<void> {
  const former = JSON.stringify([{ format, query }]);
  await sql`
    update feed set extent_number = ${number}, extent_date = ${date}, former = ${former}::jsonb || (
      select coalesce(jsonb_agg(one order by place), '[]') from jsonb_array_elements(former) with ordinality as earlier (one, place)
      where one <> ${former}::jsonb -> 0 and place < ${MAX_FORMER})
    where id = ${id}::uuid`.execute(db);
}

export async function deleteFeed(db: Db, id: string): Promise<void> {
  await db.deleteFrom('feed').where('id', '=', id).execute();
}

/** Returns how many keys are bound to a feed and can be used. */
export async function countBoundKeys(db: Db, id: string, now: Date): Promise<number> {
  const { n } = await db
    .selectFrom('api_key')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where(sql<boolean>`${id}::uuid = any(feeds)`)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  return Number(n);
}
