import { sql } from 'kysely';
import { caseInsensitive } from '../db/case-insensitive.ts';
import type { Db } from '../db/database.ts';
import { likeContains } from '../db/like-contains.ts';
import { type Principal, visible } from '../db/visibility.ts';
import { matching } from '../indicators/read/indicators.queries.ts';

/** Whether the principal may see an indicator that has exactly this tag. */
export async function isTag(db: Db, principal: Principal, tag: string): Promise<boolean> {
  const found = await matching(db, principal, { tag })
    .select(sql<number>`1`.as('one'))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Techniques or software by a part of the name or of the ATT&CK id. */
export async function findUsed(
  db: Db,
  principal: Principal,
  kind: 'technique' | 'software',
  text: string,
  most: number,
): Promise<{ id: string; name: string; attackId: string | null }[]> {
  const pattern = likeContains(text);
  return db
    .selectFrom(kind)
    .select(['id', 'name', 'attack_id as attackId'])
    .where(visible(kind, principal))
    .where((eb) => eb.or([eb('name', 'ilike', pattern), eb('attack_id', 'ilike', pattern)]))
    .orderBy(caseInsensitive(`${kind}.name`))
    .orderBy('id')
    .limit(most)
    .execute();
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
    .where('name', 'ilike', likeContains(text))
    .where('removal', 'is', null)
    .orderBy('name')
    .limit(most)
    .execute();
}
