import type { Transaction } from 'kysely';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { ApiError } from '../http/errors.ts';
import { normalizeEmail } from '../model/account.ts';
import type { RateLimitStore } from '../rate-limit/store.ts';
import { findPasswordHash, findUser, lockEnabled, type User } from './accounts.queries.ts';
import { audit } from './accounts.service.ts';
import { countAttempt, ofAccount, ofAddress, refundAttempts } from './attempts.ts';
import type { Client } from './cookies.ts';
import { verifyDummy, verifyPassword } from './password.ts';
import { deletePendingSignIn, findPendingSignIn } from './sessions.queries.ts';
import { openPendingSignIn, openSession } from './sessions.ts';
import { hashToken } from './tokens.ts';
import { takeBackupCode } from './two-factor.queries.ts';
import { type TwoFactorDeps, takeCode } from './two-factor.service.ts';

export interface SignInDeps extends TwoFactorDeps {
  db: Db;
  rateLimits: RateLimitStore;
  clock: Clock;
}

/**
 * Signs a user in with a password; the session and its audit entry are written together. The caller's cookies
 * then hold the session or, for a user with a second factor, the sign-in that awaits it.
 * @returns whether a second factor is needed; null: address or password is wrong, or the account is disabled
 * @throws {ApiError} 429 after too many attempts
 */
export async function signIn(
  { db, rateLimits, clock }: SignInDeps,
  given: { email: string; password: string },
  client: Client,
): Promise<{ twoFactor: boolean } | null> {
  const email = normalizeEmail(given.email);
  const attempt = [ofAccount('sign-in', email), ofAddress('sign-in', client.address)];
  await countAttempt(rateLimits, attempt);
  const hash = await findPasswordHash(db, email);
  const isRight =
    hash === null ? await verifyDummy(given.password) : await verifyPassword(given.password, hash);
  if (!isRight) return null;
  await refundAttempts(rateLimits, attempt);
  return db.transaction().execute(async (trx) => {
    // The password may have been changed, or the account disabled, while the password was verified.
    if (!(await lockEnabled(trx, email)) || (await findPasswordHash(trx, email)) !== hash) return null;
    const user = await findUser(trx, email);
    if (!user) return null;
    if (user.twoFactor) await openPendingSignIn(trx, user.id, client, clock());
    else await enter(trx, user, { after: null, byProvider: false }, client, clock());
    return { twoFactor: user.twoFactor };
  });
}

/**
 * Verifies the second factor of a user whose password was verified before, as recorded by the two-factor
 * cookie.
 * @returns false when there is no such sign-in, or the code is wrong or used up
 * @throws {ApiError} 429 after too many attempts
 */
export async function confirmSignIn(
  deps: SignInDeps,
  { code, backupCode }: { code?: string; backupCode?: string },
  client: Client,
): Promise<boolean> {
  const { db, rateLimits, clock } = deps;
  const pending = hashToken(client.cookies.read('two_factor') ?? '');
  const userId = await findPendingSignIn(db, pending, clock());
  if (userId === undefined) return false;
  // Attempts count per account, not per cookie: each correct password gives another cookie.
  const attempt = [ofAccount('code', userId), ofAddress('sign-in', client.address)];
  await countAttempt(rateLimits, attempt);
  const hasEntered = await db.transaction().execute(async (trx) => {
    const user = (await lockEnabled(trx, userId)) ? await findUser(trx, userId) : undefined;
    const isPending = (await findPendingSignIn(trx, pending, clock())) === userId;
    if (!user || !isPending) return false;
    const isRight =
      code === undefined
        ? await takeBackupCode(trx, userId, deps.hashCode(backupCode ?? ''))
        : await takeCode(deps, trx, userId, code, { isConfirmed: true, now: clock() });
    if (!isRight) {
      await audit(trx, 'session.refuse', userId, null, { twoFactor: true }, by(user, client, clock()));
      return false;
    }
    await deletePendingSignIn(trx, pending);
    client.cookies.clear('two_factor');
    await enter(trx, user, { after: { twoFactor: true }, byProvider: false }, client, clock());
    return true;
  });
  if (hasEntered) await refundAttempts(rateLimits, attempt);
  return hasEntered;
}

/** Opens a session and writes its audit entry. */
export async function enter(
  trx: Transaction<Tables>,
  user: User,
  { after, byProvider }: { after: unknown; byProvider: boolean },
  client: Client,
  now: Date,
): Promise<void> {
  await openSession(trx, user.id, byProvider, client, now);
  await audit(trx, 'session.create', user.id, null, after, by(user, client, now));
}

/**
 * Records a refused sign-in, if the account exists. The response must not wait for it: it takes time only for
 * existing accounts, which would reveal them.
 */
export async function recordRefusal({ db, clock }: SignInDeps, given: string, client: Client): Promise<void> {
  const user = await findUser(db, normalizeEmail(given));
  if (!user) return;
  await db
    .transaction()
    .execute((trx) => audit(trx, 'session.refuse', user.id, null, null, by(user, client, clock())));
}

/**
 * Verifies the password of a signed-in account, with limited attempts: someone at an open session must not be
 * able to guess it.
 * @throws {ApiError} when it is wrong, or after too many attempts
 */
export async function requirePassword(
  { db, rateLimits }: SignInDeps,
  { id, email }: Pick<User, 'id' | 'email'>,
  password: string,
): Promise<void> {
  const attempt = [ofAccount('password', id)];
  await countAttempt(rateLimits, attempt);
  const hash = await findPasswordHash(db, email);
  if (hash === null || !(await verifyPassword(password, hash)))
    throw new ApiError('invalid_parameter', 'The password is wrong.');
  await refundAttempts(rateLimits, attempt);
}

export const by = ({ email }: Pick<User, 'email'>, { address }: Client, now: Date): AuditActor => ({
  who: email,
  address,
  now,
});
