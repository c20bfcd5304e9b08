import type { Db } from '../../db/database.ts';
import { likeContains } from '../../db/expressions.ts';
import { type Principal, visibleFrom } from '../../db/visibility.ts';

export async function findReport(db: Db, principal: Principal, id: string) {
  return visibleFrom(db, 'report', principal)
    .select(['id', 'title', 'url', 'published_at as publishedAt'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns the reports whose title contains the text, the latest first. */
export async function findReportsTitled(
  db: Db,
  principal: Principal,
  text: string,
  most: number,
): Promise<{ id: string; title: string }[]> {
  return visibleFrom(db, 'report', principal)
    .select(['id', 'title'])
    .where('title', 'ilike', likeContains(text))
    .orderBy('published_at', (order) => order.desc().nullsLast())
    .orderBy('id')
    .limit(most)
    .execute();
}
