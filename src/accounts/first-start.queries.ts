import type { Db } from '../db/database.ts';

const FIRST_START = 'first start ';

/**
 * Stores a sign-up link for the first administrator.
 * @param value digest of the token in the link
 */
export async function writeFirstStart(db: Db, value: string, until: Date): Promise<void> {
  await db
    .insertInto('meta')
    .values({ name: FIRST_START + value, value: until.toISOString() })
    .execute();
}

/**
 * Returns when a link expires; null when there is none. In a transaction, the links stay locked so that
 * nobody else uses one meanwhile.
 */
export async function findFirstStart(db: Db, value: string): Promise<Date | null> {
  const rows = await db
    .selectFrom('meta')
    .select(['name', 'value'])
    .where('name', 'like', `${FIRST_START}%`)
    .orderBy('name')
    .forUpdate()
    .execute();
  const found = rows.find(({ name }) => name === FIRST_START + value);
  return found ? new Date(found.value) : null;
}

/** Deletes all links for the first administrator, or those that have expired by `olderThan`. */
export async function deleteFirstStarts(db: Db, olderThan?: Date): Promise<void> {
  let links = db.deleteFrom('meta').where('name', 'like', `${FIRST_START}%`);
  if (olderThan) links = links.where('value', '<=', olderThan.toISOString());
  await links.execute();
}
