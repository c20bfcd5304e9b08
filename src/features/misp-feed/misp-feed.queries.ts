import { type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { type Viewer, visible } from '../../db/visibility.ts';
import { FEED_RANGE_SIZE, type FeedRange, feedNumbersOf } from '../../formats/misp-feed.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';

/** The UUID of this installation, which the uuids of its feed's events come from. */
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
 * The ranges of numbers in which the viewer sees something. When a range last changed is told from all its rows: one
 * that has gone out of sight since is a change too.
 * @param only in this range
 */
export async function readFeedRanges(
  db: Db,
  viewer: Viewer,
  types: readonly IndicatorType[],
  only?: number,
): Promise<FeedRange[]> {
  const shown = visible('indicator', viewer);
  const wanted = only === undefined ? sql<SqlBool>`true` : inRange(only);
  const { rows } = await sql<FeedRange>`
    select number / ${FEED_RANGE_SIZE}::bigint as range,
      max(tlp) filter (where ${shown}) as tlp,
      max(last_seen) filter (where ${shown}) as "lastSeen",
      max(greatest(coalesce(modified_at, created_at),
        case when expires_at <= ${viewer.now}::timestamptz then expires_at end)) as "changedAt"
    from indicator
    where type in (${sql.join(types)}) and ${wanted}
    group by 1 having count(*) filter (where ${shown}) > 0 order by 1
  `.execute(db);
  return rows;
}
