import type { Db } from '../../db/database.ts';
import { containing } from '../../db/like-contains.ts';
import { type Viewer, visible } from '../../db/visibility.ts';

const visibleReports = (db: Db, viewer: Viewer) => db.selectFrom('report').where(visible('report', viewer));

export async function findReport(db: Db, viewer: Viewer, id: string) {
  return visibleReports(db, viewer)
    .select(['id', 'title', 'url', 'published_at as publishedAt'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Reports by a part of their title, the latest first. */
export async function findReportsTitled(
  db: Db,
  viewer: Viewer,
  text: string,
  most: number,
): Promise<{ id: string; title: string }[]> {
  return visibleReports(db, viewer)
    .select(['id', 'title'])
    .where('title', 'ilike', containing(text))
    .orderBy('published_at', (order) => order.desc().nullsLast())
    .orderBy('id')
    .limit(most)
    .execute();
}
