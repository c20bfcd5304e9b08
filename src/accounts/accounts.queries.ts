import { type Selectable, sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { type Account, ROLES, type Role } from '../model/account.ts';
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

function toUser(row: Selectable<Tables['app_user']>): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    twoFactor: row.two_factor_enabled,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}

export async function listUsers(db: Db): Promise<User[]> {
  return (await db.selectFrom('app_user').selectAll().orderBy('email').execute()).map(toUser);
}

export async function findUser(db: Db, idOrEmail: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('app_user')
    .selectAll()
    .where((eb) => eb.or([eb('email', '=', idOrEmail), eb(eb.cast<string>('id', 'text'), '=', idOrEmail)]))
    .executeTakeFirst();
  return row && toUser(row);
}

/** Returns the password hash of an enabled account. */
export async function findPasswordHash(db: Db, email: string): Promise<string | null> {
  const row = await db
    .selectFrom('app_credential as c')
    .innerJoin('app_user as u', 'u.id', 'c.user_id')
    .select('c.password')
    .where('u.email', '=', email)
    .where('u.disabled_at', 'is', null)
    .where('c.provider_id', '=', PASSWORD)
    .executeTakeFirst();
  return row?.password ?? null;
}

/** The provider id that better-auth uses for passwords. */
const PASSWORD = 'credential';

/**
 * Returns the id of the user between password and second factor, by the identifier in better-auth's cookie.
 */
export async function findPendingSignIn(db: Db, identifier: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('app_verification')
    // The table also holds other verifications.
    .innerJoin('app_user', (join) => join.on(sql<boolean>`app_user.id::text = app_verification.value`))
    .select('app_verification.value')
    .where('identifier', '=', identifier)
    .executeTakeFirst();
  return row?.value;
}

/** Ends a sign-in between password and second factor, so that it must start again. */
export async function deleteSigningIn(trx: Transaction<Tables>, userId: string): Promise<void> {
  await trx.deleteFrom('app_verification').where('value', '=', userId).execute();
}

/** Longer than a code is valid, which is a minute and a half. */
const CODE_MEMORY_MS = 600_000;

/**
 * Records that a code of a second factor is used, for all nodes.
 * @returns false when it was used before
 */
export async function recordUsedCode(
  trx: Transaction<Tables>,
  userId: string,
  codeHash: string,
  now: Date,
): Promise<boolean> {
  const forgotten = new Date(now.getTime() - CODE_MEMORY_MS);
  await trx
    .deleteFrom('app_used_code')
    .where('user_id', '=', userId)
    .where('used_at', '<', forgotten)
    .execute();
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('app_used_code')
    .values({ user_id: userId, code_hash: codeHash, used_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
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

/** Returns whether this transaction has linked an identity of a provider to the account. */
export async function hasLinkedIdentity(trx: Transaction<Tables>, userId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('app_credential')
    .select('id')
    .where('user_id', '=', userId)
    .where('provider_id', '!=', PASSWORD)
    .where(sql<boolean>`xmin = pg_current_xact_id()::xid`)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertUser(
  trx: Transaction<Tables>,
  { id, email, name, role }: Pick<User, 'id' | 'email' | 'name' | 'role'>,
  now: Date,
): Promise<void> {
  await trx
    .insertInto('app_user')
    .values({ id, email, name, role, created_at: now, updated_at: now })
    .execute();
}

/** @param setBy `another`: the owner of the account must change it before anything else */
export async function writePassword(
  trx: Transaction<Tables>,
  userId: string,
  hash: string,
  setBy: 'owner' | 'another',
  now: Date,
): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ must_change_password: setBy === 'another' })
    .where('id', '=', userId)
    .execute();
  const values = { password: hash, updated_at: now };
  await trx
    .insertInto('app_credential')
    .values({
      // There is one password per user, so the user's id serves as its id.
      id: userId,
      user_id: userId,
      account_id: userId,
      provider_id: PASSWORD,
      created_at: now,
      ...values,
    })
    .onConflict((conflict) => conflict.columns(['provider_id', 'account_id']).doUpdateSet(values))
    .execute();
}

export async function updateUser(
  trx: Transaction<Tables>,
  id: string,
  change: Partial<Pick<User, 'name' | 'role' | 'disabledAt'>>,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({
      updated_at: now,
      ...(change.name !== undefined && { name: change.name }),
      ...(change.role !== undefined && { role: change.role }),
      ...(change.disabledAt !== undefined && { disabled_at: change.disabledAt }),
    })
    .where('id', '=', id)
    .execute();
}

/** Removes the second factor: it is lost, or was never confirmed. */
export async function removeTwoFactor(trx: Transaction<Tables>, userId: string): Promise<void> {
  await trx.deleteFrom('app_two_factor').where('user_id', '=', userId).execute();
  await trx.updateTable('app_user').set({ two_factor_enabled: false }).where('id', '=', userId).execute();
}

export async function countAdministrators(trx: Transaction<Tables>): Promise<number> {
  // Locked, so that two administrators who step down at the same time do not both count the other.
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

export async function deleteSessions(
  trx: Transaction<Tables>,
  userId: string,
  keep: string | null = null,
): Promise<void> {
  await trx
    .deleteFrom('app_session')
    .where('user_id', '=', userId)
    .$if(keep !== null, (query) => query.where('id', '!=', keep ?? ''))
    .execute();
}

export interface Session {
  id: string;
  createdAt: Date;
  expiresAt: Date;
  address: string | null;
  userAgent: string | null;
}

export async function listSessions(db: Db, userId: string, now: Date): Promise<Session[]> {
  const rows = await db
    .selectFrom('app_session')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    address: row.ip_address,
    userAgent: row.user_agent,
  }));
}

