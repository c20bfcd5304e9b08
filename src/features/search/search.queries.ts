import { sql } from 'kysely';
import { containing } from '../../db/containing.ts';
import type { Db } from '../../db/open.ts';
import type { Viewer } from '../../db/visibility.ts';
import { matching } from '../indicators/indicators.queries.ts';

/** Whether the viewer may see an indicator that has exactly this tag. */
export async function isTag(db: Db, viewer: Viewer, tag: string): Promise<boolean> {
  const found = await matching(db, viewer, { tag })
    .select(sql<number>`1`.as('one'))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Sources by a part of their name. */
export async function findSourcesNamed(
  db: Db,
  text: string,
  most: number,
): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('source')
    .select(['id', 'name'])
    .where('name', 'ilike', containing(text))
    .orderBy('name')
    .limit(most)
    .execute();
}
