import { type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import { matching } from '../indicators/read/indicators.queries.ts';
import { type SummaryRow, summaries } from '../indicators/read/summaries.queries.ts';
import type { IndicatorType, Severity } from '../model/vocabulary.ts';

export async function countAll(db: Db, principal: Principal) {
  const { rows } = await sql<{ indicators: number; actors: number; campaigns: number }>`select
    (select coalesce(sum(count), 0)::bigint from (${summaries(principal, {})}) as sums) as indicators,
    (select count(*) from actor where ${visible('actor', principal)}) as actors,
    (select count(*) from campaign where ${visible('campaign', principal)}) as campaigns`.execute(db);
  const [counts] = rows;
  if (!counts) throw new Error('no counts');
  return counts;
}

const createdSince = (db: Db, principal: Principal, since: Date) =>
  matching(db, principal, {}).where('indicator.created_at', '>=', since);

export type Created = Pick<SummaryRow, 'type' | 'count'> & { type: IndicatorType; severity: Severity };

export async function countCreated(db: Db, principal: Principal, since: Date): Promise<Created[]> {
  return createdSince(db, principal, since)
    .select(['type', 'severity', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy(['type', 'severity'])
    .execute();
}

/** Returns the most frequent tags of the indicators created since then. */
export async function topTags(db: Db, principal: Principal, since: Date, most: number) {
  return db
    .selectFrom(
      createdSince(db, principal, since).select(sql<string>`unnest(indicator.tags)`.as('tag')).as('tagged'),
    )
    .select(['tag', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy('tag')
    .orderBy('count', 'desc')
    .orderBy('tag')
    .limit(most)
    .execute();
}

export async function findExpiring(db: Db, principal: Principal, until: Date, most: number) {
  const expiring = matching(db, principal, {}).where(
    sql<SqlBool>`indicator.expires_at <= ${until}::timestamptz`,
  );
  const { total } = await expiring
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const first = await expiring
    .select(['id', 'type', 'value', sql<Date>`expires_at`.as('expiresAt')])
    .orderBy('expires_at')
    .orderBy('id')
    .limit(most)
    .execute();
  return { total, first };
}
