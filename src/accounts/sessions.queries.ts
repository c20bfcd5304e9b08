import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Account } from '../model/account.ts';

export interface Session {
  id: string;
  createdAt: Date;
  expiresAt: Date;
  address: string;
  userAgent: string;
}

export interface NewSession extends Omit<Session, 'id'> {
  userId: string;
  tokenHash: string;
  /** Whether an identity provider opened it, without a password. */
  byProvider: boolean;
}

/** Inserts a session, and deletes the expired ones of the same user. */
export async function insertSession(trx: Transaction<Tables>, session: NewSession): Promise<void> {
  const { userId, createdAt } = session;
  await trx
    .deleteFrom('app_session')
    .where('user_id', '=', userId)
    .where('expires_at', '<=', createdAt)
    .execute();
  await trx
    .insertInto('app_session')
    .values({
      id: randomUUID(),
      user_id: userId,
      token_hash: session.tokenHash,
      by_provider: session.byProvider,
      address: session.address,
      user_agent: session.userAgent,
      created_at: createdAt,
      expires_at: session.expiresAt,
    })
    .execute();
}

/** Returns the account of a session and when the session expires; undefined: there is none, or it is disabled. */
export async function findBySession(
  db: Db,
  tokenHash: string,
  now: Date,
): Promise<{ account: Account; expiresAt: Date } | undefined> {
  const row = await db
    .selectFrom('app_session as s')
    .innerJoin('app_user as u', 'u.id', 's.user_id')
    .innerJoin('app_role as r', 'r.name', 'u.role')
    .select(['u.id', 'u.email', 'u.name', 'u.role', 'u.must_change_password', 'r.tlp_ceiling'])
    .select(['s.id as session_id', 's.by_provider', 's.expires_at'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('app_two_factor as t')
          .select('t.user_id')
          .whereRef('t.user_id', '=', 'u.id')
          .where('t.confirmed_at', 'is not', null),
      ).as('two_factor'),
    )
    .where('s.token_hash', '=', tokenHash)
    .where('s.expires_at', '>', now)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, email, name, role } = row;
  const account = {
    id,
    email,
    name,
    role,
    tlpCeiling: row.tlp_ceiling,
    twoFactor: Boolean(row.two_factor),
    mustChangePassword: row.must_change_password && !row.by_provider,
    sessionId: row.session_id,
  };
  return { account, expiresAt: row.expires_at };
}

export async function extendSession(db: Db, sessionId: string, expiresAt: Date): Promise<void> {
  await db.updateTable('app_session').set({ expires_at: expiresAt }).where('id', '=', sessionId).execute();
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
    address: row.address,
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

/** Deletes the sessions of a user except `keep`, and sign-ins that await a second factor. */
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
  await trx.deleteFrom('app_pending_sign_in').where('user_id', '=', userId).execute();
}

/** Records that the password of a user was verified and the second factor is awaited. */
export async function insertPendingSignIn(
  trx: Transaction<Tables>,
  pending: { tokenHash: string; userId: string; expiresAt: Date },
  now: Date,
): Promise<void> {
  const { tokenHash, userId, expiresAt } = pending;
  await trx.deleteFrom('app_pending_sign_in').where('expires_at', '<=', now).execute();
  await trx
    .insertInto('app_pending_sign_in')
    .values({ token_hash: tokenHash, user_id: userId, expires_at: expiresAt })
    .execute();
}

/** Returns the user whose second factor is awaited. */
export async function findPendingSignIn(db: Db, tokenHash: string, now: Date): Promise<string | undefined> {
  const row = await db
    .selectFrom('app_pending_sign_in')
    .select('user_id')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row?.user_id;
}

export async function deletePendingSignIn(trx: Transaction<Tables>, tokenHash: string): Promise<void> {
  await trx.deleteFrom('app_pending_sign_in').where('token_hash', '=', tokenHash).execute();
}
