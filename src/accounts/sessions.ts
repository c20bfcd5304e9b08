import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Account } from '../model/account.ts';
import { type Client, cookieLifetimeMs } from './cookies.ts';
import { extendSession, findBySession, insertPendingSignIn, insertSession } from './sessions.queries.ts';
import { hashToken, newToken } from './tokens.ts';

const SESSION_MS = cookieLifetimeMs('session');
/** A session that is used is extended once a day. */
const EXTENDED_AFTER_MS = 86_400_000;

/** Opens a session, whose token goes into the client's cookie. */
export async function openSession(
  trx: Transaction<Tables>,
  userId: string,
  byProvider: boolean,
  { address, userAgent, cookies }: Client,
  now: Date,
): Promise<void> {
  const token = newToken();
  await insertSession(trx, {
    userId,
    tokenHash: hashToken(token),
    byProvider,
    address,
    userAgent,
    createdAt: now,
    expiresAt: new Date(now.getTime() + SESSION_MS),
  });
  cookies.set('session', token);
}

/** Begins to wait for the second factor of a user whose password was verified. */
export async function openPendingSignIn(
  trx: Transaction<Tables>,
  userId: string,
  { cookies }: Client,
  now: Date,
): Promise<void> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + cookieLifetimeMs('two_factor'));
  await insertPendingSignIn(trx, { tokenHash: hashToken(token), userId, expiresAt }, now);
  cookies.set('two_factor', token);
}

/**
 * Returns the account whose session the client's cookie holds, and extends the session when that is due.
 * @returns null when there is no session, or the account is disabled
 */
export async function findAccount(db: Db, { cookies }: Client, now: Date): Promise<Account | null> {
  const token = cookies.read('session');
  if (token === undefined) return null;
  const found = await findBySession(db, hashToken(token), now);
  if (!found) return null;
  const { account, expiresAt } = found;
  if (expiresAt.getTime() - now.getTime() < SESSION_MS - EXTENDED_AFTER_MS) {
    // A database that cannot be written to, because its disk is full, must not keep users from reading. The next
    // request tries again.
    const extended = await extendSession(db, account.sessionId, new Date(now.getTime() + SESSION_MS)).then(
      () => true,
      () => false,
    );
    if (extended) cookies.set('session', token);
  }
  return account;
}
