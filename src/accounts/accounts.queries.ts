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
