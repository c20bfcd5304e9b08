import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';

/** An account at the OpenID provider: its subject never changes and is unique within the issuer. */
export interface IdentityKey {
  issuer: string;
  subject: string;
}

/** Returns the user that an identity is linked to. */
export async function findLinkedUser(db: Db, { issuer, subject }: IdentityKey): Promise<string | undefined> {
  const row = await db
    .selectFrom('app_identity')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.user_id;
}

/** Returns whether an account of this issuer is linked to the user. */
export async function hasIdentityOf(db: Db, userId: string, issuer: string): Promise<boolean> {
  const row = await db
    .selectFrom('app_identity')
    .select('subject')
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .executeTakeFirst();
  return row !== undefined;
}

export async function linkIdentity(
  trx: Transaction<Tables>,
  userId: string,
  { issuer, subject }: IdentityKey,
): Promise<void> {
  await trx.insertInto('app_identity').values({ issuer, subject, user_id: userId }).execute();
}

export async function unlinkIdentities(trx: Transaction<Tables>, userId: string): Promise<void> {
  await trx.deleteFrom('app_identity').where('user_id', '=', userId).execute();
}
