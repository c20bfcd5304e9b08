import type { Transaction } from 'kysely';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { networkOf } from '../http/client-address.ts';
import { ApiError } from '../http/errors.ts';
import { normalizeEmail } from '../model/account.ts';
import type { RateLimit, RateLimitStore } from '../rate-limit/store.ts';
import { findPasswordHash, findUser, lockEnabled, type User } from './accounts.queries.ts';
import { audit } from './accounts.service.ts';
import { verifyDummy, verifyPassword } from './password.ts';
import { deletePendingSignIn, findPendingSignIn } from './sessions.queries.ts';
import { type Client, hashToken, openPendingSignIn, openSession } from './sessions.ts';
import { type TwoFactorDeps, takeBackup, takeCode } from './two-factor.ts';

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
 * @throws {SecretError} when TIPLINE_SECRET has changed
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
        ? await takeBackup(deps, trx, userId, backupCode ?? '')
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

/** The maximum numbers of attempts in a quarter of an hour. */
const PER_ACCOUNT: RateLimit = { limit: 10, windowSeconds: 900 };
const PER_ADDRESS: RateLimit = { limit: 50, windowSeconds: 900 };

/** An account or an address whose attempts are counted together. */
export interface AttemptKey {
  name: string;
  rateLimit: RateLimit;
}

/** @param account the e-mail address or the id, of which only a hash is stored */
const ofAccount = (kind: 'sign-in' | 'code' | 'password', account: string): AttemptKey => ({
  name: `${kind}:account:${hashToken(account)}`,
  rateLimit: PER_ACCOUNT,
});

/** @param kind attempts with the provider are counted apart: they must not block signing in with a password */
export const ofAddress = (kind: 'sign-in' | 'provider', address: string): AttemptKey => ({
  name: `${kind}:address:${networkOf(address)}`,
  rateLimit: PER_ADDRESS,
});

/**
 * Counts an attempt for each key.
 * @throws {ApiError} 429 when there were too many
 */
export async function countAttempt(rateLimits: RateLimitStore, keys: readonly AttemptKey[]): Promise<void> {
  for (const { name, rateLimit } of keys) {
    const { consumed, msBeforeNext } = await rateLimits.consume(name, rateLimit);
    if (consumed > rateLimit.limit) throw tooManyAttempts(Math.max(1, Math.ceil(msBeforeNext / 1000)));
  }
}

/** Takes back the attempts of a successful sign-in: many people share an address, and some sign in often. */
export async function refundAttempts(rateLimits: RateLimitStore, keys: readonly AttemptKey[]): Promise<void> {
  for (const { name, rateLimit } of keys) await rateLimits.refund(name, rateLimit);
}

function tooManyAttempts(seconds: number): ApiError {
  const minutes = Math.ceil(seconds / 60);
  return new ApiError('rate_limit_exceeded', `Too many attempts. Try again in ${minutes} minutes.`, {
    'retry-after': String(seconds),
  });
}
