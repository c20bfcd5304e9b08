import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { ROLES, type Role } from '../model/account.ts';
import type { Tlp } from '../model/vocabulary.ts';

export interface User {
  id: string;
  email: string;
  name: string;
  role: Role;
  twoFactor: boolean;
  disabledAt: Date | null;
  createdAt: Date;
}

function selectUsers(db: Db) {
  return db
    .selectFrom('app_user')
    .leftJoin('app_two_factor as t', (join) =>
      join.onRef('t.user_id', '=', 'app_user.id').on('t.confirmed_at', 'is not', null),
    )
    .select(['id', 'email', 'name', 'role'])
    .select(['disabled_at as disabledAt', 'created_at as createdAt'])
    .select(({ eb }) => eb('t.user_id', 'is not', null).$castTo<boolean>().as('twoFactor'));
}

export async function listUsers(db: Db): Promise<User[]> {
  return selectUsers(db).orderBy('email').execute();
}

export async function findUser(db: Db, idOrEmail: string): Promise<User | undefined> {
  return selectUsers(db)
    .where((eb) => eb.or([eb('email', '=', idOrEmail), eb(eb.cast<string>('id', 'text'), '=', idOrEmail)]))
    .executeTakeFirst();
}

/** Returns the password hash of an enabled account. */
export async function findPasswordHash(db: Db, email: string): Promise<string | null> {
  const row = await db
    .selectFrom('app_user')
    .select('password_hash')
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return row?.password_hash ?? null;
}

/** Returns whether an account is enabled, and locks it in that state until the end of the transaction. */
export async function lockEnabled(trx: Transaction<Tables>, idOrEmail: string): Promise<boolean> {
  const row = await trx
    .selectFrom('app_user')
    .select('disabled_at')
    .where((eb) => eb.or([eb('email', '=', idOrEmail), eb(eb.cast<string>('id', 'text'), '=', idOrEmail)]))
    .forUpdate()
    .executeTakeFirst();
  return row?.disabled_at === null;
}

export async function insertUser(
  trx: Transaction<Tables>,
  { id, email, name, role }: Pick<User, 'id' | 'email' | 'name' | 'role'>,
  now: Date,
): Promise<void> {
  await trx.insertInto('app_user').values({ id, email, name, role, created_at: now }).execute();
}

/** @param setBy `another`: the owner of the account must change it before anything else */
export async function writePassword(
  trx: Transaction<Tables>,
  userId: string,
  hash: string,
  setBy: 'owner' | 'another',
): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ password_hash: hash, must_change_password: setBy === 'another' })
    .where('id', '=', userId)
    .execute();
}

export async function updateUser(
  trx: Transaction<Tables>,
  { id, name, role, disabledAt }: Pick<User, 'id' | 'name' | 'role' | 'disabledAt'>,
): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ name, role, disabled_at: disabledAt })
    .where('id', '=', id)
    .execute();
}

export async function countAdministrators(trx: Transaction<Tables>): Promise<number> {
  // The rows are locked, so that two administrators who step down at the same time do not both count the other.
  const rows = await trx
    .selectFrom('app_user')
    .select('id')
    .where('role', '=', 'administrator')
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.length;
}

export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('app_user').select('id').limit(1).executeTakeFirst()) !== undefined;
}

export async function listRoles(db: Db): Promise<{ role: Role; tlpCeiling: Tlp }[]> {
  const rows = await db
    .selectFrom('app_role')
    .select(['name as role', 'tlp_ceiling as tlpCeiling'])
    .execute();
  return rows.sort((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role));
}

export async function writeCeiling(trx: Transaction<Tables>, role: Role, tlpCeiling: Tlp): Promise<void> {
  await trx.updateTable('app_role').set({ tlp_ceiling: tlpCeiling }).where('name', '=', role).execute();
}

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