/** @returns whether the user had such a session */
export async function deleteSession(trx: Transaction<Tables>, userId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('app_session')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Returns the role and ceiling of an account in a session; undefined when the account is gone or disabled.
 */
export async function findRights(
  db: Db,
  userId: string,
  sessionId: string,
): Promise<Pick<Account, 'role' | 'tlpCeiling' | 'mustChangePassword'> | undefined> {
  const row = await db
    .selectFrom('app_user as u')
    .innerJoin('app_role as r', 'r.name', 'u.role')
    .innerJoin('app_session as s', 's.user_id', 'u.id')
    .select(['u.role', 'r.tlp_ceiling', 'u.must_change_password', 's.by_provider'])
    .where('u.id', '=', userId)
    .where('s.id', '=', sessionId)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const mustChangePassword = row.must_change_password && !row.by_provider;
  return { role: row.role, tlpCeiling: row.tlp_ceiling, mustChangePassword };
}

/** Marks the session with this token as opened by an identity provider, without a password. */
export async function markByProvider(trx: Transaction<Tables>, token: string): Promise<void> {
  await trx.updateTable('app_session').set({ by_provider: true }).where('token', '=', token).execute();
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
export async function dropFirstStarts(db: Db, olderThan?: Date): Promise<void> {
  let links = db.deleteFrom('meta').where('name', 'like', `${FIRST_START}%`);
  if (olderThan) links = links.where('value', '<=', olderThan.toISOString());
  await links.execute();
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

/** Returns the user of a session by its token, disabled or not. */
export async function findBySession(db: Db, token: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('app_user')
    .innerJoin('app_session', 'app_session.user_id', 'app_user.id')
    .selectAll('app_user')
    .where('app_session.token', '=', token)
    .executeTakeFirst();
  return row && toUser(row);
}

/** Returns the PKCE verifier (RFC 7636) that better-auth stores with the state of a started sign-in. */
export async function findCodeVerifier(db: Db, state: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('app_verification')
    .select('value')
    .where('identifier', '=', state)
    .executeTakeFirst();
  const { codeVerifier } = (row ? JSON.parse(row.value) : {}) as { codeVerifier?: unknown };
  return typeof codeVerifier === 'string' ? codeVerifier : undefined;
}
