import { type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import { recordResponseVersion } from '../exports/response-version.queries.ts';
import { FEED_RANGE_SIZE, type FeedRange, feedNumbersOf } from '../formats/misp-feed.ts';
import type { IndicatorType } from '../model/vocabulary.ts';

/** Returns the UUID of this installation, from which the uuids of its feed's events are derived. */
export async function readInstallation(db: Db): Promise<string> {
  const row = await db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', 'installation')
    .executeTakeFirstOrThrow();
  return row.value;
}

export async function readLastNumber(db: Db): Promise<number> {
  return (await db.selectFrom('revision').select('last_number').executeTakeFirstOrThrow()).last_number;
}

function inRange(range: number) {
  const { first, last } = feedNumbersOf(range);
  return sql<SqlBool>`indicator.number between ${first} and ${last}`;
}

/**
 * Returns the ranges of numbers that have indicators visible to the principal, and when each last changed for
 * that principal.
 * @param only restricts the result to this range
 */
export async function readFeedRanges(
  db: Db,
  principal: Principal,
  types: readonly IndicatorType[],
  only?: number,
): Promise<FeedRange[]> {
  const wanted = only === undefined ? sql<SqlBool>`true` : inRange(only);
  const { rows } = await sql<Omit<FeedRange, 'changedAt'> & { digest: string }>`
    select number / ${FEED_RANGE_SIZE}::bigint as range, max(tlp) as tlp, max(last_seen) as "lastSeen",
      count(*) || ' ' || bit_xor(indicator_hash(id, version, created_at, modified_at)) as digest
    from indicator
    where type in (${sql.join(types)}) and ${wanted} and ${visible('indicator', principal)}
    group by 1 order by 1
  `.execute(db);
  const cacheKey = (range: number) => `misp feed ${principal.tlpCeiling} ${range}`;
  const digests = rows.map(({ range, digest }) => ({ request: cacheKey(range), digest }));
  const since = await recordResponseVersion(db, digests, principal.now);
  return rows.map(({ digest: _, ...range }) => ({
    ...range,
    changedAt: since.get(cacheKey(range.range)) ?? principal.now,
  }));
}
