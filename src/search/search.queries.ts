import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { caseInsensitive, likeContains } from '../db/expressions.ts';
import { type Principal, visibleFrom } from '../db/visibility.ts';
import { matching } from '../indicators/read/indicators.queries.ts';

/** Returns whether an indicator with exactly this tag is visible to the principal. */
export async function hasTag(db: Db, principal: Principal, tag: string): Promise<boolean> {
  const found = await matching(db, principal, { tag })
    .select(sql<number>`1`.as('one'))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Returns the techniques or software whose name or ATT&CK id contains the text. */
export async function findTechniquesOrSoftware(
  db: Db,
  principal: Principal,
  kind: 'technique' | 'software',
  text: string,
  most: number,
): Promise<{ id: string; name: string; attackId: string | null }[]> {
  const pattern = likeContains(text);
  return visibleFrom(db, kind, principal)
    .select(['id', 'name', 'attack_id as attackId'])
    .where((eb) => eb.or([eb('name', 'ilike', pattern), eb('attack_id', 'ilike', pattern)]))
    .orderBy(caseInsensitive(`${kind}.name`))
    .orderBy('id')
    .limit(most)
    .execute();
}

/** Returns the sources whose name contains the text. */
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
